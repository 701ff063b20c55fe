"""Pages with the same content as another page of their domain: a canonical URL, or a twin under another scheme or www.

Only what was read and compared counts: a site that names its home page as canonical everywhere, or one that is gone,
marks nothing. Links of a duplicate are followed like any other; it is only not revisited on its own.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection
from forager.frontier.models import Outcome
from forager.urls.normalize import url_key

SQL = statements.load("forager.frontier", "duplicates.sql")


class Compared(NamedTuple):
    """A page that was compared with another one of its domain."""

    page_id: int
    domain_id: int
    url: str
    other_url: str | None
    """None: it was deleted."""
    is_twin: bool
    is_same: bool
    duplicate_of: int | None
    """What the page is a duplicate of now."""
    was: int | None

    @property
    def is_freed(self) -> bool:
        """Whether the page was a duplicate until now."""
        return self.was is not None and self.duplicate_of is None


class Twin(NamedTuple):
    """Where the same page may be known under another scheme or host."""

    page_id: int
    key: bytes
    is_better: bool | None
    """Whether the site is known under that URL; None: the older page is better."""


MARK_DUPLICATES = Query(SQL["mark_duplicates"], Compared)


async def mark_duplicates(conn: Connection, outcomes: Sequence[Outcome], twins: Sequence[Twin] = ()) -> list[Compared]:
    """Compares the pages of a batch that were read, or that are no longer read, with their canonical URLs and twins."""
    visited = [outcome for outcome in outcomes if _is_compared(outcome)]
    if not visited:
        return []
    return await MARK_DUPLICATES.fetch(
        conn,
        [outcome.target.page_id for outcome in visited],
        [_canonical_key(outcome) for outcome in visited],
        [outcome.target.past is None or bool(outcome.is_changed) for outcome in visited],
        [twin.page_id for twin in twins],
        [twin.key for twin in twins],
        [twin.is_better for twin in twins],
    )


async def revisit_freed(conn: Connection, page_ids: Iterable[int]) -> None:
    page_ids = sorted(page_ids)
    if page_ids:
        await conn.execute(SQL["revisit_freed"], page_ids)


def _is_compared(outcome: Outcome) -> bool:
    """Whether a visit may have changed what is a duplicate of what: a page was read, or one that was read is gone."""
    return not outcome.target.is_image and (outcome.reading is not None or outcome.target.past is not None)


def _canonical_key(outcome: Outcome) -> bytes | None:
    canonical = outcome.reading.canonical if outcome.reading is not None else None
    return url_key(canonical) if canonical is not None and canonical != outcome.target.url else None
