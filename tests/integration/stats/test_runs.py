"""Runs: their order, their budget, their end, and what was counted."""

import asyncio

import asyncpg
import pytest
from tests.builders import a_spec, a_success, a_target
from tests.ground import Ground

from forager.errors import ConnectError
from forager.frontier.models import Outcome, OutcomeKind
from forager.stats import store as stats

pytestmark = pytest.mark.both_servers


async def test_an_order_is_found_as_it_was_given(ground: Ground) -> None:
    spec = a_spec("http://a.example/ü", include=("*x*",), max_pages=7, max_depth=3, delay_s=0.5)
    assert await stats.find_run(ground.conn, await ground.a_run(spec)) == spec
    assert await stats.find_run(ground.conn, 4711) is None


async def test_a_budget_is_granted_until_it_is_used_up_and_what_is_returned_is_granted_again(ground: Ground) -> None:
    run = await ground.a_run(a_spec(max_pages=10))
    assert await stats.acquire_pages(ground.conn, run, 6) == 6
    assert await stats.acquire_pages(ground.conn, run, 6) == 4
    assert await stats.acquire_pages(ground.conn, run, 6) == 0
    await stats.return_pages(ground.conn, run, 3)
    assert await stats.acquire_pages(ground.conn, run, 6) == 3


async def test_a_run_without_a_limit_grants_everything(ground: Ground) -> None:
    assert await stats.acquire_pages(ground.conn, await ground.a_run(), 10**6) == 10**6


async def test_racing_workers_never_get_more_than_the_budget(ground: Ground, pool: asyncpg.Pool) -> None:
    run = await ground.a_run(a_spec(max_pages=50))

    async def take(_worker: int) -> int:
        async with pool.acquire() as conn, conn.transaction():
            granted = await stats.acquire_pages(conn, run, 9)
            await stats.return_pages(conn, run, granted // 3)
            return granted - granted // 3

    taken = sum(await asyncio.gather(*map(take, range(12))))
    assert taken == await ground.conn.fetchval("SELECT pages_claimed FROM runs WHERE id = $1", run) <= 50


async def test_the_process_that_keeps_a_run_has_the_last_word_on_its_end(ground: Ground) -> None:
    """It was taken for lost while it could not reach the database; no other process overrules an end."""
    run, foreign = await ground.a_run(), await ground.a_run()
    await ground.conn.execute("UPDATE runs SET kept_by = '1 1 elsewhere' WHERE id = $1", foreign)
    for each in (run, foreign):
        await stats.end_run(ground.conn, each, "stopped")
        await stats.end_run(ground.conn, each, "finished")
    assert [row["status"] for row in await ground.conn.fetch("SELECT status::text FROM runs ORDER BY id")] == [
        "finished",
        "stopped",
    ]


async def test_visits_are_tallied_by_outcome_and_reason(ground: Ground) -> None:
    run = await ground.a_run()
    good = a_success(a_target(), response_time_ms=5)
    bad = Outcome(a_target(), OutcomeKind.FAILED, error=ConnectError("x"))
    await stats.count_outcomes(ground.conn, run, [good, bad, good])
    await stats.count_outcomes(ground.conn, run, [good])
    tally = {(count.outcome, count.reason): count for count in await stats.read_outcomes(ground.conn, run)}
    assert set(tally) == {("success", "200"), ("failed", "connect_error")}
    success = tally["success", "200"]
    assert (success.pages, success.wire_bytes, success.time_ms) == (3, 300, 15)


async def test_dropped_links_and_totals_add_up(ground: Ground) -> None:
    run = await ground.a_run()
    await stats.count_drops(ground.conn, run, {"scope": 2, "trap": 1})
    await stats.count_drops(ground.conn, run, {"scope": 3})
    await stats.count_drops(ground.conn, run, {})
    await stats.count_links(ground.conn, run, seen=10, learned=4)
    await stats.count_links(ground.conn, run, seen=1, learned=0)
    assert await stats.read_drops(ground.conn, run) == {"scope": 5, "trap": 1}
    row = await stats.read_run(ground.conn, run)
    assert (row["links_seen"], row["pages_learned"]) == (11, 4)


async def test_a_dead_worker_cannot_beat_and_leaves_only_once(ground: Ground) -> None:
    worker = await ground.a_worker()
    assert await stats.heartbeat(ground.conn, worker)
    await stats.mark_workers_dead(ground.conn, [worker])
    assert not await stats.heartbeat(ground.conn, worker)
    await stats.end_worker(ground.conn, worker)
    assert await ground.conn.fetchval("SELECT status::text FROM workers WHERE id = $1", worker) == "dead"


async def test_a_run_without_a_process_on_record_was_stopped_when_its_workers_are_all_gone(ground: Ground) -> None:
    """Of a version that did not record it."""
    lost, living, fresh, unborn = [await ground.a_run() for _ in range(4)]
    await ground.conn.execute("UPDATE runs SET kept_by = NULL, kept_at = NULL")
    await ground.conn.execute("UPDATE runs SET started_at = now() - interval '1 hour' WHERE id <> $1", fresh)
    await ground.a_worker(lost, status="dead")
    await ground.a_worker(living, status="dead")
    await ground.a_worker(living)
    await ground.a_worker(fresh, status="dead")
    await stats.end_lost_runs(ground.conn)
    rows = await ground.conn.fetch("SELECT id, status::text FROM runs ORDER BY id")
    assert {row["id"]: row["status"] for row in rows} == {
        lost: "stopped",
        living: "running",
        fresh: "running",
        unborn: "stopped",
    }
