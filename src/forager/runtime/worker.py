"""Builds a worker from Settings and lets it work: everything the line needs meets here."""

import asyncio
import contextlib
import gc
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from forager import clock
from forager.config.keys import get_cipher
from forager.config.settings import Settings
from forager.db.database import Database, open_database
from forager.dispatch.factory import open_hints
from forager.domains.store import Keeping
from forager.engine.capacity import max_domains
from forager.engine.config import WorkerConfig
from forager.engine.crash_marker import FOLDER, open_crash_marker
from forager.engine.image_storage import ImageStorage
from forager.engine.parser_pool import ParserPool, open_pool, read_isolated
from forager.engine.parser_protocol import ParserConfig
from forager.engine.pauses import Pauses
from forager.engine.pipeline import Tools
from forager.engine.rendering import open_renderer
from forager.engine.stop import StopRequest
from forager.engine.transaction_retry import in_transaction
from forager.engine.worker import Worker
from forager.errors import NotFoundError
from forager.fetch.browser.factory import browser_limits
from forager.fetch.client import open_client
from forager.fetch.models import Fetched
from forager.fetch.wire import Patience
from forager.frontier.models import Trouble
from forager.images.decode.client import Decoder
from forager.links.scope import Reach
from forager.links.select import Selector
from forager.parsing.memory import keep_freed_memory
from forager.parsing.models import Reading
from forager.politeness.guard import AddressGuard
from forager.politeness.no_delay_hosts import is_unpaced
from forager.politeness.proxy_rule import proxy_rule
from forager.runs.models import RunSpec
from forager.runs.scope import read_reach
from forager.runs.service import continuous_spec
from forager.runtime.shared_state import open_sharing
from forager.stats import store as stats
from forager.storage.factory import open_body_store, place_of

if TYPE_CHECKING:
    from forager.parsing.language import LanguageMemory


async def work(settings: Settings, run: int | None, *, workers: int, is_attached: bool) -> None:
    """The life of one worker process. An attached one stops when who started it is gone. Without a run it has its part
    in the standing one."""
    stop = StopRequest()
    name = f"forager worker {os.getpid()}"
    # Commits wait for the disk. A crash of the server that undid some would leave a worker with leases, tasks and pages
    # in its memory whose ids the database gives out again: pages were lost and counters broken in every kill test.
    limit_s = settings.worker.dead_after
    config, pauses = ParserConfig(settings.search.words_per_page, settings.politeness.robots_agent), Pauses()
    async with (
        open_pool(config, settings.worker.parser_processes, pauses=pauses, stop=stop) as parsers,
        preload_parsers(parsers) as is_warm,
        open_database(settings, size=4, application=name, idle_limit_s=limit_s, resets=False) as database,
    ):
        if run is None:
            run = await _join_continuous_run(settings, database)
        spec = await in_transaction(database, partial(stats.find_run, run=run))
        if spec is None:
            raise NotFoundError(f"There is no run {run}; `forager runs` lists them.")
        _configure_gc()
        reach = await read_reach(database, run, spec)
        async with (
            _open_tools(settings, spec, reach, parsers, pauses=pauses, stop=stop) as made,
            open_sharing(settings, database.pool) as sharing,
        ):
            tools = replace(made, shared=sharing.pages)
            _listen(stop, is_attached=is_attached)
            await is_warm
            order = make_order(settings, run, spec, workers=workers)
            async with open_hints(settings, run, spec) as hints:
                await Worker(database, order, tools, stop, hints).work()


async def _join_continuous_run(settings: Settings, database: Database) -> int:
    """Where no `forager up` has made it yet, we do."""
    spec = continuous_spec(max_depth=settings.crawl.max_depth)
    return await in_transaction(database, partial(stats.hold_standing_run, spec=spec, by="forager worker"))


