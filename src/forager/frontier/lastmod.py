"""Decides how far to trust a domain's sitemaps when they claim that a page changed. Decisions are pure; one statement
writes.

The next visit of a page tests every claim: the page had changed, or it had not. A domain is trusted at first, and as
long as at least half of its claims were true. The number of visits that its claims may bring forward at once grows with
the claims that proved true, so that a sitemap that says "today" for 50,000 pages costs a handful of visits and not
50,000.
"""

from collections.abc import Sequence
from datetime import datetime

from forager.db import statements
from forager.db.types import Connection

SQL = statements.load("forager.frontier", "lastmod.sql")
FAITH, FAITH_OF = 4, 5
"""Prior: as if four of five claims had been true. Four consecutive false claims end the trust."""
BELIEVED_FROM = 0.5
FIRST_CLAIMS = 20
"""Claims per sitemap that are accepted before any was tested, and that are tested where the domain is not trusted."""
CLAIMS_PER_TRUTH = 10


def is_trusted(claims: int, truths: int) -> bool:
    return (truths + FAITH) / (claims + FAITH_OF) >= BELIEVED_FROM


def most_claims(claims: int, truths: int) -> int:
    """Returns how many claims of one sitemap are recorded. Claims of an untrusted domain are still tested, at its
    regular visits."""
    return FIRST_CLAIMS + (CLAIMS_PER_TRUTH * truths if is_trusted(claims, truths) else 0)


async def note_claims(
    conn: Connection, domain_id: int, claimed: Sequence[tuple[int, datetime]], *, claims: int, truths: int
) -> int:
    """Records claims (page, time of change). Returns the number of visits that were brought forward. The caller holds
    the domain's lease."""
    rows = await conn.fetch(
        SQL["note_claims"],
        domain_id,
        [page for page, _ in claimed],
        [at for _, at in claimed],
        most_claims(claims, truths),
        is_trusted(claims, truths),
    )
    return len(rows)
