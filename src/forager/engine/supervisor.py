"""Supervises the worker processes of one crawl: starts and watches them, replaces them when they crash, and stops them
on request.

Workers run in their own sessions, so that Ctrl-C reaches only the supervisor; each holds one end of a pipe, so that it
notices when the supervisor is gone and stops by itself. No state is lost with a worker: leases and tasks are in the
database.
"""

import asyncio
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence

from forager import clock
from forager.engine.stop import StopRequest
from forager.logs import log

TICK_S = 0.25
MOST_FRUITLESS_DEATHS = 50
FRUITLESS_WITHIN_S = 3600.0
"""A crawl gives up when this number of workers died within this time and no page was recorded in between: it cannot
make progress. A crawl that makes progress replaces its workers without limit."""
KILL_AFTER_S = 10.0


class Supervisor:
    """Runs `count` workers until all have exited by themselves."""

    def __init__(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        stop: StopRequest,
        *,
        on_tick: Callable[[], Awaitable[None]],
        on_death: Callable[[], Awaitable[None]],
        count_done: Callable[[], int] = lambda: 0,
    ) -> None:
        """`count_done` returns the number of pages recorded so far, which distinguishes progress from a crash loop."""
        self._command = command
        self._environ = environ
        self._stop = stop
        self._on_tick = on_tick
        self._on_death = on_death
        """Awaited after a worker died, before it is replaced: its leases are to be freed at once."""
        self._workers: dict[Process, asyncio.Task[None]] = {}
        """Each worker with the task that waits for its exit."""
        self._count_done = count_done
        self._done = 0
        self._died_at: deque[float] = deque()
        """When workers died since the last progress, within the last hour."""

    async def run(self, count: int) -> bool:
        """Returns True when every worker exited normally."""
        watching = asyncio.create_task(self._forward_stop())
        try:
            for _ in range(count):
                await self._start()
            while self._workers:
                await asyncio.wait(self._workers.values(), timeout=TICK_S, return_when=asyncio.FIRST_COMPLETED)
                await self._on_tick()
                if not await self._replace_dead():
                    return False
            return True
        finally:
            watching.cancel()
            await self._end_all()

    async def _start(self) -> None:
        worker = await asyncio.create_subprocess_exec(
            *self._command, env=self._environ, stdin=PIPE, stdout=DEVNULL, stderr=PIPE, start_new_session=True
        )
        self._workers[worker] = asyncio.create_task(_wait_for_exit(worker))
        if self._stop.asked:  # the stop was forwarded before this worker existed
            worker.send_signal(signal.SIGTERM)

    async def _replace_dead(self) -> bool:
        """Removes workers that exited and replaces those that died. Returns False when they die too fast to be
        replaced."""
        ended = [worker for worker in self._workers if worker.returncode is not None]
        for worker in ended:
            await self._workers.pop(worker)
        died = [worker for worker in ended if worker.returncode != 0]
        if not died:
            return True
        await self._on_death()
        for worker in died:
            if self._stop.asked:
                continue
            log().warning("worker died", action="worker.died", pid=worker.pid, code=worker.returncode)
            if self._is_crash_loop():
                return False
            await self._start()
        return True

    def _is_crash_loop(self) -> bool:
        """Counts another death; returns whether there were too many without progress."""
        now, done = clock.monotonic(), self._count_done()
        if done > self._done:
            self._done = done
            self._died_at.clear()
        self._died_at.append(now)
        while self._died_at[0] < now - FRUITLESS_WITHIN_S:
            self._died_at.popleft()
        return len(self._died_at) > MOST_FRUITLESS_DEATHS

    async def _forward_stop(self) -> None:
        await self._stop.wait_requested()
        self._signal_all(signal.SIGTERM)
        await self._stop.wait_immediate()
        self._signal_all(signal.SIGTERM)
        await asyncio.sleep(KILL_AFTER_S)
        self._signal_all(signal.SIGKILL)

    def _signal_all(self, number: signal.Signals) -> None:
        for worker in self._workers:
            if worker.returncode is None:
                worker.send_signal(number)

    async def _end_all(self) -> None:
        self._signal_all(signal.SIGKILL)
        await asyncio.gather(*self._workers.values())


async def _wait_for_exit(worker: Process) -> None:
    """Waits for the worker to exit and copies its standard error to ours, so that it does not write into the live
    display."""
    assert worker.stderr is not None
    try:
        while words := await worker.stderr.read(65536):
            sys.stderr.write(words.decode("utf-8", "replace"))
        await worker.wait()
    finally:
        # Otherwise its standard input is closed later by the event loop, or by the garbage collector without a loop.
        worker._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001
