"""Batches: tasks that were submitted together under a name. `submit` creates them, `bulk.restart_batch` restarts
them, and the other functions of `bulk` pause, resume and cancel them."""

from forager.db.query import fetch_one
from forager.db.rows import Row
from forager.db.types import Connection
from forager.errors import NotFoundError
from forager.tasks.transitions import SQL


async def list_batches(conn: Connection, *, before: int | None = None, limit: int = 50) -> list[Row]:
    """Returns batches, newest first, each with the states of its pages; `before` is a batch id, for the next page of
    the list."""
    return [dict(row) for row in await conn.fetch(SQL["list_batches"], None, before, limit)]


async def describe_batch(conn: Connection, batch: int | str) -> Row:
    """Returns one batch, by its number or its name."""
    found = await find_batch(conn, batch)
    return dict(await fetch_one(conn, SQL["list_batches"], found["id"], None, 1))


async def find_batch(conn: Connection, batch: int | str) -> Row:
    number = batch if isinstance(batch, int) else int(batch) if batch.isdecimal() and len(batch) < 19 else None
    rows = await conn.fetch(SQL["find_batch"], number, None if isinstance(batch, int) else batch)
    if not rows:
        raise NotFoundError(f"There is no batch {batch!r}; `forager batches` lists them.")
    return dict(min(rows, key=lambda row: row["name"] != batch))
