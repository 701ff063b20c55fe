"""Deletes stored bodies that no visit returned or confirmed for some weeks.

Two steps, each safe to kill: first the database drops them, then their files are deleted. A visit that returns one
again in between restores its row, and its file is kept because it is fresh.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from forager import clock
from forager.config.settings import Settings
from forager.scheduler.job import Job, JobContext, Loop
from forager.scheduler.text import things
from forager.storage import store as bodies
from forager.storage.factory import get_location
from forager.storage.refs import key_of

BATCH = 1000
MOST_BATCHES = 100
"""Limit of one run; the rest is left to the next, so that other jobs can run."""
FRESH = timedelta(days=1)


class BodiesJob(Job):
    name = "bodies"
    interval_s = 3600.0
    loop = Loop.SLOW

    async def run(self, context: JobContext) -> str:
        conn, settings = context.connection, context.settings
        for _ in range(MOST_BATCHES):
            if await bodies.drop_old(conn, older_than_s=settings.retention.bodies, limit=BATCH) < BATCH:
                break
        deleted, after = 0, (bodies.BEGINNING, "")
        for _ in range(MOST_BATCHES):
            dropped = await bodies.find_dropped(conn, after=after, limit=BATCH)
            if not dropped:
                break
            gone = await delete_bodies(settings, [name for name, _ in dropped])
            await bodies.note_deleted(conn, gone)
            deleted += len(gone)
            name, at = dropped[-1]
            after = at, name
        return f"{things(deleted, 'body', 'bodies')} deleted"


async def delete_bodies(settings: Settings, names: Sequence[str]) -> list[str]:
    """Deletes files and returns the names of the deleted ones. Files that were stored or confirmed in the last day are
    kept: a visit may be about to refer to them."""
    by_key = {key_of(name): name for name in names}
    gone = await asyncio.to_thread(get_location(settings).delete, list(by_key), unless_since=clock.now() - FRESH)
    return [by_key[key] for key in gone]
