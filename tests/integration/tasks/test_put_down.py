"""What a worker puts down is written before the lease it hangs on is handed back, whoever came first."""

import asyncio

import pytest
from tests.builders import a_lane, an_order, queues_of
from tests.ground import Ground

from forager.db.database import Database
from forager.engine.abandoned_tasks import AbandonedTasks
from forager.engine.claims import Claims
from forager.engine.signals import TaskSignals

BLOCKED = """SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0"""


@pytest.mark.both_servers
async def test_who_comes_later_waits_for_what_is_being_written(ground: Ground, database: Database) -> None:
    domain = await ground.a_domain(pages=1)
    worker = await ground.a_worker()
    lease = await ground.a_lease(domain, worker)
    queue = a_lane(domain, version=lease.version)
    config, abandoned = an_order(), AbandonedTasks()
    claims = Claims(database, config.run, config.lease)
    signals = TaskSignals(database, queues_of(worker, queue), claims, abandoned)
    abandoned.add(queue, [1])
    async with ground.conn.transaction(), asyncio.timeout(30), asyncio.TaskGroup() as group:
        await ground.conn.execute("SELECT FROM domains FOR UPDATE")
        first = group.create_task(signals.write_abandoned())
        while not await database.pool.fetchval(BLOCKED):  # noqa: ASYNC110 (a database tells nobody)
            await asyncio.sleep(0.01)
        later = group.create_task(signals.write_abandoned())
        for _ in range(3):
            await asyncio.sleep(0)
        assert not first.done()
        assert not later.done()
        await ground.conn.execute("ROLLBACK; BEGIN")
