"""The scores of all domains, made anew. The formula itself is `domain_score` in the schema; here is only the walk."""

from forager.db.types import Connection
from forager.domains import store

BATCH = 20_000
"""Domains looked at in one statement; about half a second."""


async def score_all(conn: Connection, *, is_scored: bool, batch: int = BATCH) -> int:
    """How many scores were written. Each batch is a transaction of its own, unless the caller opened one."""
    written, last = 0, 0
    while True:
        found, count = await store.score_domains(conn, after=last, limit=batch, is_scored=is_scored)
        written += count
        if found is None:
            return written
        last = found
