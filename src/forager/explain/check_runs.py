"""Runs of `check` as jobs: who started the latest one, its progress, and its result."""

import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from typing import Any

from forager.db import statements
from forager.db.rows import Row
from forager.db.types import Connection, Pool
from forager.errors import ConflictError
from forager.explain.check import PROMISES, PromiseResult

SQL = statements.load("forager.explain", "check_runs.sql")
BEAT_S = 5.0
SILENT_S = 60.0
"""A check whose process has not reported for this time is over: the process is gone."""
KEPT = 20
TOTAL = sum(len(promise.statements) for promise in PROMISES) + 1


async def begin(conn: Connection, *, by: str, has_files: bool, is_deep: bool = False) -> Row:
    """Starts a check. Needs a transaction. Only one check runs at a time, over all processes."""
    await conn.execute(SQL["take_turn"])
    row = await conn.fetchrow(SQL["begin"], by, has_files, TOTAL, SILENT_S, is_deep)
    if row is None:
        raise ConflictError("A check is under way; GET /api/check shows how far it is.", "check_running")
    await conn.execute(SQL["forget_old"], KEPT)
    return _job(row)


async def update_progress(conn: Connection, check_id: int, done: int) -> None:
    await conn.execute(SQL["beat"], check_id, done)


async def finish(
    conn: Connection, check_id: int, done: int, *, error: str | None = None, result: Row | None = None
) -> None:
    await conn.execute(SQL["finish"], check_id, done, error, json.dumps(result) if result is not None else None)


async def newest(conn: Connection) -> Row | None:
    row = await conn.fetchrow(SQL["newest"], SILENT_S)
    return _job(row) if row is not None else None


def result_of(verdicts: Sequence[PromiseResult]) -> Row:
    return {
        "is_kept": not any(verdict.broken for verdict in verdicts),
        "promises": [
            {
                "promise": verdict.promise.number,
                "sentence": verdict.promise.sentence,
                "broken": verdict.broken,
                "findings": [asdict(finding) for finding in verdict.findings],
            }
            for verdict in verdicts
        ],
    }


def _job(row: Any) -> Row:
    found = dict(row)
    is_running, result = found.pop("is_running"), found["result"]
    if found["ended_at"] is not None:
        state = "failed" if found["error"] is not None else "finished"
    else:
        state = "running" if is_running else "interrupted"
    return {"state": state, **found, "result": json.loads(result) if result is not None else None}


class Progress:
    """Progress of a check: the number of completed queries."""

    def __init__(self) -> None:
        self.done = 0


class CountedPool:
    """A pool whose connections count their queries."""

    def __init__(self, pool: Pool, progress: Progress) -> None:
        self._pool = pool
        self._progress = progress

    @contextlib.asynccontextmanager
    async def acquire(self) -> AsyncIterator[Any]:
        async with self._pool.acquire() as conn:
            yield _Counted(conn, self._progress)


class _Counted:
    def __init__(self, conn: Connection, progress: Progress) -> None:
        self._conn = conn
        self._progress = progress

    async def fetch(self, *arguments: Any, **named: Any) -> Any:
        found = await self._conn.fetch(*arguments, **named)
        self._progress.done += 1
        return found

    async def fetchrow(self, *arguments: Any, **named: Any) -> Any:
        found = await self._conn.fetchrow(*arguments, **named)
        self._progress.done += 1
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._conn, name)
