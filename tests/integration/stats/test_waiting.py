"""Why a known page was not visited; and a run as a display shows it."""

from typing import Any

import pytest
from tests.ground import NO_PATTERNS, Ground

from forager.runs.models import DomainCount
from forager.stats import store as stats

pytestmark = pytest.mark.both_servers

IN_AN_HOUR = "(now() + interval '1 hour')"


async def waiting(ground: Ground, run: int, *, has_limit: bool = True, patterns: Any = NO_PATTERNS) -> dict[str, int]:
    rows = await stats.read_waiting(ground.conn, run, max_depth=3, has_limit=has_limit, patterns=patterns)
    return {row["reason"]: row["pages"] for row in rows}


async def test_every_reason_has_its_pages(ground: Ground) -> None:
    run = await ground.a_run()
    plain = await ground.a_domain("a.example", run=run, pages=2)
    await ground.a_page("http://a.example/deep", plain, depth=4)
    await ground.a_page("http://a.example/done", plain, status="fetched")
    await ground.a_task(await ground.a_page("http://a.example/retry", plain), due_in_s=3600)
    await ground.a_domain("b.example", run=run, pages=3, next_crawl_after=IN_AN_HOUR)
    await ground.a_domain("c.example", run=run, pages=4)
    await ground.conn.execute("UPDATE domains SET status = 'blocked', block_reason_code = 'x' WHERE name = 'c.example'")
    await ground.a_domain("d.example", run=await ground.a_run(), pages=5)
    expected = {"too_deep": 1, "retry_later": 1, "domain_waits": 3, "domain_blocked": 4}
    assert await waiting(ground, run) == expected | {"over_limit": 2}
    assert await waiting(ground, run, has_limit=False) == expected | {"stopped": 2}


async def test_pages_that_were_not_asked_for_do_not_wait(ground: Ground) -> None:
    run = await ground.a_run()
    await ground.a_domain(run=run, pages=3)
    assert await waiting(ground, run, patterns=(None, None, ["%/1", "%/2"])) == {"over_limit": 1}
    assert await waiting(ground, run, patterns=(["http://b.example/%"], None, None)) == {}


async def test_a_retry_says_when_it_is_due(ground: Ground) -> None:
    run = await ground.a_run()
    domain = await ground.a_domain(run=run)
    tasks = [
        await ground.a_task(await ground.a_page(f"http://a.example/{hours}", domain), due_in_s=hours * 3600)
        for hours in (2, 1)
    ]
    (row,) = await stats.read_waiting(ground.conn, run, max_depth=3, has_limit=True, patterns=NO_PATTERNS)
    assert row["due_at"] == (await ground.task(tasks[1]))["scheduled_for"]


async def test_domains_of_a_run_are_counted_by_state(ground: Ground) -> None:
    run = await ground.a_run()
    await ground.a_domain("a.example", run=run, pages=2)
    await ground.a_domain("b.example", run=run, pages=3)
    await ground.a_domain("c.example", run=run, status="exhausted")
    assert await stats.read_domain_states(ground.conn, run) == ({"active": 2, "exhausted": 1}, 5)


async def test_leased_domains_are_shown_first_then_the_fullest(ground: Ground) -> None:
    run = await ground.a_run()
    await ground.a_domain("few.example", run=run, pages=1)
    await ground.a_domain("many.example", run=run, pages=3)
    leased = await ground.a_domain("leased.example", run=run)
    await ground.a_lease(leased, await ground.a_worker(run))
    shown = await stats.list_active_domains(ground.conn, run, 2)
    assert [domain.name for domain in shown] == ["leased.example", "many.example"]
    assert shown[1] == DomainCount("many.example", "active", 0, 0, 3, is_leased=False, reason=None)


async def test_domains_that_stand_say_why(ground: Ground) -> None:
    run = await ground.a_run()
    await ground.a_domain("fine.example", run=run, pages=9)
    await ground.a_domain("rests.example", run=run, pages=2, next_crawl_after="(timestamptz '2099-01-02 03:04:05+00')")
    await ground.a_domain("shut.example", run=run, pages=1)
    await ground.conn.execute(
        "UPDATE domains SET status = 'blocked', block_reason_code = 'x', block_reason = 'no entry'"
        " WHERE name = 'shut.example'"
    )
    shown = await stats.list_blocked_domains(ground.conn, run, 10)
    assert {domain.name: domain.reason for domain in shown} == {
        "rests.example": "waits until 2099-01-02 03:04:05 UTC",
        "shut.example": "no entry",
    }


async def test_the_last_visit_of_a_run_is_known(ground: Ground) -> None:
    run = await ground.a_run()
    assert await stats.read_last_visit(ground.conn, run) is None
    for number in (1, 2):
        await ground.new_task.successful(f"http://a.example/{number}", run_id=run)
    assert (await stats.read_last_visit(ground.conn, run))["url"] == "http://a.example/2"
