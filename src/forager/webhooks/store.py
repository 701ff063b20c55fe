"""The webhook outbox, one short function per statement of `queries.sql`, and the retry schedule.

To notify a receiver, call `add` in the transaction that makes the change. The job `webhooks` delivers the call at least
once: a receiver that must not act twice deduplicates by the number in `Forager-Delivery`. Opens no transactions: the
caller does.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from forager.db import statements
from forager.db.types import Connection

SQL = statements.load("forager.webhooks")
FIRST_PAUSE_S = 10.0
LONGEST_PAUSE_S = 3600.0
GIVEN_UP_AFTER_S = 86400.0
LONGEST_ERROR = 500


class DueCall(NamedTuple):
    id: int
    kind: str
    url: str
    tries: int
    age_s: float
    payload: str
    """A JSON document."""


class CallResult(NamedTuple):
    """The result of one call."""

    call: DueCall
    status_code: int | None
    error: str | None
    """None: the receiver accepted it."""
    is_hopeless: bool = False
    """No retry can succeed."""


def next_pause_s(tries: int, age_s: float) -> float | None:
    """Returns the seconds until the next attempt after `tries` attempts: 10, 20, 40 … up to an hour. Returns None
    when the call would be more than a day old by then: it is given up."""
    pause_s = min(FIRST_PAUSE_S * float(2 ** min(tries - 1, 20)), LONGEST_PAUSE_S)
    return pause_s if age_s + pause_s <= GIVEN_UP_AFTER_S else None


async def add(conn: Connection, url: str, payload: Mapping[str, Any], *, kind: str = "alert") -> int:
    number: int = await conn.fetchval(SQL["add_call"], kind, json.dumps(payload, default=str), url)
    return number


async def take_due(conn: Connection, *, most: int, most_per_url: int, again_after_s: float) -> list[DueCall]:
    rows = await conn.fetch(SQL["take_due_calls"], most, most_per_url, again_after_s, most * 20)
    return [DueCall(*row) for row in rows]


async def note(conn: Connection, heard: Sequence[CallResult]) -> None:
    taken = [each for each in heard if each.error is None]
    if taken:
        await conn.execute(
            SQL["note_delivered"], [each.call.id for each in taken], [each.status_code for each in taken]
        )
    missed = [each for each in heard if each.error is not None]
    if missed:
        await conn.execute(
            SQL["note_undelivered"],
            [each.call.id for each in missed],
            [each.status_code for each in missed],
            [(each.error or "")[:LONGEST_ERROR] for each in missed],
            [None if each.is_hopeless else next_pause_s(each.call.tries, each.call.age_s) for each in missed],
        )


async def retry_calls(conn: Connection, call_ids: Sequence[int] | None = None) -> int:
    """Retries calls that were given up, the given ones or all. Returns their number."""
    revived: int = await conn.fetchval(SQL["revive_calls"], call_ids)
    return revived


async def list_calls(
    conn: Connection, *, state: str | None, before: int | None = None, limit: int
) -> list[dict[str, Any]]:
    return [dict(row) for row in await conn.fetch(SQL["list_calls"], state, before, limit)]