def _configure_gc() -> None:
    """A page makes hundreds of small tuples and no cycles: at Python's own thresholds looking for cycles took 7 % of a
    worker's time. What was imported is never garbage."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@contextlib.asynccontextmanager
async def preload_parsers(parsers: ParserPool | None) -> AsyncIterator[asyncio.Task[None]]:
    """The language model takes a second to load, while the database is opened. No request leaves before there is
    somebody to read what it brings: pages that wait for that are fetched again when the worker is killed."""
    keep_freed_memory()
    warming = asyncio.create_task(parsers.warm_up() if parsers else asyncio.to_thread(_warm_up_inline))
    try:
        yield warming
    finally:
        warming.cancel()
        await asyncio.wait({warming})


@contextlib.asynccontextmanager
async def _open_tools(
    settings: Settings, spec: RunSpec, reach: Reach, parsers: ParserPool | None, *, pauses: Pauses, stop: StopRequest
) -> AsyncIterator[Tools]:
    networks = (*settings.fetch.allow_networks, *spec.allow_networks)
    guard = AddressGuard(networks, settings.fetch.allow_ports, is_anonymous=settings.contact is None)
    with open_crash_marker(settings.home / FOLDER) as box, open_body_store(settings) as body_store:
        async with (
            Decoder.open(max_pixels=settings.images.max_pixels) as decoder,
            open_client(
                user_agent=settings.agent_header,
                check_address=guard.check_ip,
                check_proxy=proxy_rule(networks),
                timeout_s=settings.fetch.timeout,
                connect_timeout_s=settings.fetch.connect_timeout,
                max_bytes=settings.fetch.max_page_size,
                patience=Patience(
                    settings.fetch.first_byte_timeout, settings.fetch.min_rate_window, settings.fetch.min_rate
                ),
                keeps_cookies=settings.fetch.cookies,
            ) as client,
            open_renderer(
                client,
                chromium=settings.browser.executable,
                user_agent=settings.agent_header,
                limits=browser_limits(settings),
            ) as renderer,
        ):
            words, agent = settings.search.words_per_page, settings.politeness.robots_agent
            yield Tools(
                client=client,
                guard=guard,
                read=_inline_parser(words, agent),
                parsers=parsers,
                read_isolated=partial(read_isolated, config=ParserConfig(words, agent), pauses=pauses, stop=stop),
                box=box,
                body_store=body_store,
                images=ImageStorage(
                    decoder, place_of(settings), max_bytes=settings.images.max_size, pauses=pauses, stop=stop
                ),
                pauses=pauses,
                renderer=renderer,
                vault=get_cipher(settings),
                selector=Selector(reach, max_links_per_page=settings.crawl.max_links_per_page),
                max_redirects=settings.fetch.max_redirects,
                database_time=clock.at,
            )


def _warm_up_inline() -> None:
    from forager.parsing.page import warm_up

    warm_up()


def _inline_parser(keyword_words: int, robots_agent: str) -> Callable[..., Reading]:
    """Reads in this process; what that needs is loaded with the first page, which a worker with parsers never reads."""

    @cache
    def memory() -> "LanguageMemory":
        from forager.parsing.language import LanguageMemory

        return LanguageMemory()

    def read(fetched: Fetched, **how: Any) -> Reading:
        from forager.parsing import page

        return page.read(fetched, keyword_words=keyword_words, robots_agent=robots_agent, memory=memory(), **how)

    return read


def make_order(settings: Settings, run: int, spec: RunSpec, *, workers: int) -> WorkerConfig:
    return WorkerConfig(
        run=run,
        spec=spec,
        workers=workers,
        robots_agent=settings.politeness.robots_agent,
        delay_s=spec.delay_or(settings.politeness.delay),
        max_concurrent_requests=settings.politeness.max_requests_per_domain,
        unpaced_concurrency=settings.politeness.no_delay_max_requests,
        is_unpaced=partial(is_unpaced, unpaced_hosts=settings.politeness.no_delay_hosts),
        max_requests_in_flight=settings.fetch.max_requests_per_worker,
        max_domains=max_domains(settings.worker.max_domains),
        max_retries=settings.failures.max_retries,
        robots_ttl_s=settings.politeness.robots_ttl,
        longest_wait_s=settings.crawl.max_wait,
        lease_s=settings.worker.lease,
        heartbeat_s=settings.worker.heartbeat,
        dead_after_s=settings.worker.dead_after,
        batch_pages=settings.worker.batch_pages,
        batch_ms=round(settings.worker.batch_interval * 1000),
        known_urls=settings.worker.url_cache_size,
        keeping=Keeping(
            most_returns=settings.failures.max_unblocks,
            refresh_every_s=settings.refresh.interval if settings.refresh.enabled else None,
            is_scored=settings.crawl.domain_order == "smart",
        ),
        labels=settings.worker.labels,
        lease_pages=settings.worker.lease_max_pages,
        lease_budget_s=settings.worker.lease_max_time,
        adaptive_pace=settings.politeness.adaptive_delay,
        max_requests_per_ip=settings.politeness.max_requests_per_ip or None,
        delay_per_ip_s=settings.politeness.delay_per_ip,
        breaker_failures=settings.failures.breaker_failures,
        breaker_reset_s=settings.failures.breaker_reset,
        spool_pages=settings.worker.buffer_pages,
        spool_bytes=settings.worker.buffer_size,
        max_near_duplicates=settings.crawl.max_near_duplicates,
        max_calendar_pages=settings.crawl.max_calendar_pages,
        max_pages_per_template=settings.crawl.max_pages_per_template or None,
        max_subdomains=settings.crawl.max_subdomains,
        max_domain_errors=settings.failures.block_after,
        max_unreachable=settings.failures.unreachable_after,
        images=settings.images.policy,
        content_policy=settings.storage.content_policy,
        rendering=settings.browser.rendering,
        cooldowns={
            Trouble.LOGIN_REQUIRED: settings.cooldown.login,
            Trouble.FORBIDDEN: settings.cooldown.forbidden,
            Trouble.RATE_LIMITED: settings.cooldown.rate_limited,
            Trouble.SERVER_ERROR: settings.cooldown.server_error,
            Trouble.UNREACHABLE: settings.cooldown.unreachable,
            "robots_denied": settings.cooldown.robots,
        },
    )


def _listen(stop: StopRequest, *, is_attached: bool) -> None:
    """SIGTERM asks, a second one insists; the end of an attached worker's standard input means that it is alone."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, lambda: stop.stop_now() if stop.asked else stop.ask())
    loop.add_signal_handler(signal.SIGINT, lambda: stop.stop_now() if stop.asked else stop.ask())
    if is_attached:
        descriptor = sys.stdin.fileno()
        loop.add_reader(descriptor, _end_of_input, loop, descriptor, stop)


def _end_of_input(loop: asyncio.AbstractEventLoop, descriptor: int, stop: StopRequest) -> None:
    if not os.read(descriptor, 4096):
        loop.remove_reader(descriptor)
        stop.ask()
