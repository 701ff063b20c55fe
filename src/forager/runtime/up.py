"""The supervisor behind `forager up`: runs the API, the scheduler and the workers until it is stopped.

Its workers belong to the continuous run, which never ends and has every domain that no other run has. Runs started
through the API get workers of their own, and are supervised until they end; if their supervisor dies, another takes
them over. All state of a supervisor is in the database: killed and restarted, it resumes.
"""

import asyncio
import contextlib
import fcntl
import os
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial

import asyncpg

from forager import clock
from forager.config.loader import to_environment
from forager.config.settings import Settings
from forager.db.types import Connection
from forager.domains.store import assign_free_domains
from forager.engine.child_process import Child
from forager.engine.stop import StopRequest
from forager.engine.transaction_retry import in_transaction
from forager.errors import ConfigurationError, DatabaseUnreachableError
from forager.instance import Forager
from forager.interpreter import python_module
from forager.logs import log
from forager.runs.models import RunSpec
from forager.runs.service import continuous_spec
from forager.runtime import server as serve
from forager.runtime.crawl import execute_run, recovery
from forager.runtime.schedule import run_scheduler
from forager.stats import store as stats
from forager.stats.processes import get_process_key, has_exited
from forager.stats.store import read_clock

LOOK_EVERY_S = 1.0
PAUSE_AFTER_BUG_S = 10.0
PATIENCE_S, INSISTENT_S = 8.0, 0.5
"""How long a supervisor that was asked to stop, once or twice, waits for a database that does not respond."""
RECOVERY_S = 60.0
"""The same for our own server, which is restarted after a kill."""
SILENT_S = 60.0
"""A supervisor that has not renewed its claim on a run for this time has lost it."""
ADOPTED_AT_ONCE = 1000
MOST_ORDERS = 8
"""API runs that one supervisor handles at once; others wait for it, or for another supervisor."""


