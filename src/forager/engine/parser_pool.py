"""Parses pages in processes beside the worker: the worker's one core is for the network and the database.

Each page has limits of time and memory (`parser_limits`). A page that exceeds them, or crashes the parser, ends its
process. It is then read again in a process of its own, and fails with a parser error if that one ends as well. Other
pages that waited for the process are read by its replacement. A page that is only slow keeps its process; the pages
behind it move to another one.

A page is never lost to a plug-in: if one ended the process, or if the page ends a process of its own while plug-ins are
called, it is read once more without them. A plug-in that ended three processes is not called any more.

A process that does not start is our own fault: pages that wait for it keep waiting, the worker is paused, and the start
is retried after 0.2, 0.4 … 5 s. An interactive command sets after how many attempts it gives up.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from forager.engine.models import PauseReason
from forager.engine.parser_client import NotStartedError, ParserCrashedError, ParserProcess, ParserServer, RequeueError
from forager.engine.parser_limits import is_external_kill, is_limit_exceeded
from forager.engine.parser_protocol import ParserConfig
from forager.engine.pauses import Pauses
from forager.engine.plugin_crashes import PluginCrashes
from forager.engine.stop import StopRequest, cancel
from forager.errors import BrokenError, ParserCrashError, ParserLimitError, ParserUnavailableError
from forager.fetch.models import Fetched
from forager.frontier.models import Target
from forager.logs import log
from forager.parsing.extractors.load import may_run_extractors
from forager.parsing.models import DEFAULT_OPTIONS, ParseOptions, Reading
from forager.plugins.discovery import has_own
from forager.plugins.registry import ALL

PAGES_PER_PROCESS = 128
"""Pages sent to a process at once: as many as it reads while the worker does something else, such as writing a
batch."""
SLOW_S = 0.5
"""Pages behind one that takes longer than this move to another process."""
LOOK_EVERY_S = 0.25
CONFIRM_S = 0.05
"""Delay before a slow page is checked again: the worker may have been busy and not have seen the result."""
MOST_S = 120.0
"""Time limit of a page, however busy the machine is."""
MOST_DETACHED = 4
"""Maximum number of slow pages with a process of their own, in addition to the shared processes."""
MOST_ISOLATED = 2
"""Maximum number of pages that are read again in a process of their own at the same time."""
MOST_KILLS = 3
"""Number of processes killed from outside after which the page they were reading fails: it may be the reason why they
are killed."""
FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 5.0
"""Delay between two failed starts."""


class ParserPool:
    decompresses = True

    def __init__(
        self,
        config: ParserConfig,
        processes: int,
        *,
        pauses: Pauses | None = None,
        stop: StopRequest | None = None,
        most_starts: int | None = None,
    ) -> None:
        """`most_starts`: how many starts may fail in a row before a page gets an error instead of waiting; None: no
        limit."""
        self._config = config
        self._most_starts = most_starts
        self._pauses = pauses or Pauses()
        self._stop = stop or StopRequest()
        """A page that waits for a process that does not start stops waiting when the worker is to stop."""
        self._server: ParserServer | None = None
        self._starting = asyncio.Lock()
        self._has_failed = asyncio.Event()
        self._shared: list[asyncio.Task[ParserProcess] | None] = [None] * processes
        """One task per process, which returns it when it has started."""
        self._detached: set[ParserProcess] = set()
        self._seats = asyncio.Semaphore(processes * PAGES_PER_PROCESS)
        self._isolated_seats = asyncio.Semaphore(MOST_ISOLATED)
        self._plugins = PluginCrashes(exist=has_own(config.plugin_config))
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    async def parse(self, target: Target, fetched: Fetched, options: ParseOptions) -> Reading | None:
        return await self.read(fetched, options, is_suspect=target.crashes > 0)

    async def read(
        self, fetched: Fetched, options: ParseOptions = DEFAULT_OPTIONS, *, is_suspect: bool = False
    ) -> Reading | None:
        """Returns None for a body that is empty when decompressed. Raises the errors of decompressing and parsing,
        ParserCrashError and ParserLimitError when the page ended two processes, and ParserUnavailableError when
        `most_starts` starts failed, or when the worker is to stop while no process starts. A page with `is_suspect` is
        read in a process of its own."""
        crash: ParserCrashedError | None = None
        if not is_suspect:
            try:
                return await self._read_shared(fetched, options)
            except ParserCrashedError as error:
                crash = error
        async with self._isolated_seats:
            return await self._read_again(fetched, options, crash)

    async def _read_again(
        self, fetched: Fetched, options: ParseOptions, crash: ParserCrashedError | None
    ) -> Reading | None:
        """Reads a page in a process of its own: with everything, unless a plug-in is known to have ended the first one;
        then without plug-ins, then without extractors. What hangs or crashes costs its records of this page, and not
        the page."""
        is_named = crash is not None and bool(crash.plugin) and not is_external_kill(crash.exit_code)
        if not (self._plugins.exist and is_named):
            try:
                return await self._read_isolated(fetched, options)
            except ParserCrashError as error:
                if not self._plugins.exist:
                    return await self._read_without_extractors(fetched, options, error)
                crash = _cause_of(error)
        try:
            reading = await self._read_isolated(fetched, options, left_out=(ALL,))
        except ParserCrashError as error:
            return await self._read_without_extractors(fetched, options, error)
        return self._plugins.add_crash(reading, crash, fetched.url)

    async def _read_without_extractors(
        self, fetched: Fetched, options: ParseOptions, error: ParserCrashError
    ) -> Reading | None:
        if not may_run_extractors(options, self._config.extractors_folder):
            raise error
        log().warning("page parsed without extractors", action="parser.no_extractors", url=fetched.url)
        plain = options._replace(extractors=(), extractor_texts=())
        return await self._read_isolated(fetched, plain, left_out=(ALL,))

    async def _read_shared(self, fetched: Fetched, options: ParseOptions) -> Reading | None:
        async with self._seats:
            while True:
                index = self._find_min_load()
                process = _running(self._shared[index]) or await self._process_at(index)
                if self._timer is None:
                    self._timer = self._loop.call_later(LOOK_EVERY_S, self._look)
                try:
                    return await process.read(fetched, options, left_out=self._plugins.left_out)
                except RequeueError:
                    continue

    async def _read_isolated(
        self, fetched: Fetched, options: ParseOptions, *, left_out: tuple[str, ...] | None = None
    ) -> Reading | None:
        left_out = self._plugins.left_out if left_out is None else left_out
        for _ in range(MOST_KILLS):
            process = await self._open_process(is_isolated=True)
            try:
                async with asyncio.timeout(MOST_S):
                    return await process.read(fetched, options, left_out=left_out)
            except TimeoutError:
                # It used less processor time than a page may take: the machine was short of something, the page is not
                # at fault.
                raise BrokenError(f"reading the page took longer than {MOST_S:.0f} s") from None
            except RequeueError:
                continue
            except ParserCrashedError as death:
                log().warning("page not parsed", action="parser.failed", url=fetched.url, how=str(death))
                if is_limit_exceeded(death.exit_code):
                    raise ParserLimitError(f"the page is more than a parser process may take: {death}") from death
                if not is_external_kill(death.exit_code):
                    raise ParserCrashError(f"the page crashed its parser process twice: {death}") from death
            finally:
                process.kill()
                process.close()
        raise ParserCrashError(f"the parser process of the page was killed {MOST_KILLS} times")

    # slow pages

    def _look(self) -> None:
        """Moves the pages that wait behind a slow one to another process, as long as any process is reading."""
        self._timer = None
        self._detached = {process for process in self._detached if not process.is_closed}
        processes = [process for place in self._shared if (process := _running(place))]
        for process in processes:
            if process.load > 1 and process.first_s > SLOW_S and len(self._detached) < MOST_DETACHED:
                self._loop.call_later(CONFIRM_S, self._detach, process, process.jobs_done)
        for process in (*processes, *self._detached):
            if process.first_s > MOST_S:
                process.kill()
        if self._detached or any(process.load for process in processes):
            self._timer = self._loop.call_later(LOOK_EVERY_S, self._look)

    def _detach(self, process: ParserProcess, jobs_done: int) -> None:
        """Detaches a slow process, unless its result has arrived meanwhile."""
        index = next((index for index, place in enumerate(self._shared) if _running(place) is process), None)
        if index is not None and process.load > 1 and process.jobs_done == jobs_done:
            process.detach()
            self._detached.add(process)
            self._shared[index] = None

    # processes

    async def warm_up(self) -> None:
        """Returns when all processes run, with the language model loaded, or when one failed to start. In that case the
        worker is paused, and reports it once it runs."""
        ends = {asyncio.create_task(self._start_all()), asyncio.create_task(self._wait_for_failure())}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel(ends)

    async def _start_all(self) -> None:
        await asyncio.gather(*map(self._process_at, range(len(self._shared))))

    async def _wait_for_failure(self) -> None:
        await self._has_failed.wait()

    def _find_min_load(self) -> int:
        if len(self._shared) == 1:
            return 0
        loads = [process.load if (process := _running(place)) else 0 for place in self._shared]
        return loads.index(min(loads))

    async def _process_at(self, index: int) -> ParserProcess:
        """Returns the process at this index, started if needed. A cancelled visit does not cancel a start that others
        wait for."""
        place = self._shared[index]
        if place is None or (place.done() and _running(place) is None):
            place = self._shared[index] = asyncio.create_task(self._open_process())
        return await asyncio.shield(place)

    async def _open_process(self, *, is_isolated: bool = False) -> ParserProcess:
        wait_s, failed = FIRST_WAIT_S, 0
        while True:
            try:
                server = await self._running_server()
                process = await server.open_process(is_isolated=is_isolated)
            except NotStartedError as error:
                self._note_failure(str(error))
                failed += 1
                if failed == self._most_starts:
                    raise ParserUnavailableError(f"no parser process starts: {error}") from error
            else:
                self._pauses.end(PauseReason.NO_PARSER)
                return process
            await self._wait_or_stop(wait_s)
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)

    async def _running_server(self) -> ParserServer:
        async with self._starting:
            if self._server is not None and self._server.is_dead:
                log().warning("parser server died", action="parser.server_died", how=await self._server.close())
                self._server = None
            if self._server is None:
                self._server = await ParserServer.start(self._config)
            return self._server

    def _note_failure(self, how: str) -> None:
        log().info("parser process does not start", action="parser.not_started", how=how)
        self._pauses.begin(PauseReason.NO_PARSER, how)
        self._has_failed.set()

    async def _wait_or_stop(self, wait_s: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await self._stop.wait_requested()
            raise ParserUnavailableError("no parser process starts, and the worker is to stop")

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        starting = {place for place in self._shared if place is not None and not place.done()}
        for place in starting:
            place.cancel()
        if starting:
            await asyncio.wait(starting)
        for process in (*filter(None, map(_running, self._shared)), *self._detached):
            process.close()
        if self._server is not None:
            await self._server.close()


def _cause_of(error: ParserCrashError) -> ParserCrashedError | None:
    return error.__cause__ if isinstance(error.__cause__, ParserCrashedError) else None


def _running(place: asyncio.Task[ParserProcess] | None) -> ParserProcess | None:
    if place is None or not place.done() or place.cancelled() or place.exception() is not None:
        return None
    return None if place.result().is_closed else place.result()


@asynccontextmanager
async def open_pool(
    config: ParserConfig,
    processes: int,
    *,
    pauses: Pauses | None = None,
    stop: StopRequest | None = None,
    most_starts: int | None = None,
) -> AsyncIterator[ParserPool | None]:
    """Yields the pool; None if the worker parses in its own process."""
    if not processes:
        yield None
        return
    pool = ParserPool(config, processes, pauses=pauses, stop=stop, most_starts=most_starts)
    try:
        yield pool
    finally:
        await pool.close()


async def read_isolated(
    fetched: Fetched,
    config: ParserConfig,
    options: ParseOptions = DEFAULT_OPTIONS,
    *,
    pauses: Pauses | None = None,
    stop: StopRequest | None = None,
    most_starts: int | None = None,
) -> Reading | None:
    """Reads one page in a process of its own, where there is no pool."""
    async with open_pool(config, 1, pauses=pauses, stop=stop, most_starts=most_starts) as pool:
        assert pool is not None
        return await pool.read(fetched, options, is_suspect=True)
