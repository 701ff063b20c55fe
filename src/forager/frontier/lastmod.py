"""How far a domain's sitemaps are believed when they say that a page changed. Decisions are pure; one statement acts.

Every claim is tested by the next visit of its page: it had changed, or it had not. A domain is believed at first, and
as long as at least half of what it claimed was true. How many visits its claims may bring forward at once grows with
what proved true, so that a sitemap that says "today" of 50,000 pages costs a handful of visits and not 50,000.
"""

from collections.abc import Sequence
from datetime import datetime

from forager.db import statements
from forager.db.types import Connection

SQL = statements.load("forager.frontier", "lastmod.sql")
FAITH, FAITH_OF = 4, 5
"""Before anything is known: as if four of five claims had been true. Four lies in a row end it."""
BELIEVED_FROM = 0.5
FIRST_CLAIMS = 20
"""Of one sitemap: taken before any was tested, and tested where the domain is not believed."""
CLAIMS_PER_TRUTH = 10


def is_trusted(claims: int, truths: int) -> bool:
    return (truths + FAITH) / (claims + FAITH_OF) >= BELIEVED_FROM


def most_claims(claims: int, truths: int) -> int:
    """How many claims of one sitemap are noted. Who is not believed is still tested, at the visits that come anyway."""
    return FIRST_CLAIMS + (CLAIMS_PER_TRUTH * truths if is_trusted(claims, truths) else 0)


async def note_claims(
    conn: Connection, domain_id: int, claimed: Sequence[tuple[int, datetime]], *, claims: int, truths: int
) -> int:
    """Page and when it changed; answers how many visits come nearer. The caller holds the domain's lease."""
    rows = await conn.fetch(
        SQL["note_claims"],
        domain_id,
        [page for page, _ in claimed],
        [at for _, at in claimed],
        most_claims(claims, truths),
        is_trusted(claims, truths),
    )
    return len(rows)
