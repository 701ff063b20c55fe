"""Snapshots that no visit brought or confirmed for some weeks are deleted.

In two steps, each safe to be killed in: first the database gives them up, then their files go. A visit that brings one
again in between takes it back, and its file is left because it is fresh.
"""

from typing import Any

from forager.scheduler.config import SchedulerConfig
from forager.scheduler.text import things
from forager.storage import store as bodies

NAME = "bodies"
EVERY_S = 3600.0
BATCH = 1000
MOST_BATCHES = 100
"""In one round; the rest waits for the next, so that other duties have their turn."""


async def run_once(conn: Any, order: SchedulerConfig) -> str:
    for _ in range(MOST_BATCHES):
        if await bodies.drop_old(conn, older_than_s=order.body_retention_s, limit=BATCH) < BATCH:
            break
    deleted, after = 0, (bodies.BEGINNING, "")
    for _ in range(MOST_BATCHES):
        dropped = await bodies.find_dropped(conn, after=after, limit=BATCH)
        if not dropped:
            break
        gone = await order.delete_bodies([name for name, _ in dropped])
        await bodies.note_deleted(conn, gone)
        deleted += len(gone)
        name, at = dropped[-1]
        after = at, name
    return f"{things(deleted, 'body', 'bodies')} deleted"
