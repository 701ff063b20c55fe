"""Operations on the search server for operators: rebuild its index, stop using it, show its status."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from forager.db.types import Connection
from forager.search import rebuild
from forager.search.bulk_index import SQL
from forager.search.names import Names
from forager.search.service import ExternalSearch
from forager.search.sync import SyncResult, SyncStatus, read_sync_status, sync

ROUND_S = 2.0
"""Interval between two progress checks."""
BUSY_S = 1.0
MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class RejectedItem:
    kind: str
    id: int
    reason: str


@dataclass(frozen=True, slots=True)
class ReindexResult:
    changes: int
    filled: int
    standing: SyncStatus


async def reindex(
    conn: Connection,
    elsewhere: ExternalSearch,
    *,
    anew: bool = False,
    on_progress: Callable[[SyncResult], None] = lambda _tended: None,
) -> ReindexResult:
    """Runs until a new index is live and nothing waits. Resumes a build in progress; `anew` abandons it. Raises
    SearchServerError; the next call then resumes."""
    if anew:
        begun = [build.name for build in await rebuild.read_builds(conn) if build.state == "building"]
        await rebuild.drop_builds(conn, begun)
    await rebuild.begin(conn)
    changes = filled = 0
    while True:
        so_far = changes, filled

        def show(done: SyncResult, so_far: tuple[int, int] = so_far) -> None:
            on_progress(SyncResult(so_far[0] + done.changes, so_far[1] + done.filled, done.is_building, done.is_busy))

        done = await sync(conn, elsewhere.server, elsewhere.names, within_s=ROUND_S, on_step=show)
        changes, filled = changes + done.changes, filled + done.filled
        if not done.is_building and not done.is_busy:
            return ReindexResult(changes, filled, await read_sync_status(conn))
        if done.is_busy:
            await asyncio.sleep(BUSY_S)


async def leave(conn: Connection, elsewhere: ExternalSearch | None, prefix: str) -> None:
    """Switches back to PostgreSQL. If no server is available, its indexes stay there."""
    await rebuild.switch_off(conn, elsewhere.server if elsewhere else None, Names(prefix))


async def list_rejected(conn: Connection) -> list[RejectedItem]:
    return [
        RejectedItem(row["kind"], row["id"], row["reason"]) for row in await conn.fetch(SQL["read_refused"], MOST_SHOWN)
    ]
