"""Pause, resume, cancel, restart, priority: what each does, twice the same, in every state, and to many at once."""

import asyncio
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from tests.ground import Ground
from tests.integration.tasks.desk import BY, VERBS, broken, close, do, order

from forager import clock
from forager.domains.store import Keeping, Release, release
from forager.errors import ConflictError, NotFoundError, UsageError
from forager.frontier.task_status import TaskStatus
from forager.tasks import batches
from forager.tasks import bulk as tasks_many
from forager.tasks import service as tasks
from forager.tasks.bulk import TaskFilter
from forager.tasks.submit import TaskOrder, submit

URL = "http://a.example/x"


async def frontier_of(ground: Ground, task: int) -> int:
    size: int = (await ground.domain((await ground.task(task))["domain_id"]))["frontier_size"]
    return size


# one by one ----------------------------------------------------------------------------------------------------------


async def test_pause_and_resume(ground: Ground) -> None:
    task = (await order(ground.conn, URL)).task_id
    paused = await do(ground.conn, "pause", task, reason="too busy")
    assert (paused.status, paused.was_changed) == (TaskStatus.PAUSED, True)
    again = await do(ground.conn, "pause", task)
    assert (again.status, again.was_changed) == (TaskStatus.PAUSED, False)
    assert not await broken(ground.conn)
    resumed = await do(ground.conn, "resume", task)
    assert (resumed.status, resumed.was_changed, resumed.retry_count) == (TaskStatus.PENDING, True, 0)
    again = await do(ground.conn, "resume", task)
    assert (again.status, again.was_changed) == (TaskStatus.PENDING, False)
    assert not await broken(ground.conn)


async def test_resuming_is_for_now(ground: Ground) -> None:
    later = clock.now() + timedelta(days=3)
    task = (await order(ground.conn, URL, scheduled_for=later)).task_id
    await do(ground.conn, "pause", task)
    assert (await do(ground.conn, "resume", task)).scheduled_for < later - timedelta(days=2)


async def test_every_order_is_written_down(ground: Ground) -> None:
    task = (await order(ground.conn, URL)).task_id
    await do(ground.conn, "pause", task, reason="too busy")
    await do(ground.conn, "resume", task)
    await do(ground.conn, "priority", task)
    await do(ground.conn, "cancel", task, reason="not wanted")
    found = await tasks.orders(ground.conn, task)
    moves = [(o["verb"], o["from_status"], o["to_status"], o["reason"]) for o in reversed(found)]
    assert moves == [
        ("submit", None, "pending", None),
        ("pause", "pending", "paused", "too busy"),
        ("resume", "paused", "pending", None),
        ("priority", "pending", "pending", "priority 1"),
        ("cancel", "pending", "cancelled", "not wanted"),
    ]
    assert {o["ordered_by"] for o in found} == {"test"}


async def test_a_cancelled_page_leaves_the_frontier_and_is_not_claimed_again(ground: Ground) -> None:
    run = await ground.a_run()
    task = (await order(ground.conn, URL)).task_id
    done = await do(ground.conn, "cancel", task, reason="not wanted")
    assert done.status is TaskStatus.CANCELLED
    row = await ground.task(task)
    assert (row["outcome"], row["error_message"]) == ("cancelled", "cancelled by test: not wanted")
    assert (await ground.page(row["page_id"]))["status"] == "blocked"
    assert await frontier_of(ground, task) == 0
    lease = await ground.a_lease(row["domain_id"], await ground.a_worker(run))
    assert await ground.targets(lease, 1, run) == []
    assert not (await do(ground.conn, "cancel", task)).was_changed


async def test_a_cancelled_retry_leaves_the_page_where_the_visit_before_left_it(ground: Ground) -> None:
    task = (await order(ground.conn, URL)).task_id
    await close(ground, task, "blocked_4xx", 404)
    again = await do(ground.conn, "restart", task)
    await do(ground.conn, "cancel", again.task_id)
    assert (await ground.page((await ground.task(task))["page_id"]))["status"] == "gone"
    assert not await broken(ground.conn)


async def test_a_cancelled_revisit_leaves_the_page_as_it_was_read(ground: Ground) -> None:
    task = (await order(ground.conn, URL)).task_id
    await close(ground, task, "success")
    again = await order(ground.conn, URL)
    await do(ground.conn, "cancel", again.task_id)
    assert (await ground.page((await ground.task(task))["page_id"]))["status"] == "fetched"
    assert not await broken(ground.conn)


@pytest.mark.parametrize("outcome", ["success", "failed"])
async def test_a_closed_task_does_not_change(ground: Ground, outcome: str) -> None:
    task = (await order(ground.conn, URL)).task_id
    await close(ground, task, outcome)
    before = dict(await ground.task(task))
    for verb in ("pause", "resume", "cancel", "priority"):
        with pytest.raises(ConflictError, match="what is closed never changes"):
            await do(ground.conn, verb, task)
    assert dict(await ground.task(task)) == before


