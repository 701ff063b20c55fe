"""Orders as an operator gives them: each in a transaction of its own, on a database whose promises are then asked."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

from tests.factories import ENDS
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
    """As a worker would, counters and all; it failed by a timeout unless another code or outcome is given."""
    end = ENDS["successful"] if outcome == "success" else replace(ENDS["timed_out"], outcome=outcome, status_code=code)
    if code == 404:
        end = replace(end, page_status="gone")
    await ground.new_task.close(task, end, run_id=None)


async def order(conn: Any, url: str, **more: Any) -> TaskState:
    async with conn.transaction():
        done = await submit(conn, [TaskOrder(url, **more)], **BY)
    return done.tasks[0]


async def broken(conn: Any) -> dict[str, tuple[str, ...]]:
    """Promises that are not kept."""
    async with conn.transaction(isolation="repeatable_read", readonly=True):
        verdicts = await check(conn)
    return {f.name: f.examples for verdict in verdicts for f in verdict.findings if f.broken}
