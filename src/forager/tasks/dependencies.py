"""Releases or cancels tasks that wait for other tasks when those are closed.

When the other task is completed, they wait for a worker. When it failed for good or was cancelled, they are cancelled
too, or continue all the same, as the setting `dependents` says. Works in bounded batches, each in a transaction of the
caller; safe to run at any time, by any process.
"""

from collections import defaultdict

from forager.db.types import Connection
from forager.domains import tasks as domains
from forager.frontier import tasks as frontier
from forager.frontier.task_status import TaskStatus
from forager.tasks.transitions import cancel_locked, hold

LIMIT = 500
BY = "dependency"


async def release_finished(conn: Connection, *, goes_on: bool = False) -> int:
    """Returns how many tasks were released or cancelled; if that is a full batch, there may be more. `goes_on`: also
    release them after a failure."""
    found = await frontier.find_finished_dependencies(conn, limit=LIMIT)
    if not found:
        return 0
    held = {task.id: task for task in await hold(conn, [each.id for each in found])}
    still = [each for each in found if held[each.id].status is TaskStatus.PAUSED]
    freed = [each.id for each in still if each.outcome == "success" or (goes_on and held[each.id].is_waiting)]
    await domains.expect_visits(conn, await frontier.release_waiting(conn, freed), {})
    failed = defaultdict(list)
    for each in still:
        if each.outcome != "success" and not goes_on:
            failed[f"task {each.depends_on}, which it depends on, ended {each.outcome}"].append(held[each.id])
    for reason, tasks in failed.items():
        await cancel_locked(conn, tasks, by=BY, reason=reason)
    return len(freed) + sum(map(len, failed.values()))
