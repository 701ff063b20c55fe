"""A closed task never changes: the database itself refuses, except to an audited purge."""

import asyncpg
import pytest
from tests.ground import Ground

pytestmark = pytest.mark.both_servers

CHANGES = {
    "outcome": "UPDATE crawl_tasks SET outcome = 'failed', status = 'failed'",
    "status code": "UPDATE crawl_tasks SET status_code = 404",
    "reopening": "UPDATE crawl_tasks SET outcome = NULL, completed_at = NULL, status = 'pending'",
    "nothing at all": "UPDATE crawl_tasks SET priority = priority",
    "deleting": "DELETE FROM crawl_tasks",
    "deleting its page": "DELETE FROM pages",
}


@pytest.fixture
async def closed(ground: Ground) -> int:
    return await ground.new_task.successful()


@pytest.mark.parametrize("change", CHANGES)
async def test_a_closed_task_refuses(ground: Ground, closed: int, change: str) -> None:
    before = await ground.task(closed)
    with pytest.raises(asyncpg.CheckViolationError, match=f"task {closed} is closed"):
        await ground.conn.execute(CHANGES[change])
    assert await ground.task(closed) == before


async def test_a_purge_may_delete_and_only_in_its_own_transaction(ground: Ground, closed: int) -> None:
    async with ground.conn.transaction():
        await ground.conn.execute("SET LOCAL forager.purge = 'on'")
        await ground.conn.execute("UPDATE crawl_tasks SET bytes = 1")
    with pytest.raises(asyncpg.CheckViolationError):
        await ground.conn.execute("DELETE FROM crawl_tasks")
    async with ground.conn.transaction():
        await ground.conn.execute("SET LOCAL forager.purge = 'on'")
        await ground.conn.execute("DELETE FROM crawl_tasks")
    assert await ground.task(closed) is None


async def test_an_open_task_may_change_and_go(ground: Ground) -> None:
    task = await ground.new_task.pending()
    await ground.conn.execute("UPDATE crawl_tasks SET priority = 1 WHERE id = $1", task)
    await ground.conn.execute("DELETE FROM crawl_tasks WHERE id = $1", task)
    assert await ground.task(task) is None


async def test_a_page_has_one_open_task_at_most(ground: Ground) -> None:
    domain = await ground.a_domain(pages=1)
    page = await ground.conn.fetchval("SELECT id FROM pages WHERE domain_id = $1", domain)
    await ground.a_task(page)
    with pytest.raises(asyncpg.UniqueViolationError):
        await ground.a_task(page)
