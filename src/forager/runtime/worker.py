"""Builds a worker from Settings and runs it: the pipeline, and the parts that features add to it."""

import asyncio
import contextlib
import gc
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from functools import cache, partial
from typing import TYPE_CHECKING

from forager.config.crawl_layers import defaults_of
from forager.config.keys import get_cipher
from forager.config.settings import Settings
from forager.db.database import Database, open_database
from forager.dispatch.factory import open_hints
from forager.domains.sessions import Sessions
from forager.domains.store import Keeping
from forager.engine.batch import BatchRecorder
from forager.engine.capacity import max_domains
from forager.engine.config import (
    BufferConfig,
    FailureConfig,
    FrontierConfig,
    LeaseConfig,
    PacingConfig,
    RequestLimits,
    RobotsConfig,
    RunConfig,
    SettingsResolver,
    WorkerConfig,
)
from forager.engine.crash_marker import FOLDER, open_crash_marker
from forager.engine.page_parser import InlineParser
from forager.engine.parser_pool import ParserPool, open_pool, read_isolated
from forager.engine.parser_protocol import ParserConfig
from forager.engine.pauses import Pauses
from forager.engine.pipeline import Pipeline
from forager.engine.plugin_errors import PluginErrorRecorder
from forager.engine.rendering import open_renderer
from forager.engine.stop import StopRequest
from forager.engine.transaction_retry import in_transaction
from forager.engine.worker import Services, Worker
from forager.errors import NotFoundError
from forager.fetch.browser.factory import browser_limits
from forager.fetch.client import open_client
from forager.fetch.connection import ResponseTimeouts
from forager.fetch.models import Fetched
from forager.frontier.models import DomainFailure
from forager.images.decode.client import Decoder
from forager.images.file_storage import ImageStorage
from forager.images.recorder import ImageRecorder
from forager.links.scope import CrawlScope
from forager.links.select import Selector
from forager.parsing.extractors.load import FOLDER as EXTRACTORS_FOLDER
from forager.parsing.memory import disable_memory_trim
from forager.parsing.models import ParseOptions, Reading
from forager.plugins.config import config_of, use_plugins
from forager.politeness.guard import AddressGuard
from forager.politeness.no_delay_hosts import has_no_delay
from forager.politeness.proxy_rule import proxy_rule
from forager.products.recorder import ProductRecorder
from forager.proxies.worker_pools import ProxyRecorder, WorkerPools
from forager.records.recorder import RecordRecorder
from forager.runs.models import RunSpec
from forager.runs.scope import read_reach
from forager.runs.service import continuous_spec
from forager.runtime.shared_state import open_sharing
from forager.stats import store as stats
from forager.storage.factory import get_location, open_body_store

if TYPE_CHECKING:
    from forager.parsing.language import LanguageMemory


