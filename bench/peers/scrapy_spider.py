"""Scrapy as somebody who knows it well would tune it: no delay, no middleware that is not needed, uvloop, plain XPath.

Modes: `memory` (its own duplicate filter), `seen` (a Python set before any Request is made), `jobdir` (`seen` with the
queue on disk). With several processes each has its part of the sites.
"""

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse

from bench.ledger import Ledger
from bench.peers.order import PeerOrder

UNUSED_DOWNLOADER = (
    "offsite.OffsiteMiddleware",
    "robotstxt.RobotsTxtMiddleware",
    "httpauth.HttpAuthMiddleware",
    "retry.RetryMiddleware",
    "redirect.MetaRefreshMiddleware",
    "redirect.RedirectMiddleware",
    "cookies.CookiesMiddleware",
    "httpproxy.HttpProxyMiddleware",
    "stats.DownloaderStats",
    "httpcache.HttpCacheMiddleware",
)
UNUSED_SPIDER = (
    "referer.RefererMiddleware",
    "urllength.UrlLengthMiddleware",
    "depth.DepthMiddleware",
    "metacopy.MetaCopyDetectionMiddleware",
)


def make_settings(order: PeerOrder) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "CONCURRENT_REQUESTS": max(128, order.per_site * len(order.seeds)),
        "CONCURRENT_REQUESTS_PER_DOMAIN": order.per_site,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": False,
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "RETRY_ENABLED": False,
        "REDIRECT_ENABLED": False,
        "MEMUSAGE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
        "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
        "DOWNLOADER_MIDDLEWARES": {f"scrapy.downloadermiddlewares.{name}": None for name in UNUSED_DOWNLOADER},
        "SPIDER_MIDDLEWARES": {f"scrapy.spidermiddlewares.{name}": None for name in UNUSED_SPIDER},
    }
    return settings | ({"JOBDIR": order.state} if order.mode == "jobdir" else {})


class BenchSpider(scrapy.Spider):
    name = "bench"

    def __init__(self, order: PeerOrder, ledger: Ledger) -> None:
        super().__init__()
        self.order = order
        self.ledger = ledger
        self.seen: set[str] = set(order.seeds)
        self.scope = order.scope
        self.has_own_set = order.mode != "memory"

    async def start(self) -> AsyncIterator[scrapy.Request]:
        self.ledger.start()
        for url in self.order.seeds:
            yield scrapy.Request(url, dont_filter=self.has_own_set)

    def parse(self, response: HtmlResponse) -> Iterator[scrapy.Request]:
        title = response.xpath("//title/text()").get()
        description = response.xpath("//meta[@name='description']/@content").get()
        links = self.find_links(response)
        self.ledger.note(response.url, title, description, len(links))
        yield from self.follow(links)

    def find_links(self, response: HtmlResponse) -> list[str]:
        return [response.urljoin(href) for href in response.xpath("//a/@href").getall()]

    def follow(self, links: list[str]) -> Iterator[scrapy.Request]:
        """Only what is on the sites; a fragment makes no other page."""
        inside = [link.partition("#")[0] for link in links if link.startswith(self.scope)]
        return self.follow_unseen(inside) if self.has_own_set else map(scrapy.Request, inside)

    def follow_unseen(self, links: list[str]) -> Iterator[scrapy.Request]:
        for url in links:
            if url not in self.seen:
                self.seen.add(url)
                yield scrapy.Request(url, dont_filter=True)


def crawl(order: PeerOrder) -> Ledger:
    ledger = Ledger()
    crawler = CrawlerProcess(make_settings(order))
    crawler.crawl(BenchSpider, order=order, ledger=ledger)
    crawler.start()
    return ledger


def crawl_in_processes(order: PeerOrder) -> Ledger:
    """Scrapy has no workers; whoever wants two cores starts it twice and divides the sites."""
    parts = [
        replace(order, seeds=order.seeds[n :: order.processes], ledger=f"{order.ledger}.{n}", processes=1)
        for n in range(order.processes)
    ]
    ledger, children = Ledger(), []
    for part in parts:
        path = Path(f"{part.ledger}.order")
        part.write(path)
        children.append(subprocess.Popen([sys.executable, "-m", "bench.peers.scrapy_spider", str(path)]))
    for child, part in zip(children, parts, strict=True):
        if child.wait():
            sys.exit(child.returncode)
        ledger.add(Ledger.read(Path(part.ledger)))
    return ledger


def main() -> None:
    order = PeerOrder.from_command_line()
    ledger = crawl_in_processes(order) if order.processes > 1 else crawl(order)
    ledger.write(Path(order.ledger))


if __name__ == "__main__":
    main()