class ProcessSupervisor:
    def __init__(
        self, forager: Forager, stop: StopRequest, *, workers: int, sockets: Sequence[socket.socket] = ()
    ) -> None:
        """Serves the API on each of the sockets, with one process for each."""
        self._forager = forager
        self._stop = stop
        self._workers = workers
        self._sockets = sockets
        self._name = get_process_key()
        self._orders: dict[int, tuple[StopRequest, asyncio.Task[None]]] = {}
        self.children: list[Child] = []
        self.run = 0

    async def work(self) -> None:
        """Runs until a stop is requested; all that was started has ended when this returns. A stop does not wait for a
        database that stays unavailable: fetched and unwritten pages are then lost, as in a kill."""
        working, watching = asyncio.create_task(self._work()), asyncio.create_task(self._miss_database())
        try:
            await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                self._forager.pool.terminate()  # cancelling a statement waits for the server to confirm it
                watching.result()
        finally:
            for task in (working, watching):
                task.cancel()
            await asyncio.gather(working, watching, return_exceptions=True)
        working.result()

    async def _miss_database(self) -> None:
        """Returns when a stop is requested and the database does not respond."""
        await self._stop.wait_requested()
        while True:
            if not await self._is_database_up():
                raise DatabaseUnreachableError(
                    "The database does not answer, so everything was stopped without it: pages that were fetched and "
                    "not written are fetched again by the next `forager up`."
                )
            await asyncio.sleep(LOOK_EVERY_S)

    async def _is_database_up(self) -> bool:
        database = self._forager.database
        asking = asyncio.create_task(in_transaction(database, read_clock))
        began, patience_s = clock.monotonic(), RECOVERY_S if database.is_embedded else PATIENCE_S
        while not asking.done():
            if clock.monotonic() - began > (INSISTENT_S if self._stop.is_immediate else patience_s):
                asking.cancel()
                return False
            await asyncio.wait({asking}, timeout=INSISTENT_S)
        asking.result()
        return True

    async def _work(self) -> None:
        settings = self._forager.settings
        spec = continuous_spec(max_depth=settings.crawl.max_depth)
        put_right = recovery(self._forager, spec)
        await put_right()
        self.run = await in_transaction(self._forager.database, partial(self._begin_run, spec=spec))
        await self._assign_domains()
        if self._workers:
            await in_transaction(self._forager.database, free_orders_of_the_dead)
        environ = os.environ | to_environment(settings)
        self.children += serve.children(settings, self._sockets)
        of = str(self._workers)
        worker = python_module("forager", "worker", "--run", str(self.run), "--of", of, "--attached")
        self.children += [
            Child(f"worker {n + 1}", worker, environ, partial(self._run_safely, put_right), may_leave=True)
            for n in range(self._workers)
        ]
        keeping = [asyncio.create_task(child.keep(self._stop)) for child in self.children]
        timing = asyncio.create_task(self._run_scheduler())
        looking = asyncio.create_task(self._look(spec))
        try:
            await asyncio.wait({*keeping, timing, looking}, return_when=asyncio.FIRST_COMPLETED)
            for task in (*keeping, timing, looking):
                if task.done() and not self._stop.asked:
                    task.result()
            await asyncio.gather(*keeping, timing, looking)
            await self._end_orders()
        finally:
            doomed = (*keeping, timing, looking, *(task for _, task in self._orders.values()))
            for task in doomed:
                task.cancel()
            await asyncio.gather(*doomed, return_exceptions=True)
        if self._workers:
            await put_right()

    async def _run_scheduler(self) -> None:
        """A bug in a job ends nothing else."""
        while not self._stop.asked:
            try:
                await run_scheduler(self._forager, self._stop)
            except Exception as error:
                log().error("schedule ended", action="schedule.ended", error=repr(error))
                await self._pause(PAUSE_AFTER_BUG_S)

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stop.wait_requested()

    async def _look(self, spec: RunSpec) -> None:
        while not self._stop.asked:
            await self._run_safely(partial(self._look_once, spec))
            await self._pause(LOOK_EVERY_S)

    async def _look_once(self, spec: RunSpec) -> None:
        await self._hold_run(spec)
        await self._assign_domains()  # also without workers here: those of other machines take part in it
        if self._workers:
            await self._take_orders()

    async def _run_safely(self, work: Callable[[], Awaitable[object]]) -> None:
        """Keeps the API and the workers running whatever the database does: the error is logged, and retried later."""
        try:
            await work()
        except asyncpg.PostgresError as error:
            log().error("database refused", action="up.database", error=repr(error))
            await self._pause(PAUSE_AFTER_BUG_S)

    async def _begin_run(self, conn: Connection, spec: RunSpec) -> int:
        """Resumes the continuous run with the networks that this process allows, also by its flags: `forager why`
        and submitted tasks are checked by the same rules as in the workers. The process that started last decides."""
        run = await stats.ensure_continuous_run(conn, spec, by="forager up")
        await stats.set_continuous_networks(conn, run, self._forager.settings.fetch.allow_networks)
        return run

    async def _hold_run(self, spec: RunSpec) -> int:
        return await in_transaction(
            self._forager.database, partial(stats.ensure_continuous_run, spec=spec, by="forager up")
        )

    async def _assign_domains(self) -> None:
        """Adopts all domains without a run, in batches, so that no process waits long for a domain."""
        work = partial(assign_free_domains, run=self.run, limit=ADOPTED_AT_ONCE)
        while await in_transaction(self._forager.database, work) == ADOPTED_AT_ONCE and not self._stop.asked:
            pass

    # orders --------------------------------------------------------------------------------------------------------

    async def _take_orders(self) -> None:
        self._orders = {run: order for run, order in self._orders.items() if not order[1].done()}

        async def once(conn: Connection) -> tuple[dict[int, bool], dict[int, RunSpec | None]]:
            kept = await stats.keep_orders(conn, self._name, list(self._orders))
            room = MOST_ORDERS - len(kept)
            new = await stats.take_orders(conn, self._name, silent_s=SILENT_S, limit=room) if room > 0 else []
            return kept, {run: await stats.find_run(conn, run) for run in new if run not in self._orders}

        kept, new = await in_transaction(self._forager.database, once)
        for run, (stop, _) in self._orders.items():
            if kept.get(run, True):  # an operator wants it to end, or another supervisor has it
                stop.ask()
        for run, spec in new.items():
            if spec is not None:
                stop = StopRequest()
                self._orders[run] = stop, asyncio.create_task(self._execute_run(run, spec, stop))

    async def _execute_run(self, run: int, spec: RunSpec, stop: StopRequest) -> None:
        try:
            await execute_run(
                self._forager,
                run,
                spec,
                workers=max(self._workers, 1),
                on_progress=lambda _: None,
                stop=stop,
                runs_jobs=False,
                stays_open=lambda: self._stop.asked,
            )
        except Exception as error:
            log().error("ordered run failed", action="order.failed", run=run, error=repr(error))
            await in_transaction(self._forager.database, partial(stats.end_run, run=run, status="failed"))

    async def _end_orders(self) -> None:
        """Stops the workers of API runs. The runs are not over: the next supervisor resumes them."""
        for stop, _ in self._orders.values():
            stop.stop_now() if self._stop.is_immediate else stop.ask()
        await asyncio.gather(*(task for _, task in self._orders.values()), return_exceptions=True)
        ours = [(run, self._name) for run in self._orders]
        await in_transaction(self._forager.database, partial(stats.free_orders, orders=ours))


async def free_orders_of_the_dead(conn: Connection) -> None:
    """Releases runs whose supervisors on this machine no longer exist."""
    orphaned = [(run, keeper) for run, keeper in await stats.list_owned_runs(conn) if has_exited(keeper)]
    if orphaned:
        await stats.free_orders(conn, orphaned)


@contextlib.contextmanager
def supervisor_lock(settings: Settings) -> Iterator[bool]:
    """Ensures one supervisor per data folder: a second one would compete for the port. Yields whether the previous one
    was killed: it left its pid in the file, which a normal exit removes."""
    settings.home.mkdir(parents=True, exist_ok=True)
    path = settings.home / "up.lock"
    with path.open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            pid = lock.read().strip()
            who = f" (process {pid})" if pid else ""
            raise ConfigurationError(
                f"Forager is up already for {settings.home}{who}: stop it first, or use another --home."
            ) from None
        lock.seek(0)
        was_killed = bool(lock.read().strip())
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        try:
            yield was_killed
        finally:
            lock.truncate(0)
