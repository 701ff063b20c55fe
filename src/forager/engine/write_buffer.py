"""The queue between requests and the writer: what a worker has fetched and not yet written. Bounded, in memory.

While the database is away it fills. A request may start only if what it brings still fits, together with what all other
open requests bring; so the number of outcomes is never above the limit. Their size is known when they are there: the
limit in bytes may be passed by what was under way when it was reached.
"""

import asyncio
import contextlib
from collections.abc import Sequence

from forager.domains.store import RobotsCopy
from forager.engine.config import BufferConfig
from forager.frontier.models import Outcome

LINK_BYTES = 400
"""Of one discovered link: a tuple, its URL, its key and its anchor (measured on the playground's sites)."""
OUTCOME_BYTES = 2000
TOGETHER = 2
"""Batches that are written as one, where so many came while the ones before were written: a page costs less in a large
batch, and what is behind catches up."""


class WriteBuffer:
    def __init__(self, config: BufferConfig) -> None:
        self._config = config
        self._kept = 0
        self._kept_bytes = 0
        """With what is being written: it may still fail."""
        self._outcomes: list[Outcome] = []
        self._robots: list[RobotsCopy] = []
        self._arrived = asyncio.Event()
        self._full = asyncio.Event()
        self._is_closing = False

    @property
    def is_open(self) -> bool:
        """More may come, or something is left to write."""
        return not self._is_closing or bool(self._outcomes or self._robots)

    @property
    def is_empty(self) -> bool:
        """Nothing is left to write, nor being written: no lease is needed for it any more."""
        return not self._kept

    @property
    def backlog(self) -> int:
        return len(self._outcomes)

    @property
    def is_behind(self) -> bool:
        """The writer is so far behind that no new targets are claimed."""
        return self.backlog > 4 * self._config.batch_pages

    @property
    def is_due(self) -> bool:
        """What is here is a batch, or is to be written without waiting for more."""
        return self._full.is_set()

    def has_room(self, under_way: int) -> bool:
        """Whether another request may start, besides those under way: what it brings could be kept."""
        return self._kept + under_way < self._config.buffer_pages and self._kept_bytes < self._config.buffer_bytes

    # filled by requests

    def add(self, outcome: Outcome) -> None:
        self._kept += 1
        self._kept_bytes += size_of(outcome)
        self._outcomes.append(outcome)
        self._arrived.set()
        if self.backlog >= self._config.batch_pages:
            self._full.set()

    def add_robots(self, copy: RobotsCopy) -> None:
        self._kept += 1
        self._kept_bytes += len(copy.text or "")
        self._robots.append(copy)
        self._arrived.set()

    def flush(self) -> None:
        """Nothing more will come before what is here is written."""
        if self.backlog:
            self._full.set()

    def close(self) -> None:
        """Nothing more will come at all."""
        self._is_closing = True
        self.interrupt()

    # emptied by the writer

    async def wait_batch(self) -> None:
        """Returns when a batch is due: it is full, its time has come, or nothing more will come."""
        await self._arrived.wait()
        if not self._full.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._config.batch_interval_s):
                    await self._full.wait()

    def interrupt(self) -> None:
        """Ends a wait for the next batch."""
        self._arrived.set()
        self._full.set()

    def take(self) -> tuple[list[Outcome], list[RobotsCopy]]:
        """Returns what is to be written next; it counts until it is written."""
        most = self._config.batch_pages * TOGETHER
        batch, self._outcomes = self._outcomes[:most], self._outcomes[most:]
        robots, self._robots = self._robots, []
        if not self._is_closing:
            if self.backlog < self._config.batch_pages:
                self._full.clear()
            if not self.backlog:
                self._arrived.clear()
        return batch, robots

    def remove(self, batch: Sequence[Outcome], robots: Sequence[RobotsCopy]) -> None:
        """They are written."""
        self._kept -= len(batch) + len(robots)
        self._kept_bytes -= sum(map(size_of, batch)) + sum(len(copy.text or "") for copy in robots)


def size_of(outcome: Outcome) -> int:
    """About how much memory it takes: links are what makes it large."""
    reading = outcome.reading
    text = len(reading.text) + len(reading.headings) + len(reading.structured_data) if reading else 0
    links = len(outcome.selection.links) + (len(reading.links) if reading else 0)
    body = outcome.stored.buffer_bytes if outcome.stored else 0
    return OUTCOME_BYTES + text + LINK_BYTES * links + body
