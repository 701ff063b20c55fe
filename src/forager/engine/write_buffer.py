"""The queue between requests and the writer: what a worker has fetched and not yet written. Bounded, in memory.

It fills while the database is unavailable. A request may start only if its outcome still fits, together with those of
all other open requests; so the number of outcomes never exceeds the limit. Their size is known only on arrival: the
limit in bytes may be exceeded by the requests in flight when it was reached.
"""

import asyncio
import contextlib
from collections.abc import Sequence

from forager.domains.store import RobotsCopy
from forager.engine.config import BufferConfig
from forager.frontier.models import Outcome

LINK_BYTES = 400
"""Size of one discovered link: a tuple, its URL, its key and its anchor (measured on the playground's sites)."""
OUTCOME_BYTES = 2000
TOGETHER = 2
"""Maximum number of batches written as one, if they arrived while earlier ones were written: a page costs less in a
large batch, and the backlog shrinks."""


class WriteBuffer:
    def __init__(self, config: BufferConfig) -> None:
        self._config = config
        self._kept = 0
        self._kept_bytes = 0
        """Includes what is being written, since that may still fail."""
        self._outcomes: list[Outcome] = []
        self._robots: list[RobotsCopy] = []
        self._arrived = asyncio.Event()
        self._full = asyncio.Event()
        self._is_closing = False

    @property
    def is_open(self) -> bool:
        """Returns whether more outcomes may arrive, or some are left to write."""
        return not self._is_closing or bool(self._outcomes or self._robots)

    @property
    def is_empty(self) -> bool:
        """Returns whether nothing is left to write or being written: no lease is needed for it any more."""
        return not self._kept

    @property
    def backlog(self) -> int:
        return len(self._outcomes)

    @property
    def is_behind(self) -> bool:
        """Returns whether the writer is so far behind that no new targets are claimed."""
        return self.backlog > 4 * self._config.batch_pages

    @property
    def is_due(self) -> bool:
        """Returns whether the content is a full batch, or is to be written without waiting for more."""
        return self._full.is_set()

    def has_room(self, under_way: int) -> bool:
        """Returns whether the outcome of another request would fit, besides those of requests in flight."""
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
        """Requests an immediate write: nothing more arrives before this content is written."""
        if self.backlog:
            self._full.set()

    def close(self) -> None:
        """Closes the buffer: nothing more will arrive."""
        self._is_closing = True
        self.interrupt()

    # emptied by the writer

    async def wait_batch(self) -> None:
        """Returns when a batch is due: it is full, its time has come, or nothing more will arrive."""
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
        """Returns what is to be written next; it counts towards the limits until it is written."""
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
        """Removes a batch that was written."""
        self._kept -= len(batch) + len(robots)
        self._kept_bytes -= sum(map(size_of, batch)) + sum(len(copy.text or "") for copy in robots)


def size_of(outcome: Outcome) -> int:
    """Returns its approximate memory size, which depends mostly on its links."""
    reading = outcome.reading
    text = len(reading.text) + len(reading.headings) + len(reading.structured_data) if reading else 0
    links = len(outcome.selection.links) + (len(reading.links) if reading else 0)
    body = outcome.stored.buffer_bytes if outcome.stored else 0
    return OUTCOME_BYTES + text + LINK_BYTES * links + body
