"""Crawlee's ParselCrawler with fixed concurrency, no retries, no sessions, plain XPath.

Modes: `memory` and `postgres`, where every link goes to its request queue, and the same two with `-seen`: a Python
set in front of the queue. For PostgreSQL `state` is a SQLAlchemy URL of a database of its own.
"""

import asyncio
import logging
import warnings
from datetime import timedelta
from pathlib import Path
from urllib.parse import urljoin

import uvloop
from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient, SqlStorageClient, StorageClient

from bench.ledger import Ledger
from bench.peers.order import PeerOrder


def make_storage(order: PeerOrder) -> StorageClient:
    return (
        SqlStorageClient(connection_string=order.state) if order.mode.startswith("postgres") else MemoryStorageClient()
    )


def make_crawler(order: PeerOrder, ledger: Ledger) -> ParselCrawler:
    at_once = order.per_site * len(order.seeds)
    crawler = ParselCrawler(
        storage_client=make_storage(order),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=at_once, desired_concurrency=at_once, max_concurrency=at_once
        ),
        max_request_retries=0,
        use_session_pool=False,
        retry_on_blocked=False,
        configure_logging=False,
        status_message_logging_interval=timedelta(hours=1),
    )
    has_own_set, seen = order.mode.endswith("-seen"), set(order.seeds)

    @crawler.router.default_handler
    async def read(context: ParselCrawlingContext) -> None:
        page, url = context.selector, context.request.url
        title = page.xpath("//title/text()").get()
        description = page.xpath("//meta[@name='description']/@content").get()
        base = urljoin(url, page.xpath("//base/@href").get() or "")
        links = [urljoin(base, href) for href in page.xpath("//a/@href").getall()]
        wanted = list(dict.fromkeys(link.partition("#")[0] for link in links if link.startswith(order.scope)))
        if has_own_set:
            wanted = [link for link in wanted if link not in seen]
            seen.update(wanted)
        if wanted:
            await context.add_requests(wanted)
        ledger.note(url, title, description, len(links))

    return crawler


async def crawl(order: PeerOrder, ledger: Ledger) -> None:
    crawler = make_crawler(order, ledger)
    ledger.start()
    await crawler.run(order.seeds)


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    order, ledger = PeerOrder.from_command_line(), Ledger()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(crawl(order, ledger))
    ledger.write(Path(order.ledger))


if __name__ == "__main__":
    main()