@pytest.mark.parametrize("verb", VERBS)
async def test_an_unknown_task_is_not_found(ground: Ground, verb: str) -> None:
    with pytest.raises(NotFoundError, match="There is no task 4711"):
        await do(ground.conn, verb, 4711)
    with pytest.raises(NotFoundError, match="There is no task 4711"):
        await tasks.describe(ground.conn, 4711)


# restart -------------------------------------------------------------------------------------------------------------


async def test_a_restart_is_a_new_task(ground: Ground) -> None:
    task = (await order(ground.conn, URL, priority=7, max_retries=1, webhook_url="http://h.example/")).task_id
    await ground.conn.execute("UPDATE crawl_tasks SET retry_count = 3")
    await close(ground, task)
    before = dict(await ground.task(task))
    done = await do(ground.conn, "restart", task)
    assert (done.status, done.retry_count, done.priority, done.was_changed) == (TaskStatus.PENDING, 0, 7, True)
    new = await ground.task(done.task_id)
    assert (new["parent_task_id"], new["max_retries"], new["webhook_url"]) == (task, 1, "http://h.example/")
    assert dict(await ground.task(task)) == before
    assert await frontier_of(ground, task) == 1
    assert not await broken(ground.conn)


async def test_a_restart_twice_is_one_task(ground: Ground) -> None:
    task = (await order(ground.conn, URL)).task_id
    await close(ground, task)
    one, two = await do(ground.conn, "restart", task), await do(ground.conn, "restart", task)
    assert one.task_id == two.task_id
    assert (one.was_changed, two.was_changed) == (True, False)
    assert await frontier_of(ground, task) == 1


async def test_a_second_restart_says_and_records_what_it_changed(ground: Ground) -> None:
    """It used to move the waiting task to another day, or behind others, and to answer that nothing was changed."""
    task = (await order(ground.conn, URL)).task_id
    await close(ground, task)
    later = datetime(2036, 12, 30, tzinfo=UTC)
    first = await do(ground.conn, "restart", task, scheduled_at=later, priority=1)
    plain = await do(ground.conn, "restart", task)
    assert (plain.task_id, plain.was_changed) == (first.task_id, False)
    assert (plain.scheduled_for, plain.priority) == (later, 1)
    assert plain.message.endswith("it keeps its time and priority, as the restart names none.")
    now = await do(ground.conn, "restart", task, scheduled_at=clock.now())
    assert (now.task_id, now.was_changed, now.scheduled_for < later) == (first.task_id, True, True)
    assert "instead of 2036-12-30" in now.message
    last = await do(ground.conn, "restart", task, priority=9, scheduled_at=now.scheduled_for)
    assert (last.was_changed, last.priority) == (True, 9)
    assert last.message.endswith("now priority 9 instead of 1.")
    same = await do(ground.conn, "restart", task, priority=9, scheduled_at=now.scheduled_for)
    assert (same.was_changed, same.message) == (False, f"Was open for the page of task {task} already.")
    orders = await tasks.orders(ground.conn, first.task_id)
    assert sum(order["verb"] == "restart" for order in orders) == 3


async def test_many_restarts_at_once_are_one_task(pool: asyncpg.Pool, ground: Ground) -> None:
    task = (await order(ground.conn, URL)).task_id
    await close(ground, task)

    async def one() -> int:
        async with pool.acquire() as conn:
            return (await do(conn, "restart", task)).task_id

    assert len(set(await asyncio.gather(*(one() for _ in range(6))))) == 1
    assert not await broken(ground.conn)


async def test_a_restart_may_keep_its_tries_and_be_for_later(ground: Ground) -> None:
    task = (await order(ground.conn, URL)).task_id
    await ground.conn.execute("UPDATE crawl_tasks SET retry_count = 2")
    await close(ground, task)
    later = clock.now() + timedelta(days=1)
    done = await do(ground.conn, "restart", task, reset_retry_count=False, priority=1, scheduled_at=later)
    assert (done.retry_count, done.priority, done.scheduled_for) == (2, 1, later)
    assert (await ground.domain((await ground.task(task))["domain_id"]))["frontier_size"] == 1
    assert not await broken(ground.conn)


async def test_an_open_task_is_restarted_by_force_only(ground: Ground) -> None:
    task = (await order(ground.conn, URL)).task_id
    with pytest.raises(ConflictError, match="is pending; force cancels it"):
        await do(ground.conn, "restart", task)
    done = await do(ground.conn, "restart", task, force=True)
    assert done.task_id != task
    assert (await ground.task(task))["outcome"] == "cancelled"
    assert (await do(ground.conn, "restart", task, force=True)).task_id == done.task_id
    assert await frontier_of(ground, task) == 1
    assert not await broken(ground.conn)


