"""Recomputes the scores of all domains in batches. The formula is the SQL function `score_terms`."""

from forager.db.types import Connection
from forager.domains import store

BATCH = 20_000
"""Domains per statement; about half a second."""


async def score_all(conn: Connection, *, is_scored: bool, batch: int = BATCH) -> int:
    """Returns the number of scores written. Each batch is its own transaction, unless the caller opened one."""
    written, last = 0, 0
    while True:
        found, count = await store.score_domains(conn, after=last, limit=batch, is_scored=is_scored)
        written += count
        if found is None:
            return written
        last = found
