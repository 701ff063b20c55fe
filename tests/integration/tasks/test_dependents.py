"""Tasks that wait for other tasks: they go on when those are completed, and end when those fail."""

from typing import Any

import pytest
from tests.ground import Ground
from tests.integration.scheduler.stage import a_context
from tests.integration.tasks.desk import BY, broken, close, do, order

from forager.frontier.task_status import TaskStatus
from forager.tasks import bulk as tasks_many
from forager.tasks.bulk import TaskFilter
from forager.tasks.dependencies import LIMIT, release_finished
from forager.tasks.jobs import DependenciesJob
from forager.tasks.submit import TaskOrder, submit

FIRST, SECOND, THIRD = (f"http://{name}.example/" for name in "abc")


async def settled(ground: Ground, **more: Any) -> int:
    async with ground.conn.transaction():
        return await release_finished(ground.conn, **more)


@pytest.fixture
async def pair(ground: Ground) -> tuple[int, int]:
    first = (await order(ground.conn, FIRST)).task_id
    return first, (await order(ground.conn, SECOND, depends_on=first)).task_id


async def test_nothing_happens_while_the_first_is_open(ground: Ground, pair: tuple[int, int]) -> None:
    assert await settled(ground) == 0
    assert (await ground.task(pair[1]))["status"] == "paused"


async def test_the_second_goes_on_when_the_first_is_completed(ground: Ground, pair: tuple[int, int]) -> None:
    await close(ground, pair[0], "success")
    assert await settled(ground) == 1
    row = await ground.task(pair[1])
    assert (row["status"], row["is_waiting"]) == ("pending", False)
    assert (await ground.domain(row["domain_id"]))["is_due"]
    assert await settled(ground) == 0
    assert not await broken(ground.conn)


@pytest.mark.parametrize("end", ["failed", "cancelled"])
async def test_the_second_is_cancelled_when_the_first_does_not_make_it(
    ground: Ground, pair: tuple[int, int], end: str
) -> None:
    third = (await order(ground.conn, THIRD, depends_on=pair[1])).task_id
    await (do(ground.conn, "cancel", pair[0]) if end == "cancelled" else close(ground, pair[0]))
    assert await DependenciesJob().run(a_context(ground.conn)) == "2 tasks settled"
    row = await ground.task(pair[1])
    words = f"cancelled by dependency: task {pair[0]}, which it depends on, ended {end}"
    assert (row["outcome"], row["error_message"]) == ("cancelled", words)
    assert (await ground.task(third))["outcome"] == "cancelled"
    assert (await ground.domain(row["domain_id"]))["frontier_size"] == 0
    assert not await broken(ground.conn)


async def test_or_it_runs_all_the_same(ground: Ground, pair: tuple[int, int]) -> None:
    await close(ground, pair[0])
    assert await DependenciesJob().run(a_context(ground.conn, crawl_dependents="run")) == "1 task settled"
    assert (await ground.task(pair[1]))["status"] == "pending"


async def test_what_is_restarted_is_waited_for_again(ground: Ground, pair: tuple[int, int]) -> None:
    new = await do(ground.conn, "restart", pair[0], force=True)
    assert (await ground.task(pair[1]))["depends_on"] == new.task_id
    assert await settled(ground) == 0
    await close(ground, new.task_id, "success")
    assert await settled(ground) == 1


async def test_a_person_may_pause_what_waits(ground: Ground, pair: tuple[int, int]) -> None:
    first, second = pair
    assert (await do(ground.conn, "pause", second)).was_changed
    await close(ground, first, "success")
    assert await settled(ground) == 0
    assert (await do(ground.conn, "resume", second)).status is TaskStatus.PENDING


async def test_resumed_it_waits_again_while_the_first_is_open(ground: Ground, pair: tuple[int, int]) -> None:
    first, second = pair
    await do(ground.conn, "pause", second)
    told = await do(ground.conn, "resume", second)
    assert (told.status, told.message) == (TaskStatus.PAUSED, f"Waits for task {first}.")
    assert (await ground.task(second))["is_waiting"]
    assert not (await do(ground.conn, "resume", second)).was_changed


async def test_resuming_many_leaves_what_waits(ground: Ground, pair: tuple[int, int]) -> None:
    async with ground.conn.transaction():
        done = await tasks_many.resume_many(ground.conn, TaskFilter(pair), **BY)
    assert done.tasks == ()
    assert (await ground.task(pair[1]))["is_waiting"]


async def test_more_than_a_portion_is_settled_in_one_go(ground: Ground) -> None:
    first = (await order(ground.conn, FIRST)).task_id
    orders = [TaskOrder(f"http://b{n % 9}.example/{n}", depends_on=first) for n in range(LIMIT + 20)]
    async with ground.conn.transaction():
        await submit(ground.conn, orders, **BY)
    await close(ground, first, "success")
    told = await DependenciesJob().run(a_context(ground.conn))
    assert told == f"{LIMIT + 20} tasks settled"
    assert not await broken(ground.conn)
