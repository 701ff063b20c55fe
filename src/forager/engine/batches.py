"""Outcomes gather into batches, so many pages or so long after the first, and two of them are written at once:
while one is recorded, the next one is enqueued. Each waits for the database as often as for the worker's other work;
one after the other they could not keep up with a quick crawl.

Decides when, and in which order. What writing is, `Writer` knows. While the database is away, what is gathered is the
write buffer: bounded, in memory, written when the database is back.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, Protocol, TypeVar

from forager.domains.store import RobotsCopy
from forager.engine.stop import cancel
from forager.engine.write_buffer import WriteBuffer
from forager.frontier.models import Outcome

TOGETHER = 2
"""Batches that are written as one, where so many came while the ones before were written: a page costs less in a large
batch, and what is behind catches up."""


class Prepared(Protocol):
    @property
    def goes_first(self) -> bool:
        """It has to be recorded before the next one is prepared."""


P = TypeVar("P", bound=Prepared)


class Batches(Generic[P]):
    """`add` is instant; `run` writes until `finish`."""

    def __init__(
        self,
        buffer: WriteBuffer,
        *,
        pages: int,
        wait_s: float,
        prepare: Callable[[Sequence[Outcome]], Awaitable[P]],
        record: Callable[[P, Sequence[RobotsCopy]], Awaitable[None]],
        on_room: Callable[[], None],
    ) -> None:
        self._buffer = buffer
        self._pages = pages
        self._wait_s = wait_s
        self._prepare = prepare
        self._record = record
        self._on_room = on_room
        """Called when there is room in the buffer again."""
        self._arrived = asyncio.Event()
        self._full = asyncio.Event()
        self._is_finishing = False

    @property
    def backlog(self) -> int:
        return len(self._buffer.outcomes)

    @property
    def is_idle(self) -> bool:
        """Nothing is left to write. A lease nobody knows of may still be needed for what is."""
        return self._buffer.is_empty

    @property
    def is_due(self) -> bool:
        """Somebody asked for what is here to be written, or it is a batch."""
        return self._full.is_set()

    def has_room(self, under_way: int) -> bool:
        """Whether what another request brings could be kept, besides those under way, if nothing could be written."""
        return self._buffer.has_room(under_way)

    def add(self, outcome: Outcome) -> None:
        self._buffer.add(outcome)
        self._arrived.set()
        if self.backlog >= self._pages:
            self._full.set()

    def add_robots(self, copy: RobotsCopy) -> None:
        self._buffer.add_robots(copy)
        self._arrived.set()

    def hurry(self) -> None:
        """Nothing more will come before what is here is written."""
        if self.backlog:
            self._full.set()

    def finish(self) -> None:
        """Write what is there, then end."""
        self._is_finishing = True
        self._arrived.set()
        self._full.set()

    async def run(self) -> None:
        recording: asyncio.Task[None] | None = None
        goes_first = False
        try:
            while not self._is_finishing or self._buffer:
                await self._arrived.wait()
                await self._wait_for_more()
                if recording is not None and (recording.done() or goes_first):
                    await recording  # what went wrong is raised here
                    recording = None
                batch, robots = self._buffer.take(self._pages * TOGETHER)
                self._update_events()
                if batch or robots:
                    prepared = await self._prepare(batch)
                    if recording is not None:
                        await recording
                    recording = asyncio.create_task(self._record_one(prepared, batch, robots))
                    recording.add_done_callback(self._note_end)
                    goes_first = prepared.goes_first
            if recording is not None:
                await recording
        finally:
            if recording is not None:
                await cancel({recording})

    async def _record_one(self, prepared: P, batch: Sequence[Outcome], robots: Sequence[RobotsCopy]) -> None:
        await self._record(prepared, robots)
        self._buffer.written(batch, robots)
        self._on_room()

    def _note_end(self, recording: asyncio.Task[None]) -> None:
        """Of one that failed whoever waits for the next batch hears at once."""
        if not recording.cancelled() and recording.exception() is not None:
            self._arrived.set()
            self._full.set()

    async def _wait_for_more(self) -> None:
        if not self._full.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._wait_s):
                    await self._full.wait()

    def _update_events(self) -> None:
        if self.backlog < self._pages and not self._is_finishing:
            self._full.clear()
        if not self.backlog and not self._is_finishing:
            self._arrived.clear()
