"""What a worker puts down is written before the lease it hangs on is handed back, whoever came first."""

import asyncio

import pytest
from tests.builders import a_lane
from tests.ground import Ground

from forager.db.database import Database
from forager.engine.signals import TaskSignals

BLOCKED = """SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0"""


@pytest.mark.both_servers
async def test_who_comes_later_waits_for_what_is_being_written(ground: Ground, database: Database) -> None:
    domain = await ground.a_domain(pages=1)
    worker = await ground.a_worker()
    lease = await ground.a_lease(domain, worker)
    queue = a_lane(domain, version=lease.version)
    calls = TaskSignals(database, {domain: queue}, worker=lambda: worker, on_freed=lambda: None)
    calls.abandon(queue, [1])
    async with ground.conn.transaction(), asyncio.timeout(30), asyncio.TaskGroup() as group:
        await ground.conn.execute("SELECT FROM domains FOR UPDATE")
        first = group.create_task(calls.obey())
        while not await database.pool.fetchval(BLOCKED):  # noqa: ASYNC110 (a database tells nobody)
            await asyncio.sleep(0.01)
        later = group.create_task(calls.obey())
        for _ in range(3):
            await asyncio.sleep(0)
        assert not first.done()
        assert not later.done()
        await ground.conn.execute("ROLLBACK; BEGIN")