async def test_failed_tasks_are_restarted_by_filter(ground: Ground) -> None:
    states = [await order(ground.conn, f"http://{name}.example/{n}") for name in "ab" for n in range(3)]
    for state in states:
        await close(ground, state.task_id)
    chosen = await tasks_many.restart_failed(ground.conn, domain="a.example", limit=2, dry_run=True, **BY)
    assert ([task.domain for task in chosen.tasks], chosen.is_dry, chosen.is_all) == (["a.example"] * 2, True, False)
    assert await ground.conn.fetchval("SELECT count(*) FROM crawl_tasks WHERE outcome IS NULL") == 0
    for wanted, filters in (
        (0, {"error_code": "dns_error"}),
        (0, {"failed_after": clock.now() + timedelta(hours=1)}),
        (2, {"domain": "a.example", "limit": 2}),
        (1, {"domain": "a.example", "limit": 2}),
        (3, {"error_code": "timeout", "failed_after": clock.now() - timedelta(hours=1)}),
        (0, {}),
    ):
        async with ground.conn.transaction():
            done = await tasks_many.restart_failed(ground.conn, **BY | filters)
        assert len(done.tasks) == wanted, filters
    assert not await broken(ground.conn)


@pytest.mark.parametrize("limit", [0, -1, 10_001])
async def test_a_bulk_order_has_a_limit(ground: Ground, limit: int) -> None:
    with pytest.raises(UsageError, match="1 to 10000 tasks"):
        await tasks_many.restart_failed(ground.conn, limit=limit, **BY)


# many ----------------------------------------------------------------------------------------------------------------


async def test_many_are_paused_resumed_and_cancelled(ground: Ground) -> None:
    async with ground.conn.transaction():
        made = await submit(ground.conn, [TaskOrder(f"http://a.example/{n}") for n in range(5)], batch="b", **BY)
    other = await order(ground.conn, "http://b.example/")
    everything = TaskFilter(batch_id=made.batch_id)
    dry = await tasks_many.pause_many(ground.conn, everything, dry_run=True, **BY)
    assert (len(dry.tasks), {task.status for task in dry.tasks}) == (5, {TaskStatus.PENDING})
    for verb, status in (
        (tasks_many.pause_many, TaskStatus.PAUSED),
        (tasks_many.resume_many, TaskStatus.PENDING),
        (tasks_many.cancel_many, TaskStatus.CANCELLED),
    ):
        async with ground.conn.transaction():
            done = await verb(ground.conn, everything, **BY)
            again = await verb(ground.conn, everything, **BY)
        assert (len(done.tasks), {task.status for task in done.tasks}, len(again.tasks)) == (5, {status}, 0)
        assert not await broken(ground.conn)
    assert (await ground.task(other.task_id))["status"] == "pending"


async def test_which_tasks_has_to_be_said() -> None:
    with pytest.raises(UsageError, match="Say which tasks"):
        TaskFilter()


async def test_the_priority_of_a_domain_is_also_that_of_pages_without_a_task(ground: Ground) -> None:
    domain = await ground.a_domain(pages=2)
    task = await order(ground.conn, "http://a.example/1")
    async with ground.conn.transaction():
        done = await tasks_many.set_priority_many(ground.conn, TaskFilter(domain="www.a.example"), 2, **BY)
    assert [state.task_id for state in done.tasks] == [task.task_id]
    found = await ground.conn.fetch("SELECT priority FROM pages WHERE domain_id = $1 AND status = 'discovered'", domain)
    assert [row["priority"] for row in found] == [2]


@pytest.mark.parametrize("priority", [0, 11])
async def test_there_are_ten_priorities(ground: Ground, priority: int) -> None:
    task = (await order(ground.conn, URL)).task_id
    with pytest.raises(UsageError, match="1 is the first, 10 the last"):
        await tasks.set_priority(ground.conn, task, priority, **BY)


async def test_a_new_priority_counts_in_the_next_claim(ground: Ground) -> None:
    run = await ground.a_run()
    async with ground.conn.transaction():
        made = await submit(ground.conn, [TaskOrder(f"http://a.example/{n}") for n in range(3)], **BY)
    await do(ground.conn, "priority", made.tasks[2].task_id)
    domain = (await ground.task(made.tasks[0].task_id))["domain_id"]
    worker = await ground.a_worker(run)
    targets = await ground.targets(await ground.a_lease(domain, worker), worker, run, want=1)
    assert [target.task_id for target in targets] == [made.tasks[2].task_id]


# batches -------------------------------------------------------------------------------------------------------------


