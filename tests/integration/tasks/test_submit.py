"""Visits that are ordered: new pages, known ones, twice the same, many at once."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest
from tests.ground import Ground
from tests.integration.tasks.desk import BY, broken, order

from forager import clock
from forager.errors import ConflictError, NotFoundError, UsageError
from forager.frontier import tasks as frontier
from forager.frontier.task_status import TaskStatus
from forager.politeness.guard import AddressGuard
from forager.tasks import service as tasks
from forager.tasks.submit import TaskOrder, submit

URL = "http://a.example/x"


async def test_a_new_url_becomes_a_task_that_waits(ground: Ground) -> None:
    done = await order(ground.conn, "HTTP://A.example:80/x#part", priority=2)
    assert (done.url, done.domain, done.status, done.priority) == (URL, "a.example", TaskStatus.PENDING, 2)
    assert done.was_changed
    row = await ground.task(done.task_id)
    assert (row["created_by"], row["retry_count"], row["is_recurring"]) == ("test", 0, True)
    domain = await ground.domain(row["domain_id"])
    assert (domain["frontier_size"], domain["pages_discovered"], domain["is_due"]) == (1, 1, True)
    assert not await broken(ground.conn)


async def test_without_a_priority_it_is_five(ground: Ground) -> None:
    assert (await order(ground.conn, URL)).priority == 5


async def test_the_same_order_twice_is_one_task(ground: Ground) -> None:
    first = await order(ground.conn, URL, priority=3, max_retries=1, webhook_url="http://hook.example/")
    again = await order(ground.conn, URL, priority=3, max_retries=1, webhook_url="http://hook.example/")
    assert again.task_id == first.task_id
    assert not again.was_changed
    assert await ground.conn.fetchval("SELECT count(*) FROM crawl_tasks") == 1
    assert not await broken(ground.conn)


async def test_a_second_order_hurries_an_open_task_and_never_slows_it(ground: Ground) -> None:
    later = clock.now() + timedelta(days=1)
    first = await order(ground.conn, URL, priority=3, scheduled_for=later)
    same = await order(ground.conn, URL, priority=8, scheduled_for=later + timedelta(days=1))
    assert (same.was_changed, same.message) == (False, "It was open already.")
    assert (await ground.task(first.task_id))["scheduled_for"] == later
    sooner = await order(ground.conn, URL, priority=1)
    assert (sooner.task_id, sooner.priority, sooner.was_changed) == (first.task_id, 1, True)
    assert sooner.scheduled_for < later
    assert sooner.message.endswith("priority 1 instead of 3.")
    orders = await tasks.orders(ground.conn, first.task_id)
    assert [order["verb"] for order in orders] == ["submit", "submit"], "what changed nothing is not recorded"
    assert "priority 1 instead of 3" in orders[0]["reason"]
    hooked = await order(ground.conn, URL, webhook_url="http://hook.example/")
    assert (hooked.was_changed, hooked.message) == (True, "It was open already: now other options.")


async def test_two_orders_at_once_are_one_task(pool: asyncpg.Pool) -> None:
    async def one() -> int:
        async with pool.acquire() as conn:
            return (await order(conn, URL)).task_id

    assert len(set(await asyncio.gather(*(one() for _ in range(6))))) == 1


@pytest.mark.parametrize("status", ["discovered", "failed", "blocked", "gone", "fetched"])
async def test_a_known_page_is_visited_again_whatever_became_of_it(ground: Ground, status: str) -> None:
    domain = await ground.a_domain()
    page = await ground.a_page(URL, domain, status=status)
    if status not in {"discovered"}:
        ends = {"failed": ("failed", None), "blocked": ("blocked_robots", None), "gone": ("blocked_4xx", 404)}
        outcome, code = ends.get(status, ("success", 200))
        await a_visit(ground, page, outcome, code)
    done = await order(ground.conn, URL)
    found = await ground.page(page)
    assert found["status"] == ("fetched" if status == "fetched" else "queued")
    assert (await ground.domain(domain))["frontier_size"] == (0 if status == "fetched" else 1)
    assert done.was_changed
    left = await broken(ground.conn)
    assert not left.keys() - {"visit_counters"}  # the visit before was planted without its counters


async def a_visit(ground: Ground, page: int, outcome: str, code: int | None) -> int:
    task: int = await ground.conn.fetchval(
        "INSERT INTO crawl_tasks (page_id, domain_id, status, outcome, completed_at, status_code, error_code, blame)"
        " SELECT id, domain_id, CASE WHEN $2 = 'success' THEN 'completed' ELSE 'failed' END::task_status,"
        " $2::text::task_outcome, now(), $3, 'x', 'nobody' FROM pages WHERE id = $1 RETURNING id",
        page,
        outcome,
        code,
    )
    return task


async def test_an_exhausted_domain_goes_on(ground: Ground) -> None:
    domain = await ground.a_domain(status="exhausted", ready_at=None)
    await ground.a_page(URL, domain, status="fetched")
    await order(ground.conn, URL)
    found = await ground.domain(domain)
    assert (found["status"], found["is_due"]) == ("active", True)


async def test_an_exhausted_domain_rests_until_a_visit_that_is_for_later(ground: Ground) -> None:
    domain = await ground.a_domain(status="exhausted", ready_at=None, next_crawl_after="(now() + interval '9 days')")
    await ground.a_page(URL, domain, status="fetched")
    later = clock.now() + timedelta(hours=5)
    await order(ground.conn, URL, scheduled_for=later)
    found = await ground.domain(domain)
    assert (found["status"], found["next_crawl_after"], found["is_due"]) == ("exhausted", later, False)


async def test_a_batch_is_one_call_with_a_priority_for_each(ground: Ground) -> None:
    orders = [TaskOrder(f"http://{name}.example/{n}", priority=n) for name in "abc" for n in (1, 5, 10)]
    async with ground.conn.transaction():
        done = await submit(ground.conn, [*orders, orders[0]], batch=" spring   sale ", **BY)
    assert (done.batch, len(done.tasks), done.new) == ("spring sale", 9, 9)
    assert [task.priority for task in done.tasks] == [1, 5, 10] * 3
    assert await ground.conn.fetchval("SELECT count(*) FROM crawl_tasks WHERE batch_id = $1", done.batch_id) == 9
    async with ground.conn.transaction():
        again = await submit(ground.conn, orders, batch="spring sale", **BY)
    assert (again.batch_id, again.new) == (done.batch_id, 0)
    assert not await broken(ground.conn)


async def test_a_long_batch_is_ordered_at_once(ground: Ground) -> None:
    orders = [TaskOrder(f"http://d{n % 50}.example/{n}") for n in range(5000)]
    async with ground.conn.transaction():
        done = await submit(ground.conn, orders, batch="many", **BY)
    assert done.new == 5000


async def test_open_tasks_are_found_page_by_page_whatever_the_planner_knows(ground: Ground) -> None:
    """Never analysed, PostgreSQL takes tables for tiny. Then no list of pages may be searched once for every task."""
    orders = [TaskOrder(f"http://d{n % 50}.example/{n}") for n in range(500)]
    async with ground.conn.transaction():
        await submit(ground.conn, orders, **BY)
    pages = [row["id"] for row in await ground.conn.fetch("SELECT id FROM pages")]
    told = await ground.conn.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {frontier.SQL['open_tasks_of']}", pages)
    nodes = list(every_node(json.loads(told)[0]["Plan"]))
    assert sum(node["Actual Rows"] * node["Actual Loops"] for node in nodes[:1]) == 500
    assert not [node for node in nodes if node["Actual Loops"] > 1 and "ANY" in str(node)]


def every_node(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    below = plan.pop("Plans", [])
    yield plan
    for each in below:
        yield from every_node(each)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "scheme": ({"url": "ftp://a.example/"}, "ftp"),
    "no URL": ({"url": "\x00"}, "is no URL"),
    "priority": ({"url": URL, "priority": 11}, "There is no priority 11: 1 is the first, 10 the last."),
    "retries": ({"url": URL, "max_retries": 21}, "21 are no retries"),
    "frequency": ({"url": URL, "revisit_every_s": 0.0}, "one second"),
    "endless": ({"url": URL, "revisit_every_s": float("inf")}, "one second"),
    "time zone": ({"url": URL, "scheduled_for": datetime(2026, 1, 1)}, "time zone"),  # noqa: DTZ001
    "webhook": ({"url": URL, "webhook_url": "file:///etc/passwd"}, "file"),
    "long webhook": ({"url": URL, "webhook_url": "http://h.example/" + "x" * 2000}, "2000"),
    "private webhook": ({"url": URL, "webhook_url": "http://169.254.169.254/latest"}, "cloud metadata"),
    "spelled webhook": ({"url": URL, "webhook_url": "http://0x7f.1/"}, "loopback"),
    "private page": ({"url": "http://10.0.0.1/"}, "private"),
}


@pytest.mark.parametrize("name", BAD)
async def test_one_bad_order_refuses_all_and_changes_nothing(ground: Ground, name: str) -> None:
    bad, words = BAD[name]
    with pytest.raises(UsageError, match=words.replace("?", r"\?")):
        async with ground.conn.transaction():
            await submit(
                ground.conn,
                [TaskOrder("http://good.example/"), TaskOrder(**bad)],
                batch="b",
                guard=AddressGuard([], [80, 443]),
                **BY,
            )
    assert await ground.conn.fetchval("SELECT count(*) FROM pages") == 0
    assert await ground.conn.fetchval("SELECT count(*) FROM batches") == 0


@pytest.mark.parametrize("name", ["", " ", "x" * 201, "a\x00b"])
async def test_a_batch_has_a_name(ground: Ground, name: str) -> None:
    with pytest.raises(UsageError, match="name"):
        await submit(ground.conn, [TaskOrder(URL)], batch=name, **BY)


async def test_nothing_is_no_order(ground: Ground) -> None:
    with pytest.raises(UsageError, match="nothing to submit"):
        await submit(ground.conn, [], **BY)


# dependencies --------------------------------------------------------------------------------------------------------


async def test_a_task_that_depends_on_another_waits(ground: Ground) -> None:
    first = await order(ground.conn, URL)
    second = await order(ground.conn, "http://b.example/", depends_on=first.task_id)
    assert second.status is TaskStatus.PAUSED
    row = await ground.task(second.task_id)
    assert (row["is_waiting"], row["depends_on"]) == (True, first.task_id)
    assert (await ground.domain(row["domain_id"]))["frontier_size"] == 1
    again = await order(ground.conn, "http://b.example/", depends_on=first.task_id)
    assert (again.task_id, again.was_changed) == (second.task_id, False)
    assert not await broken(ground.conn)


async def test_what_is_completed_is_not_waited_for(ground: Ground) -> None:
    page = await ground.a_page(URL, await ground.a_domain(), status="fetched")
    done = await a_visit(ground, page, "success", 200)
    assert (await order(ground.conn, "http://b.example/", depends_on=done)).status is TaskStatus.PENDING


async def test_nothing_can_wait_for_what_failed_or_for_nothing_or_for_itself(ground: Ground) -> None:
    page = await ground.a_page(URL, await ground.a_domain(), status="failed")
    failed = await a_visit(ground, page, "failed", None)
    with pytest.raises(ConflictError, match="ended failed"):
        await order(ground.conn, "http://b.example/", depends_on=failed)
    with pytest.raises(NotFoundError, match="no task 4711"):
        await order(ground.conn, "http://b.example/", depends_on=4711)
    first = await order(ground.conn, URL)
    with pytest.raises(ConflictError, match="itself"):
        await order(ground.conn, URL, depends_on=first.task_id)
    other = await order(ground.conn, "http://c.example/")
    with pytest.raises(ConflictError, match="does not depend on"):
        await order(ground.conn, URL, depends_on=other.task_id)


def test_times_are_utc() -> None:
    assert TaskOrder(URL, scheduled_for=datetime(2026, 1, 1, tzinfo=UTC)).scheduled_for is not None
