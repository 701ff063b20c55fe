"""Keeps the search server up to date: sends pending changes, continues an index build, deletes old indexes.

The job does this every few seconds, `forager reindex` until it is done.
"""

from collections.abc import Callable
from dataclasses import dataclass

from forager import clock
from forager.db.query import fetch_one
from forager.db.types import Connection
from forager.search import rebuild
from forager.search.bulk_index import SQL, push_changes
from forager.search.names import Names
from forager.search.server import SearchServer

MOST_COUNTED = 1_000_000


@dataclass(frozen=True, slots=True)
class SyncResult:
    changes: int = 0
    """Sent from the outbox."""
    filled: int = 0
    """Sent to a new index."""
    is_building: bool = False
    """An index is still being built."""
    is_busy: bool = False
    """The server accepted no more, or another process is sending."""


@dataclass(frozen=True, slots=True)
class SyncStatus:
    """The synchronisation status according to the database."""

    has_live: bool
    is_building: bool
    waiting: int
    refused: int


async def read_sync_status(conn: Connection) -> SyncStatus:
    builds = await rebuild.read_builds(conn)
    return SyncStatus(
        any(build.state == "live" for build in builds),
        any(build.state == "building" for build in builds),
        await conn.fetchval(SQL["count_changes"], MOST_COUNTED),
        await conn.fetchval(SQL["count_refused"]),
    )


async def read_rejected(conn: Connection) -> tuple[int, str]:
    """Returns the number of rejected documents, and the latest reason."""
    row = await fetch_one(conn, SQL["sum_refused"])
    return row["documents"], row["reason"] or ""


async def sync(
    conn: Connection,
    server: SearchServer,
    names: Names,
    *,
    within_s: float,
    on_step: Callable[[SyncResult], None] = lambda _tended: None,
) -> SyncResult:
    """Syncs until everything is done or the time is used up. Starts a build if there is no index. Raises
    SearchServerError; what was sent until then is not sent again."""
    until = clock.monotonic() + within_s
    await rebuild.drop_builds(conn, await rebuild.find_missing(conn, server, names))
    changes = filled = 0
    is_busy, is_building = False, await _has_to_build(conn)
    while not is_busy:
        pushed = await push_changes(conn, server, names)
        await rebuild.drop_builds(conn, sorted(pushed.missing))
        step = await rebuild.take_step(conn, server, names) if is_building else rebuild.Step(is_idle=True)
        changes, filled = changes + pushed.changes, filled + step.documents
        is_building = await _has_to_build(conn)
        is_busy = pushed.is_busy or step.is_busy
        on_step(SyncResult(changes, filled, is_building, is_busy))
        is_done = not pushed.changes and not pushed.missing and not is_building
        if is_done or clock.monotonic() > until:
            break
    if not is_busy:
        await rebuild.prune(conn, server, names)
    return SyncResult(changes, filled, is_building, is_busy)


async def _has_to_build(conn: Connection) -> bool:
    """Starts a build if no index is live and none is being built."""
    states = {build.state for build in await rebuild.read_builds(conn)}
    if not states & {"building", "live"}:
        await rebuild.begin(conn)
        return True
    return "building" in states