async def work(settings: Settings, run: int | None, *, workers: int, is_attached: bool) -> None:
    """Runs one worker process. An attached one stops when its parent process is gone. Without a run it takes part in
    the continuous run."""
    stop = StopRequest()
    name = f"forager worker {os.getpid()}"
    # Commits wait for the disk. A crash of the server that undid some would leave a worker with leases, tasks and pages
    # in its memory whose ids the database assigns again: pages were lost and counters broken in every kill test.
    limit_s = settings.worker.dead_after
    plugins = use_plugins(settings)
    parser_config, pauses = parser_config_of(settings), Pauses()
    processes = settings.worker.parser_processes
    if not processes and plugins.may_call("extract_records", "find_product"):
        processes = 1  # a plug-in may hang or crash: never in the worker itself
    async with (
        open_pool(parser_config, processes, pauses=pauses, stop=stop) as parsers,
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
        networks = (*settings.fetch.allow_networks, *spec.allow_networks)
        guard = AddressGuard(networks, settings.fetch.allow_ports, is_anonymous=settings.contact is None)
        async with (
            _open_pipeline(settings, spec, guard, reach, parsers, pauses=pauses, stop=stop) as pipeline,
            open_sharing(settings, database.pool) as sharing,
        ):
            _listen(stop, is_attached=is_attached)
            await is_warm
            config = build_worker_config(settings, run, spec, workers=workers)
            pools = WorkerPools(get_cipher(settings))
            async with open_hints(settings, run, spec) as inbox:
                services = Services(
                    pauses=pauses,
                    guard=guard,
                    shared=sharing.pages,
                    proxies=pools,
                    recorders=build_recorders(database, config, pools),
                    sessions=Sessions(get_cipher(settings, creates=settings.database.url is None)),
                    inbox=inbox,
                )
                await Worker(database, config, pipeline, services, stop).work()


def build_recorders(database: Database, config: WorkerConfig, pools: WorkerPools) -> list[BatchRecorder]:
    """Returns what features write with every batch, in lock order."""
    images = ImageRecorder(
        database,
        run=config.run.run,
        max_subdomains=config.frontier.max_subdomains,
        remembered=max(1000, config.frontier.known_urls // 8),
    )
    return [images, ProductRecorder(), RecordRecorder(), ProxyRecorder(pools), PluginErrorRecorder(database)]


async def _join_continuous_run(settings: Settings, database: Database) -> int:
    """Creates the continuous run if no `forager up` has created it yet."""
    spec = continuous_spec(max_depth=settings.crawl.max_depth)
    return await in_transaction(database, partial(stats.ensure_continuous_run, spec=spec, by="forager worker"))


def _configure_gc() -> None:
    """Tunes garbage collection. A page creates hundreds of small tuples and no cycles: at Python's own thresholds the
    search for cycles took 7 % of a worker's time. Imported objects are never garbage."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@contextlib.asynccontextmanager
async def preload_parsers(parsers: ParserPool | None) -> AsyncIterator[asyncio.Task[None]]:
    """Starts the parsers while the database is opened, as the language model takes a second to load. No request is sent
    before a parser is ready: pages that wait for one are fetched again when the worker is killed."""
    disable_memory_trim()
    warming = asyncio.create_task(parsers.warm_up() if parsers else asyncio.to_thread(_preload_inline))
    try:
        yield warming
    finally:
        warming.cancel()
        await asyncio.wait({warming})


@contextlib.asynccontextmanager
async def _open_pipeline(
    settings: Settings,
    spec: RunSpec,
    guard: AddressGuard,
    reach: CrawlScope,
    parsers: ParserPool | None,
    *,
    pauses: Pauses,
    stop: StopRequest,
) -> AsyncIterator[Pipeline]:
    with open_crash_marker(settings.home / FOLDER) as crash_marker, open_body_store(settings) as body_store:
        async with (
            Decoder.open(max_pixels=settings.images.max_pixels) as decoder,
            open_client(
                user_agent=settings.agent_header,
                check_address=guard.check_ip,
                check_proxy=proxy_rule((*settings.fetch.allow_networks, *spec.allow_networks)),
                timeout_s=settings.fetch.timeout,
                connect_timeout_s=settings.fetch.connect_timeout,
                max_bytes=settings.fetch.max_page_size,
                patience=ResponseTimeouts(
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
            parsing = parser_config_of(settings)
            isolated = partial(_read_isolated, parsing, pauses, stop)
            yield Pipeline(
                client=client,
                parser=parsers or InlineParser(_inline_parser(parsing), isolated, crash_marker),
                selector=Selector(reach, max_links_per_page=settings.crawl.max_links_per_page),
                max_redirects=settings.fetch.max_redirects,
                body_store=body_store,
                image_files=ImageStorage(
                    decoder, get_location(settings), max_bytes=settings.images.max_size, pauses=pauses, stop=stop
                ),
                renderer=renderer,
            )


def _preload_inline() -> None:
    from forager.parsing.page import preload

    preload()


def parser_config_of(settings: Settings) -> ParserConfig:
    plugins = json.dumps(config_of(settings))
    return ParserConfig(settings.politeness.robots_agent, str(settings.home / EXTRACTORS_FOLDER), plugins)


def _inline_parser(config: ParserConfig) -> Callable[[Fetched, ParseOptions], Reading]:
    """Parses in this process; the parser is loaded with the first page, which a worker with parser processes never
    parses."""

    @cache
    def memory() -> "LanguageMemory":
        from forager.parsing.language import LanguageMemory

        return LanguageMemory()

    def read(fetched: Fetched, options: ParseOptions) -> Reading:
        from forager.parsing import page

        return page.read(fetched, **config.read_arguments, memory=memory(), **options._asdict())

    return read


async def _read_isolated(
    config: ParserConfig, pauses: Pauses, stop: StopRequest, fetched: Fetched, options: ParseOptions
) -> Reading | None:
    return await read_isolated(fetched, config, options, pauses=pauses, stop=stop)


def build_worker_config(settings: Settings, run: int, spec: RunSpec, *, workers: int) -> WorkerConfig:
    defaults = defaults_of(settings)
    if spec.delay_s is not None:
        defaults = defaults.model_copy(update={"delay": spec.delay_s})
    return WorkerConfig(
        run=RunConfig(run, spec, workers, settings.worker.labels),
        lease=LeaseConfig(
            lease_s=settings.worker.lease,
            heartbeat_s=settings.worker.heartbeat,
            dead_after_s=settings.worker.dead_after,
            max_domains=max_domains(settings.worker.max_domains),
            lease_pages=settings.worker.lease_max_pages,
            lease_budget_s=settings.worker.lease_max_time,
            keeping=Keeping(
                most_returns=settings.failures.max_unblocks,
                refresh_every_s=settings.refresh.interval if settings.refresh.enabled else None,
                is_scored=settings.crawl.domain_order == "smart",
            ),
        ),
        pacing=PacingConfig(
            longest_wait_s=settings.crawl.max_wait,
            breaker_failures=settings.failures.breaker_failures,
            breaker_reset_s=settings.failures.breaker_reset,
            is_unpaced=partial(has_no_delay, unpaced_hosts=settings.politeness.no_delay_hosts),
            unpaced_concurrency=settings.politeness.no_delay_max_requests,
            adaptive_pace=settings.politeness.adaptive_delay,
        ),
        requests=RequestLimits(
            settings.fetch.max_requests_per_worker,
            settings.politeness.max_requests_per_ip or None,
            settings.politeness.delay_per_ip,
        ),
        robots=RobotsConfig(settings.politeness.robots_agent, settings.politeness.robots_ttl, settings.cooldown.robots),
        failures=FailureConfig(
            max_retries=settings.failures.max_retries,
            max_domain_errors=settings.failures.block_after,
            max_unreachable=settings.failures.unreachable_after,
            cooldowns={
                DomainFailure.LOGIN_REQUIRED: settings.cooldown.login,
                DomainFailure.FORBIDDEN: settings.cooldown.forbidden,
                DomainFailure.CHALLENGE: settings.cooldown.challenge,
                DomainFailure.RATE_LIMITED: settings.cooldown.rate_limited,
                DomainFailure.SERVER_ERROR: settings.cooldown.server_error,
                DomainFailure.UNREACHABLE: settings.cooldown.unreachable,
            },
        ),
        buffer=BufferConfig(
            settings.worker.batch_pages,
            settings.worker.batch_interval,
            settings.worker.buffer_pages,
            settings.worker.buffer_size,
        ),
        frontier=FrontierConfig(
            known_urls=settings.worker.url_cache_size,
            max_subdomains=settings.crawl.max_subdomains,
            max_near_duplicates=settings.crawl.max_near_duplicates,
            max_calendar_pages=settings.crawl.max_calendar_pages,
            max_sitemaps=settings.crawl.max_sitemaps,
            sitemap_interval_s=(settings.crawl.min_sitemap_interval, settings.crawl.max_sitemap_interval),
        ),
        settings=SettingsResolver(defaults, get_cipher(settings)),
    )


def _listen(stop: StopRequest, *, is_attached: bool) -> None:
    """SIGTERM requests a stop, a second one forces it; end of standard input means that an attached worker lost its
    parent."""
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
