"""Builds a worker from Settings and lets it work: everything the line needs meets here."""

import asyncio
import contextlib
import gc
import os
import signal
import sys
from collections.abc import AsyncIterator
from functools import partial

from forager import clock, extract
from forager.crawl.line import Tools
from forager.crawl.order import WorkerOrder
from forager.crawl.patience import in_transaction
from forager.crawl.stop import StopRequest
from forager.crawl.worker import Worker
from forager.db import open_database
from forager.errors import NotFoundError
from forager.fetch import open_client
from forager.ingest import Reach, Selector
from forager.politeness.guard import AddressGuard
from forager.politeness.unpaced import is_unpaced
from forager.records import RunSpec
from forager.settings import Settings
from forager.stats import store as stats


async def work(settings: Settings, run: int, *, workers: int, is_attached: bool) -> None:
    """The life of one worker process. An attached one stops when who started it is gone."""
    stop = StopRequest()
    name = f"forager worker {os.getpid()}"
    # Commits wait for the disk. A crash of the server that undid some would leave a worker with leases, tasks and pages
    # in its memory whose ids the database gives out again: pages were lost and counters broken in every kill test.
    async with open_database(settings, size=4, application=name) as database:
        spec = await in_transaction(database, lambda conn: stats.find_run(conn, run))
        if spec is None:
            raise NotFoundError(f"There is no run {run}; `forager runs` lists them.")
        _calm_collector()
        async with _open_tools(settings, spec) as tools:
            _listen(stop, is_attached=is_attached)
            async with asyncio.TaskGroup() as together:
                together.create_task(_warm_up(tools.turn))
                together.create_task(Worker(database, _order(settings, run, spec, workers), tools, stop).work())


def _calm_collector() -> None:
    """A page makes hundreds of small tuples and no cycles: at Python's own thresholds looking for cycles took 7 % of a
    worker's time. What was imported is never garbage."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


async def _warm_up(turn: asyncio.Lock) -> None:
    """The language model takes a second to load. Requests may leave meanwhile; understanding waits for its turn."""
    async with turn:
        await asyncio.to_thread(extract.warm_up)


@contextlib.asynccontextmanager
async def _open_tools(settings: Settings, spec: RunSpec) -> AsyncIterator[Tools]:
    guard = AddressGuard(settings.allow_networks, settings.allow_ports, is_anonymous=settings.contact is None)
    async with open_client(
        user_agent=settings.agent_header,
        check_address=guard.check_ip,
        timeout_s=settings.request_timeout_s,
        connect_timeout_s=settings.connect_timeout_s,
        max_bytes=settings.max_page_bytes,
    ) as client:
        yield Tools(
            client=client,
            read=partial(
                extract.read,
                keyword_words=settings.keyword_words,
                robots_agent=settings.robots_agent,
                memory=extract.LanguageMemory(),
            ),
            selector=Selector(Reach.of(spec), max_links_per_page=settings.max_links_per_page),
            max_redirects=settings.max_redirects,
            database_now=clock.now,
        )


def _order(settings: Settings, run: int, spec: RunSpec, workers: int) -> WorkerOrder:
    return WorkerOrder(
        run=run,
        spec=spec,
        workers=workers,
        robots_agent=settings.robots_agent,
        delay_s=spec.delay_or(settings.delay_s),
        max_concurrent_requests=settings.max_concurrent_requests,
        unpaced_concurrency=settings.unpaced_concurrency,
        is_unpaced=partial(is_unpaced, unpaced_hosts=settings.unpaced_hosts),
        max_requests_in_flight=settings.max_requests_in_flight,
        max_domains=settings.max_domains_per_worker,
        max_retries=settings.max_retries,
        robots_ttl_s=settings.robots_ttl_s,
        longest_wait_s=settings.longest_wait_s,
        lease_s=settings.lease_s,
        heartbeat_s=settings.heartbeat_s,
        dead_after_s=settings.dead_after_s,
        batch_pages=settings.batch_pages,
        batch_ms=settings.batch_ms,
        known_urls=settings.known_urls,
    )


def _listen(stop: StopRequest, *, is_attached: bool) -> None:
    """SIGTERM asks, a second one insists; the end of an attached worker's standard input means that it is alone."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, lambda: stop.insist() if stop.asked else stop.ask())
    loop.add_signal_handler(signal.SIGINT, lambda: stop.insist() if stop.asked else stop.ask())
    if is_attached:
        descriptor = sys.stdin.fileno()
        loop.add_reader(descriptor, _end_of_input, loop, descriptor, stop)


def _end_of_input(loop: asyncio.AbstractEventLoop, descriptor: int, stop: StopRequest) -> None:
    if not os.read(descriptor, 4096):
        loop.remove_reader(descriptor)
        stop.ask()
