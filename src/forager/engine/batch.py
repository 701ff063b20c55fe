"""A batch of outcomes on its way into the database, and what features write with it.

    prepare   runs before the record, in separate transactions: rows that any worker may write
    record    one transaction under the leases of the batch; features take part at fixed points of it

The points are fixed because the order of statements is the order of locks: a different order would deadlock.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from forager.frontier.enqueue import EnqueueResult
from forager.frontier.models import Outcome
from forager.links.repetition import TrapCandidate


class BatchPart:
    """What one feature writes with one batch: nothing, unless it overrides a method. A transaction may be retried, and
    these calls are repeated with it."""

    async def drop_deleted(self, _conn: Any, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
        """Returns the outcomes without pages that were deleted since the batch was prepared."""
        return outcomes

    async def record_before_pages(self, _conn: Any, _done: Sequence[Outcome]) -> Mapping[int, int]:
        """Runs before the visits of pages are written. Returns domain → number of images seen for the first time."""
        return {}

    async def record_after_pages(self, _conn: Any, _done: Sequence[Outcome], _page_ids: Mapping[bytes, int]) -> None:
        """Runs after pages and links are written; `page_ids` maps URL keys to page ids."""

    async def record_last(self, _conn: Any, _done: Sequence[Outcome]) -> None:
        """Runs last, for rows that several workers write, so that they are locked only briefly."""

    def commit(self) -> None:
        """Called after the record was committed."""


class BatchRecorder(Protocol):
    """A feature that writes something with every batch."""

    async def prepare(self, outcomes: Sequence[Outcome]) -> BatchPart:
        """Does the work that precedes the record, after links are enqueued."""

    def clear(self) -> None:
        """Clears what it has cached about pages, because some were deleted."""


class Draft(NamedTuple):
    """A prepared batch, ready to be recorded."""

    outcomes: Sequence[Outcome]
    learned: EnqueueResult
    parts: Sequence[BatchPart] = ()
    suspicions: Sequence[tuple[int, TrapCandidate]] = ()
    """Suspected traps, each with its domain."""
    domains_with_new_pages: Sequence[int] = ()
    """Domains whose new pages may be claimed now, before the pages they were found on are recorded."""

    @property
    def goes_first(self) -> bool:
        """Returns whether this batch must be recorded before more is enqueued: it may close a trap."""
        return bool(self.suspicions)


class Recorded(NamedTuple):
    """The result of recording a batch."""

    written: Mapping[tuple[int, int], int]
    """Lease → number of its outcomes that were written."""
    held: Mapping[tuple[int, int], bool]
    """Leases that are still ours → whether crawling of their domains may continue."""