async def test_a_batch_shows_where_it_stands_and_is_restarted_as_a_whole(ground: Ground) -> None:
    async with ground.conn.transaction():
        made = await submit(ground.conn, [TaskOrder(f"http://a.example/{n}") for n in range(4)], batch="b", **BY)
    first, second, third, _ = (task.task_id for task in made.tasks)
    await close(ground, first, "success")
    await close(ground, second)
    await do(ground.conn, "pause", third)
    found = await batches.describe_batch(ground.conn, "b")
    counts = {name: found[name] for name in ("pages", "open", "paused", "completed", "failed", "cancelled")}
    assert counts == {"pages": 4, "open": 2, "paused": 1, "completed": 1, "failed": 1, "cancelled": 0}
    assert made.batch_id is not None
    dry = await tasks_many.restart_batch(ground.conn, made.batch_id, dry_run=True, **BY)
    assert {task.task_id for task in dry.tasks} == {first, second}
    async with ground.conn.transaction():
        done = await tasks_many.restart_batch(ground.conn, made.batch_id, **BY)
        again = await tasks_many.restart_batch(ground.conn, made.batch_id, **BY)
    assert (len(done.tasks), len(again.tasks)) == (2, 0)
    assert (await batches.describe_batch(ground.conn, made.batch_id))["open"] == 4
    assert [row["name"] for row in await batches.list_batches(ground.conn)] == ["b"]
    with pytest.raises(NotFoundError, match="no batch 'x'"):
        await batches.describe_batch(ground.conn, "x")
    assert not await broken(ground.conn)


async def test_a_task_is_described_with_its_past(ground: Ground) -> None:
    task = (await order(ground.conn, URL)).task_id
    await close(ground, task)
    new = await do(ground.conn, "restart", task, reason="once more")
    told = await tasks.describe(ground.conn, new.task_id)
    assert (told["url"], told["domain"], told["parent_task_id"]) == (URL, "a.example", task)
    assert [row["id"] for row in told["history"]] == [new.task_id, task]
    assert [row["reason"] for row in told["orders"]] == ["once more"]


async def test_tasks_are_counted_by_state(ground: Ground) -> None:
    task = (await order(ground.conn, URL)).task_id
    await order(ground.conn, "http://a.example/y")
    await close(ground, task)
    counted = await tasks.count(ground.conn, since=clock.now() - timedelta(days=1))
    assert {row["status"]: row["tasks"] for row in counted} == {"pending": 1, "failed": 1}
    assert [(row["average_s"], row["waiting_s"]) for row in counted if row["status"] == "pending"] == [(None, None)]


async def test_the_duration_of_a_task_is_not_its_wait(ground: Ground) -> None:
    await ground.new_task.failed(
        URL,
        created_at="(now() - interval '1 day')",
        scheduled_for="(now() - interval '1 hour')",
        requested_at="(now() - interval '2 seconds')",
    )
    [row] = await tasks.count(ground.conn, since=clock.now() - timedelta(days=1))
    assert 1.9 < row["average_s"] < 60
    assert 3500 < row["waiting_s"] < 3600


async def test_what_a_robots_txt_forbids_is_not_restarted_with_what_failed(ground: Ground) -> None:
    task = (await order(ground.conn, URL)).task_id
    await close(ground, task, "blocked_robots")
    async with ground.conn.transaction():
        chosen = await tasks_many.restart_failed(ground.conn, dry_run=True, **BY)
        asked_for = await tasks_many.restart_failed(ground.conn, error_code="timeout", dry_run=True, **BY)
    assert ([each.task_id for each in chosen.tasks], [each.task_id for each in asked_for.tasks]) == ([], [task])


# domains with paused tasks around ------------------------------------------------------------------------------------


async def test_a_domain_with_only_paused_tasks_rests_and_does_not_spin(ground: Ground) -> None:
    run = await ground.a_run()
    task = (await order(ground.conn, URL)).task_id
    await do(ground.conn, "pause", task)
    domain = (await ground.task(task))["domain_id"]
    await ground.conn.execute("UPDATE domains SET run_id = $1, status = 'active' WHERE id = $2", run, domain)
    worker = await ground.a_worker(run)
    lease = await ground.a_lease(domain, worker)
    assert await ground.targets(lease, worker, run) == []
    await release(ground.conn, [Release(lease, 0.0)], max_depth=10, patterns=(None, None, None), keeping=Keeping())
    found = await ground.domain(domain)
    assert (found["status"], found["ready_at"], found["is_due"], found["frontier_size"]) == ("active", None, False, 1)
    assert not await broken(ground.conn)
    await do(ground.conn, "resume", task)
    assert (await ground.domain(domain))["is_due"]
    assert not await broken(ground.conn)
