"""A child process that runs as long as its parent: it is started, watched, and restarted when it exits.

It runs in its own session, so that Ctrl-C reaches only the parent, and holds one end of a pipe, so that it notices when
the parent is gone. Repeated crashes increase the delay before a restart; a process that ran for a while resets it.
"""

import asyncio
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from forager import clock
from forager.engine.stop import StopRequest
from forager.logs import log

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 30.0
LIVED_S = 60.0
"""A process that ran this long did not crash because of how it was started."""
KILL_AFTER_S = 10.0


def pause_s(deaths: int) -> float:
    """Returns the delay before the next start, after `deaths` short-lived processes in a row."""
    return min(FIRST_PAUSE_S * 2 ** min(deaths - 1, 10), LONGEST_PAUSE_S) if deaths else 0.0


@dataclass(slots=True)
class Child:
    name: str
    command: Sequence[str]
    environ: Mapping[str, str]
    on_death: Callable[[], Awaitable[None]] | None = None
    """Awaited after a crash, before the process is restarted."""
    may_leave: bool = False
    """Whether a process that exited with code 0 is not restarted: a worker that an operator drained."""
    fds: Sequence[int] = ()
    """Open file descriptors that the child inherits under the same numbers."""
    starts: int = 0
    process: Process | None = None

    @property
    def pid(self) -> int | None:
        return self.process.pid if self.process is not None and self.process.returncode is None else None

    async def keep(self, stop: StopRequest) -> None:
        """Keeps the process running; returns when a stop was requested and the process has ended."""
        deaths = 0
        stopping = asyncio.create_task(self._pass_on(stop))
        try:
            while True:
                began = clock.monotonic()
                code = await self._live(stop)
                if stop.asked or (self.may_leave and code == 0):
                    return
                deaths = 1 if clock.monotonic() - began > LIVED_S else deaths + 1
                log().warning("process ended", action="child.ended", name=self.name, code=code, times=deaths)
                if self.on_death is not None:
                    await self.on_death()
                await _wait_or(stop, pause_s(deaths))
        finally:
            stopping.cancel()
            self._signal(signal.SIGKILL)
            if self.process is not None:
                await self.process.wait()
                # Its own children may hold its pipes open longer than our event loop runs, and no public API closes
                # them.
                self.process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001

    async def _live(self, stop: StopRequest) -> int:
        process = self.process = await asyncio.create_subprocess_exec(
            *self.command,
            env=self.environ,
            stdin=PIPE,
            stdout=DEVNULL,
            stderr=PIPE,
            start_new_session=True,
            pass_fds=self.fds,
        )
        self.starts += 1
        if stop.asked:  # it did not exist yet when the stop was forwarded to the others
            self._signal(signal.SIGTERM)
        assert process.stderr is not None
        while words := await process.stderr.read(65536):
            sys.stderr.write(words.decode("utf-8", "replace"))
        return await process.wait()

    async def _pass_on(self, stop: StopRequest) -> None:
        await stop.wait_requested()
        self._signal(signal.SIGTERM)
        await stop.wait_immediate()
        self._signal(signal.SIGTERM)
        await asyncio.sleep(KILL_AFTER_S)
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self.process is not None and self.process.returncode is None:
            self.process.send_signal(number)


async def _wait_or(stop: StopRequest, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stop.wait_requested()
    except TimeoutError:
        pass
