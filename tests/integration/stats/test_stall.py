"""The stall rule on a real database: what is due and not worked on, and what explains a wait."""

from typing import Any

import pytest
from tests.ground import Ground

from forager.stats import series
from forager.stats.counters import CounterMap
from forager.stats.idle_detection import Stall, detect_idle_crawl

LONG_AGO = "(now() - interval '20 minutes')"


@pytest.fixture(autouse=True)
async def no_numbers_yet(ground: Ground) -> None:
    await ground.conn.execute("DELETE FROM series; DELETE FROM series_parts")


async def stall(ground: Ground) -> Stall | None:
    return await detect_idle_crawl(ground.conn, dead_after_s=120.0, stall_s=600.0)


async def a_due_domain(ground: Ground, name: str = "a.example", **columns: Any) -> int:
    run = columns.pop("run", None)
    return await ground.a_domain(name, run=run, pages=1, **{"ready_at": LONG_AGO, **columns})


async def test_due_work_without_a_worker_is_a_stall(ground: Ground) -> None:
    await a_due_domain(ground)
    await ground.a_worker(silent_s=3000, status="dead", ended_at="(now())")
    found = await stall(ground)
    assert found is not None
    assert (found.kind, found.domains, round(found.due_s)) == ("no_worker", 1, 1200)
    assert found.message == "1 domain has been due for 20 min: no worker is alive"


async def test_nothing_due_is_no_stall(ground: Ground) -> None:
    await ground.a_domain("a.example", ready_at=None)
    assert await stall(ground) is None


@pytest.mark.parametrize(
    "columns",
    [
        {"is_active": False},
        {"next_crawl_after": "(now() + interval '1 hour')"},
        {"run_pages": 5, "max_pages_per_run": 5},
        {"ready_at": "(now() - interval '10 seconds')"},
    ],
    ids=["paused", "cooldown", "budget", "due only now"],
)
async def test_what_explains_a_wait_is_no_stall(ground: Ground, columns: dict[str, Any]) -> None:
    await a_due_domain(ground, **columns)
    assert await stall(ground) is None


async def test_a_maintenance_window_explains_a_wait(ground: Ground) -> None:
    domain = await a_due_domain(ground)
    await ground.conn.execute(
        "UPDATE domains SET maintenance_start = (now() AT TIME ZONE 'UTC')::time - interval '1 hour',"
        " maintenance_end = (now() AT TIME ZONE 'UTC')::time + interval '1 hour' WHERE id = $1",
        domain,
    )
    assert await stall(ground) is None


async def test_the_budget_of_a_whole_run_explains_a_wait(ground: Ground) -> None:
    run = await ground.a_run()
    await ground.conn.execute("UPDATE runs SET max_pages = 10, pages_claimed = 10 WHERE id = $1", run)
    await a_due_domain(ground, run=run)
    assert await stall(ground) is None


async def test_a_lease_of_a_lost_worker_is_due_work(ground: Ground) -> None:
    domain = await a_due_domain(ground)
    await ground.a_lease(domain, await ground.a_worker(silent_s=3000), lease_s=-300)
    found = await stall(ground)
    assert found is not None
    assert found.kind == "no_worker"


async def test_a_run_without_a_worker_stalls_beside_others_that_go_on(ground: Ground) -> None:
    served, lost = await ground.a_run(), await ground.a_run()
    await ground.a_worker(served)
    await a_due_domain(ground, "served.example", run=served)
    await a_due_domain(ground, "lost.example", run=lost)
    await visit(ground)
    found = await stall(ground)
    assert found is not None
    assert (found.kind, found.domains) == ("unserved", 1)
    assert f"no worker of run {lost} is alive" in found.message


async def test_a_label_that_no_worker_has_stalls_its_domains(ground: Ground) -> None:
    run = await ground.a_run()
    worker = await ground.a_worker(run)
    await a_due_domain(ground, "plain.example", run=run)
    await a_due_domain(ground, "eu.example", run=run, worker_label="eu")
    await visit(ground)
    found = await stall(ground)
    assert found is not None
    assert f"no worker of run {run} with the label eu is alive" in found.message
    await ground.conn.execute("UPDATE workers SET labels = '{eu}' WHERE id = $1", worker)
    assert await stall(ground) is None


async def test_a_run_that_is_over_is_not_waited_for_while_another_goes_on(ground: Ground) -> None:
    over, run = await ground.a_run(), await ground.a_run()
    await ground.conn.execute("UPDATE runs SET status = 'stopped' WHERE id = $1", over)
    await a_due_domain(ground, run=over)
    await ground.a_worker(run)
    assert await stall(ground) is None


async def test_workers_that_end_no_visit_although_work_is_due_stall(ground: Ground) -> None:
    run = await ground.a_run()
    await ground.a_worker(run)
    await a_due_domain(ground, run=run)
    found = await stall(ground)
    assert found is not None
    assert found.kind == "no_progress"
    assert found.message.endswith("1 worker is alive and no visit has ended for 10 min")
    await visit(ground)
    assert await stall(ground) is None


async def test_workers_that_say_why_they_are_paused_are_no_stall(ground: Ground) -> None:
    run = await ground.a_run()
    await ground.a_worker(run, pause_reason="store")
    await a_due_domain(ground, run=run)
    assert await stall(ground) is None


async def test_a_held_domain_without_progress_stalls_unless_its_pace_or_breaker_explains_it(ground: Ground) -> None:
    run = await ground.a_run()
    worker = await ground.a_worker(run)
    domain = await a_due_domain(ground, run=run, last_crawled_at=LONG_AGO)
    assert len(await ground.targets(await ground.a_lease(domain, worker), worker, run)) == 1
    await ground.conn.execute(f"UPDATE crawl_tasks SET locked_at = {LONG_AGO}, scheduled_for = {LONG_AGO}")
    found = await stall(ground)
    assert found is not None
    assert (found.kind, round(found.due_s)) == ("no_progress", 1200)
    await ground.conn.execute("UPDATE domains SET next_allowed_at = now() + interval '1 hour' WHERE id = $1", domain)
    assert await stall(ground) is None
    await ground.conn.execute(
        "UPDATE domains SET next_allowed_at = NULL, breaker_state = 'open', breaker_opened_at = now() WHERE id = $1",
        domain,
    )
    assert await stall(ground) is None


async def visit(ground: Ground) -> None:
    """One visit ended in this minute."""
    tally = CounterMap()
    tally.add("visits", "success", 1)
    await series.add(ground.conn, 1, tally)
