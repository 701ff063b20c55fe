"""One process that is to be there for as long as we are: started, watched, started again when it ends.

It lives in a session of its own, so that Ctrl-C reaches only us, and holds the end of a pipe, so that it notices when
we are gone. One that dies again and again is given longer and longer pauses; one that lived for a while starts afresh.
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
"""Who lived that long did not die of how it was started."""
KILL_AFTER_S = 10.0


def pause_s(deaths: int) -> float:
    """Before the next start, after so many short lives in a row."""
    return min(FIRST_PAUSE_S * 2 ** min(deaths - 1, 10), LONGEST_PAUSE_S) if deaths else 0.0


@dataclass(slots=True)
class Child:
    name: str
    command: Sequence[str]
    environ: Mapping[str, str]
    on_death: Callable[[], Awaitable[None]] | None = None
    """Awaited when it died, before it is started again."""
    may_leave: bool = False
    """Whether one that ended in peace is left alone: a worker that somebody sent away."""
    fds: Sequence[int] = ()
    """Open files of ours that it has too, under the same numbers."""
    starts: int = 0
    process: Process | None = None

    @property
    def pid(self) -> int | None:
        return self.process.pid if self.process is not None and self.process.returncode is None else None

    async def keep(self, stop: StopRequest) -> None:
        """Until somebody asks to stop, and it has ended."""
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
                # Its own children may hold its pipes for longer than our loop lives, and no public door closes them.
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
        if stop.asked:  # it was not there yet when the others were told
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
