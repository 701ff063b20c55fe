"""What was ordered for a task is kept by its worker, and by the tasks that follow it."""

from typing import Any

import pytest
from tests.integration.engine.stage import Stage, WatchedSite, serve
from tests.integration.tasks.desk import BY

from forager.db.database import Database
from forager.engine.transaction_retry import in_transaction
from forager.runs.models import Scope
from forager.tasks.submit import TaskOrder, submit
from forager_playground import Answer
from forager_playground.answer import refuse

pytestmark = pytest.mark.timeout(90)
HOOK = "http://hook.example/"


async def visit(database: Database, site: WatchedSite, **order: Any) -> list[Any]:
    """All tasks of the site's first page, after one visit that was ordered for it."""
    async with serve(site) as web:
        stage = await Stage.open(database, web, scope=Scope.PAGE)
        orders = [TaskOrder(web.urls[0], **order)]
        await in_transaction(database, lambda conn: submit(conn, orders, batch="b", **BY))
        await stage.work(longest_wait_s=0.1)
        rows = await stage.fetch("SELECT *, status::text, outcome::text FROM crawl_tasks ORDER BY id")
        assert await stage.broken_promises() == {}
        return rows


def always_503(_path: str, _count: int) -> Answer | None:
    return refuse(503, "Later", retry_after_s=1, is_stable=False)


async def test_a_task_may_have_no_other_try(database: Database) -> None:
    (row,) = await visit(database, WatchedSite(1, on_request=always_503), max_retries=0)
    assert (row["status"], row["max_retries"]) == ("failed", 0)


async def test_another_try_keeps_what_was_ordered(database: Database) -> None:
    order = {"max_retries": 1, "webhook_url": HOOK, "revisit_every_s": 3600.0, "priority": 2}
    first, second = await visit(database, WatchedSite(1, on_request=always_503), **order)
    assert (second["parent_task_id"], second["retry_count"], second["recrawl_count"]) == (first["id"], 1, 0)
    for name in ("max_retries", "webhook_url", "revisit_every_s", "batch_id", "priority"):
        assert second[name] == first[name] is not None


async def test_whoever_waits_for_a_task_waits_for_its_other_try(database: Database) -> None:
    async with serve(WatchedSite(1, on_request=always_503)) as web:
        stage = await Stage.open(database, web, scope=Scope.PAGE)
        done = await in_transaction(database, lambda conn: submit(conn, [TaskOrder(web.urls[0])], **BY))
        first = done.tasks[0].task_id
        second = TaskOrder("http://other.example/", depends_on=first)
        waiting = (await in_transaction(database, lambda conn: submit(conn, [second], **BY))).tasks[0].task_id
        await stage.work(longest_wait_s=0.1)
        rows = await stage.fetch("SELECT id, parent_task_id, depends_on FROM crawl_tasks")
    follower = next(row["id"] for row in rows if row["parent_task_id"] == first)
    assert next(row["depends_on"] for row in rows if row["id"] == waiting) == follower


async def test_a_task_may_have_a_frequency_of_its_own(database: Database) -> None:
    first, second = await visit(database, WatchedSite(1), revisit_every_s=7200.0, webhook_url=HOOK)
    assert (first["status"], second["status"], second["created_by"]) == ("completed", "pending", "revisit")
    wait_s = (second["scheduled_for"] - first["completed_at"]).total_seconds()
    assert 7190 < wait_s < 7210
    assert (second["recrawl_count"], second["retry_count"], second["parent_task_id"]) == (1, 0, first["id"])
    assert (second["revisit_every_s"], second["webhook_url"], second["batch_id"]) == (7200.0, HOOK, None)


async def test_a_task_may_be_the_last_one(database: Database) -> None:
    (row,) = await visit(database, WatchedSite(1), revisit_every_s=7200.0, is_recurring=False)
    assert row["status"] == "completed"
