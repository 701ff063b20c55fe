"""A batch of outcomes on its way into the database, and the part that features have in it.

    prepare   what comes before the record, in transactions of its own: rows that any worker may touch
    record    one transaction under the leases of the batch; features take part at fixed points of it

The points are fixed because the order of statements is the order of locks: another one would deadlock.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from forager.frontier.enqueue import EnqueueResult
from forager.frontier.models import Outcome
from forager.links.repetition import TrapCandidate


class BatchPart:
    """What one feature writes with one batch; nothing, unless it overrides a method. A transaction may be repeated, and
    with it these calls."""

    async def drop_deleted(self, _conn: Any, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
        """Pages were deleted since the batch was prepared: returns the outcomes without what is gone."""
        return outcomes

    async def record_before_pages(self, _conn: Any, _done: Sequence[Outcome]) -> Mapping[int, int]:
        """Comes before the visits of pages are written. Returns domain → images that were never seen before."""
        return {}

    async def record_after_pages(self, _conn: Any, _done: Sequence[Outcome], _page_ids: Mapping[bytes, int]) -> None:
        """Comes after pages and links are written; `page_ids` are by the keys of URLs."""

    async def record_last(self, _conn: Any, _done: Sequence[Outcome]) -> None:
        """Comes last, for rows that several workers write: they are locked for a moment only."""

    def commit(self) -> None:
        """The record was committed."""


class BatchRecorder(Protocol):
    """A feature that writes something with every batch."""

    async def prepare(self, outcomes: Sequence[Outcome]) -> BatchPart:
        """Does what comes before the record, once links are enqueued."""

    def clear(self) -> None:
        """Forgets what it remembers of pages: some were deleted."""


class Draft(NamedTuple):
    """A batch that can be recorded."""

    outcomes: Sequence[Outcome]
    learned: EnqueueResult
    parts: Sequence[BatchPart] = ()
    suspicions: Sequence[tuple[int, TrapCandidate]] = ()
    """Of traps, in which domains."""
    domains_with_new_pages: Sequence[int] = ()
    """Domains whose new pages may be claimed now, before the pages they were found on are recorded."""

    @property
    def goes_first(self) -> bool:
        """A trap is closed before anything more is enqueued that may lie in it."""
        return bool(self.suspicions)


class Recorded(NamedTuple):
    """What became of a batch."""

    written: Mapping[tuple[int, int], int]
    """Lease → how many outcomes of it were written."""
    held: Mapping[tuple[int, int], bool]
    """Leases that are still ours → whether their domains may be crawled on."""
