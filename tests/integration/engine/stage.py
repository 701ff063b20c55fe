"""A crawl in one process: a real worker, a real client, a small web on loopback, a database of the test's own."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from tests.builders import an_order

from forager.config.cipher import PasswordCipher
from forager.db.database import Database
from forager.dispatch.inbox import MessageInbox
from forager.engine.config import WorkerConfig
from forager.engine.page_parser import InlineParser
from forager.engine.pipeline import Pipeline
from forager.engine.stop import StopRequest
from forager.engine.transaction_retry import in_transaction
from forager.engine.worker import Services, Worker
from forager.explain.check import check
from forager.fetch.client import open_client
from forager.fetch.models import Fetched
from forager.frontier.url_cache import UNSHARED, SharedPages
from forager.links.scope import CrawlScope
from forager.links.select import Selector
from forager.parsing import page as parser
from forager.parsing.models import ParseOptions, Reading
from forager.politeness.guard import AddressGuard
from forager.proxies.worker_pools import WorkerPools
from forager.runs.models import RunReport, RunSpec
from forager.runs.report import read_report
from forager.runs.start import start_run
from forager.runtime.worker import build_recorders
from forager_playground import Answer, Playground, SitePage, open_playground, requests_per_path
from forager_playground.site import ALLOW_ALL, Site
from forager_playground.sites.uniform import Uniform

HOST_BASE = "127.0.77.1"
NO_PASSWORDS = PasswordCipher(())


@dataclass
class WatchedSite:
    """A site of equal pages that tells of every request before it answers, and may answer otherwise."""

    size: int = 30
    number: int = 1
    robots: str | None = ALLOW_ALL
    traps: tuple[str, ...] = ()
    on_request: Callable[[str, int], Answer | None] = lambda _path, _count: None
    """Given the path and how many requests there were; an answer it gives is sent instead of the page."""
    requests: int = 0
    ground: Uniform = field(init=False)

    def __post_init__(self) -> None:
        self.ground = Uniform(1, self.number, self.size)

    @property
    def name(self) -> str:
        return self.ground.name

    def pages(self) -> Iterator[SitePage]:
        return self.ground.pages()

    def answer(self, path: str, query: str) -> Answer:
        self.requests += 1
        return self.on_request(path, self.requests) or replace(self.ground.answer(path, query), is_stable=False)


@asynccontextmanager
async def serve(*sites: Site) -> AsyncIterator[Playground]:
    async with open_playground(sites, host_base=HOST_BASE) as web:
        yield web


@asynccontextmanager
async def open_pipeline(spec: RunSpec) -> AsyncIterator[Pipeline]:
    """The real one, for loopback only."""
    guard = AddressGuard(["127.0.0.0/8"], [])
    async with open_client(
        user_agent="Forager/test",
        check_address=guard.check_ip,
        timeout_s=10.0,
        connect_timeout_s=5.0,
        max_bytes=1_000_000,
    ) as client:

        def read(fetched: Fetched, options: ParseOptions) -> Reading:
            return parser.read(fetched, **options._asdict())

        yield Pipeline(client, InlineParser(read), Selector(CrawlScope.of(spec), max_links_per_page=100), 5)


def build_services(
    database: Database,
    config: WorkerConfig,
    *,
    cipher: PasswordCipher = NO_PASSWORDS,
    shared: SharedPages = UNSHARED,
    inbox: MessageInbox | None = None,
) -> Services:
    pools = WorkerPools(cipher)
    recorders = build_recorders(database, config, pools)
    return Services(shared=shared, proxies=pools, recorders=recorders, inbox=inbox)


class Stage:
    """One run over one web; each `work` is the life of one worker."""

    def __init__(self, database: Database, web: Playground, spec: RunSpec, run: int) -> None:
        self.database, self.web, self.spec, self.run = database, web, spec, run
        self.stop = StopRequest()
        self.worker: Worker | None = None

    @classmethod
    async def open(cls, database: Database, web: Playground, *seeds: str, **order: Any) -> "Stage":
        spec = RunSpec(seeds or web.urls, **order)
        run = await in_transaction(database, partial(start_run, spec=spec, by="test"))
        return cls(database, web, spec, run)

    async def work(
        self, pipeline: dict[str, Any] | None = None, services: dict[str, Any] | None = None, **order: Any
    ) -> None:
        """Until the worker has nothing left or was asked to stop."""
        self.stop = StopRequest()
        async with open_pipeline(self.spec) as made:
            config = an_order(self.run, self.spec, **order)
            used = build_services(self.database, config, **(services or {}))
            self.worker = Worker(self.database, config, replace(made, **(pipeline or {})), used, self.stop)
            await asyncio.wait_for(self.worker.work(), 60)

    async def report(self) -> RunReport:
        ask = partial(read_report, run=self.run, spec=self.spec, was_stopped=self.stop.asked, has_failed=False)
        return await in_transaction(self.database, ask)

    async def fetch(self, sql: str, *args: Any) -> list[Any]:
        async with self.database.pool.acquire() as conn:
            found: list[Any] = await conn.fetch(sql, *args)
            return found

    async def urls(self, where: str) -> set[str]:
        return {row["url"] for row in await self.fetch(f"SELECT url FROM pages WHERE {where}")}

    async def broken_promises(self) -> dict[str, tuple[str, ...]]:
        async with self.database.pool.acquire() as conn, conn.transaction(isolation="repeatable_read", readonly=True):
            verdicts = await check(conn)
        return {
            finding.name: finding.examples for verdict in verdicts for finding in verdict.findings if finding.broken
        }

    def requests(self) -> Counter[str]:
        """Per URL, robots.txt left out."""
        return requests_per_path(visit for visit in self.web.log if visit.target != "/robots.txt")
