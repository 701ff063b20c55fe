"""Orders as an operator gives them: each in a transaction of its own, on a database whose promises are then asked."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from tests.ground import Ground

from forager.explain.check import check
from forager.tasks import service as tasks
from forager.tasks.submit import TaskOrder, submit
from forager.tasks.transitions import TaskState

BY: dict[str, Any] = {"by": "test"}
VERBS: dict[str, Callable[..., Awaitable[TaskState]]] = {
    "pause": tasks.pause,
    "resume": tasks.resume,
    "cancel": tasks.cancel,
    "restart": tasks.restart,
    "priority": partial(tasks.set_priority, priority=1),
}


async def do(conn: Any, verb: str, task: int, **more: Any) -> TaskState:
    async with conn.transaction():
        return await VERBS[verb](conn, task, **BY | more)


async def close(ground: Ground, task: int, outcome: str = "failed", code: int | None = None) -> None:
    """As a worker would, counters and all."""
    row = await ground.task(task)
    await ground.conn.execute("UPDATE crawl_tasks SET status = 'crawling' WHERE id = $1 AND status <> 'crawling'", task)
    is_good = outcome == "success"
    await ground.conn.execute(
        "UPDATE crawl_tasks SET status = $2::text::task_status, outcome = $3::text::task_outcome, completed_at = now(),"
        " locked_at = NULL, locked_by = NULL, run_id = NULL,"
        " status_code = $4, error_code = $5, blame = $6 WHERE id = $1",
        task,
        "completed" if is_good else "failed",
        outcome,
        200 if is_good else code,
        None if is_good else "timeout",
        None if is_good else "site",
    )
    was_waiting = (await ground.page(row["page_id"]))["status"] == "queued"
    state = "fetched" if is_good else "gone" if code == 404 else "failed"
    await ground.conn.execute("UPDATE pages SET status = $2::text::page_status WHERE id = $1", row["page_id"], state)
    await ground.conn.execute(
        "UPDATE domains SET frontier_size = frontier_size - $2, pages_crawled = pages_crawled + $3,"
        " total_error_count = total_error_count + $4 WHERE id = $1",
        row["domain_id"],
        int(was_waiting),
        int(is_good),
        int(not is_good),
    )


async def order(conn: Any, url: str, **more: Any) -> TaskState:
    async with conn.transaction():
        done = await submit(conn, [TaskOrder(url, **more)], **BY)
    return done.tasks[0]


async def broken(conn: Any) -> dict[str, tuple[str, ...]]:
    """Promises that are not kept."""
    async with conn.transaction(isolation="repeatable_read", readonly=True):
        verdicts = await check(conn)
    return {f.name: f.examples for verdict in verdicts for f in verdict.findings if f.broken}
