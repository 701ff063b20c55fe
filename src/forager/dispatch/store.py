"""One short function per statement of `queries.sql`. Opens no transactions: the caller does."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from forager.db import statements
from forager.db.types import Connection, Row
from forager.dispatch.message import CrawlHint

SQL = statements.load("forager.dispatch")


class ServedRun(NamedTuple):
    id: int
    is_standing: bool
    max_pages_per_domain: int | None


class QueuedHint(NamedTuple):
    """A hint, and the queue it is sent to."""

    hint: CrawlHint
    is_urgent: bool


class Depth(NamedTuple):
    messages: int
    consumers: int


async def runs_to_serve(conn: Connection) -> list[ServedRun]:
    return [ServedRun(*row) for row in await conn.fetch(SQL["runs_to_serve"])]


async def delete_stale_offers(conn: Connection) -> None:
    await conn.execute(SQL["delete_stale_offers"])


async def count_offers(conn: Connection, run: int) -> int:
    found: int = await conn.fetchval(SQL["count_offers"], run)
    return found


async def renew_offers(conn: Connection, run: int, *, older_than_s: float, lost: int) -> list[QueuedHint]:
    return _build_hints(await conn.fetch(SQL["renew_offers"], run, older_than_s, lost))


async def make_offers(conn: Connection, run: ServedRun, window: int) -> list[QueuedHint]:
    """Creates offers until `window` are open for each label. Committed before they are sent: an offer that was not
    sent is sent again."""
    return _build_hints(await conn.fetch(SQL["make_offers"], run.id, run.max_pages_per_domain, window))


async def seconds_since_poll(conn: Connection) -> float | None:
    """Returns how many seconds ago the scheduler last read all queues of the broker; None: never."""
    age: float | None = await conn.fetchval(SQL["seconds_since_poll"])
    return age


async def delete_offers(conn: Connection, hints: Sequence[CrawlHint]) -> None:
    if hints:
        await conn.execute(SQL["delete_offers"], [h.domain_id for h in hints], [h.version for h in hints])


async def delete_all_offers(conn: Connection) -> None:
    await conn.execute(SQL["delete_all_offers"])


async def keep_depths(conn: Connection, depths: Mapping[str, Depth]) -> None:
    """Stores the depths by the kind of queue."""
    messages, consumers = [d.messages for d in depths.values()], [d.consumers for d in depths.values()]
    await conn.execute(SQL["keep_depths"], list(depths), messages, consumers)


async def read_depths(conn: Connection) -> list[dict[str, Any]]:
    return [dict(row) for row in await conn.fetch(SQL["read_depths"])]


def _build_hints(rows: Sequence[Row]) -> list[QueuedHint]:
    return [QueuedHint(CrawlHint(row["run_id"], row["domain_id"], row["version"]), row["is_urgent"]) for row in rows]
