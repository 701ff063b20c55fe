"""The same work, put together from what people use for it: Scrapy, trafilatura, extruct, py3langid and PostgreSQL.

Text, metadata, structured data, language and links of every page end in a table. Scrapy is tuned as in `scrapy_spider`
and has its own seen-set; rows are written twenty at a time in one transaction, which is kinder than a pipeline that
commits every item. `state` is the DSN of an empty database.
"""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import extruct
import py3langid
import scrapy
import trafilatura
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse

from bench.ledger import Ledger
from bench.peers.order import PeerOrder
from bench.peers.scrapy_spider import BenchSpider, make_settings

BATCH = 20
SYNTAXES = ["json-ld", "microdata", "rdfa", "opengraph"]
TABLE = """
CREATE TABLE pages (
    url text PRIMARY KEY, title text, description text, author text, published_at text, site_name text, image text,
    language text, text text, structured_data jsonb, links text[], fetched_at timestamptz DEFAULT now()
)
"""
COLUMNS = (
    "url title description author published_at site_name image language text structured_data links".split()  # noqa: SIM905
)
INSERT = (
    f"INSERT INTO pages ({', '.join(COLUMNS)}) VALUES ({', '.join(f'${n}' for n in range(1, len(COLUMNS) + 1))})"
    " ON CONFLICT (url) DO NOTHING"
)


def read_page(response: HtmlResponse, links: list[str]) -> dict[str, Any]:
    document = trafilatura.bare_extraction(response.text, url=response.url, with_metadata=True)
    found = document.as_dict() if document else {}
    structured = extruct.extract(response.text, base_url=response.url, syntaxes=SYNTAXES, errors="ignore")
    text = found.get("text") or ""
    return {
        "url": response.url,
        "title": response.xpath("//title/text()").get() or found.get("title"),
        "description": response.xpath("//meta[@name='description']/@content").get() or found.get("description"),
        "author": found.get("author"),
        "published_at": found.get("date"),
        "site_name": found.get("sitename"),
        "image": found.get("image"),
        "language": py3langid.classify(text)[0] if text else None,
        "text": text,
        "structured_data": json.dumps(structured, default=str, ensure_ascii=False).replace("\\u0000", ""),
        "links": links,
    }


def clean(value: Any) -> Any:
    """PostgreSQL takes neither NUL nor half of a surrogate pair."""
    if isinstance(value, list):
        return [clean(part) for part in value]
    return value.replace("\0", "").encode("utf-8", "replace").decode() if isinstance(value, str) else value


class SameWorkSpider(BenchSpider):
    name = "same-work"

    def parse(self, response: HtmlResponse) -> Iterator[scrapy.Request | dict[str, Any]]:
        links = self.find_links(response)
        yield read_page(response, links)
        yield from self.follow(links)


class Pipeline:
    """Collects rows and writes them; a page is done when its row is committed."""

    def __init__(self, crawler: Any) -> None:
        self._spider = crawler.spider
        self._rows: list[dict[str, Any]] = []
        self._lock = asyncio.Lock()
        self._connection: Any = None

    @classmethod
    def from_crawler(cls, crawler: Any) -> "Pipeline":
        return cls(crawler)

    async def open_spider(self) -> None:
        """Before the first page: while pages are read nothing else runs, and a server does not wait for a login."""
        self._connection = await asyncpg.connect(self._spider.order.state)
        await self._connection.execute(TABLE)

    async def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        self._rows.append(item)
        if len(self._rows) >= BATCH:
            await self._write()
        return item

    async def close_spider(self) -> None:
        await self._write()
        await self._connection.close()

    async def _write(self) -> None:
        """One batch at a time: a connection has one transaction."""
        async with self._lock:
            await self._write_batch()

    async def _write_batch(self) -> None:
        rows, self._rows = self._rows, []
        async with self._connection.transaction():
            await self._connection.executemany(INSERT, [[clean(row[column]) for column in COLUMNS] for row in rows])
        for row in rows:
            self._spider.ledger.note(row["url"], row["title"], row["description"], len(row["links"]))


def main() -> None:
    order, ledger = PeerOrder.from_command_line(), Ledger()
    crawler = CrawlerProcess(make_settings(order) | {"ITEM_PIPELINES": {Pipeline: 1}})
    crawler.crawl(SameWorkSpider, order=order, ledger=ledger)
    crawler.start()
    ledger.write(Path(order.ledger))


if __name__ == "__main__":
    main()
