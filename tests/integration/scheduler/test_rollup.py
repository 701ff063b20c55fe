"""Statistics by domain and day: right, the same when made twice, and complete after an absence."""

from datetime import date, timedelta
from typing import Any

import pytest
from tests.ground import Ground
from tests.integration.scheduler import stage
from tests.integration.scheduler.stage import a_context, a_visited_page

from forager.stats.jobs.rollup import RollupJob

pytestmark = pytest.mark.both_servers


async def today(ground: Ground) -> date:
    day: date = await ground.conn.fetchval("SELECT (now() AT TIME ZONE 'UTC')::date")
    return day


async def days(ground: Ground) -> dict[date, tuple[int, ...]]:
    """Of all domains: visits, ok, changed, errors, bytes, time."""
    rows = await ground.conn.fetch(
        "SELECT day, sum(visits)::int, sum(ok)::int, sum(changed)::int, sum(errors)::int, sum(bytes)::int,"
        " sum(time_ms)::int FROM domain_days GROUP BY day ORDER BY day"
    )
    return {row["day"]: tuple(row)[1:] for row in rows}


async def a_closed_task(ground: Ground, domain: int, **columns: Any) -> None:
    """Of whichever page; the history does not care."""
    page = await ground.conn.fetchval("SELECT id FROM pages WHERE domain_id = $1 LIMIT 1", domain)
    given = {"page_id": page, "domain_id": domain, "status": "completed", "outcome": "success"} | columns
    names, places = ", ".join(given), ", ".join(f"${place}" for place in range(1, len(given) + 1))
    await ground.conn.execute(
        f"INSERT INTO crawl_tasks ({names}, completed_at) VALUES ({places}, now())", *given.values()
    )


async def test_visits_of_today_and_yesterday_are_added_up(ground: Ground) -> None:
    domain = await ground.a_domain()
    await a_visited_page(ground, "http://a.example/1", domain)
    await a_visited_page(ground, "http://a.example/2", domain, outcome="blocked_4xx", code=404)
    await a_visited_page(ground, "http://a.example/3", domain, days_ago=1)
    await a_closed_task(ground, domain, is_changed=True, bytes=None)
    await a_closed_task(ground, domain, status="cancelled", outcome="cancelled")
    now = await today(ground)
    assert await RollupJob().run(a_context(ground.conn)) == "2 rows written"
    assert await days(ground) == {now - timedelta(1): (1, 1, 0, 0, 100, 10), now: (3, 2, 1, 1, 200, 20)}


async def test_what_is_right_stays_and_what_is_new_is_added(ground: Ground) -> None:
    domain, other = await ground.a_domain(), await ground.a_domain("b.example")
    await a_visited_page(ground, "http://a.example/1", domain)
    await a_visited_page(ground, "http://b.example/1", other)
    await RollupJob().run(a_context(ground.conn))
    assert await RollupJob().run(a_context(ground.conn)) == "0 rows written"
    await a_visited_page(ground, "http://b.example/2", other)
    assert await RollupJob().run(a_context(ground.conn)) == "1 row written"
    assert (await days(ground))[await today(ground)][0] == 3
    assert await stage.broken_promises(ground) == {}


async def test_days_of_an_absence_are_made_up_for(ground: Ground) -> None:
    """Also the one on which the scheduler went away."""
    domain = await ground.a_domain()
    for number, age in enumerate((9, 7, 7, 3, 0)):
        await a_visited_page(ground, f"http://a.example/{number}", domain, days_ago=age)
    now = await today(ground)
    await ground.conn.execute(
        "INSERT INTO domain_days VALUES ($1, $2, 1, 1, 0, 0, 100, 10)", domain, now - timedelta(7)
    )
    assert await RollupJob().run(a_context(ground.conn)) == "3 rows written"
    assert {(now - day).days: row[0] for day, row in (await days(ground)).items()} == {7: 2, 3: 1, 0: 1}


async def test_a_long_history_is_made_in_several_rounds(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forager.stats.days.MOST_DAYS", 2)
    domain = await ground.a_domain()
    for age in (60, 50, 40, 1, 0):
        await a_visited_page(ground, f"http://a.example/{age}", domain, days_ago=age)
    written = [await RollupJob().run(a_context(ground.conn)) for _ in range(4)]
    assert written == ["2 rows written", "2 rows written", "1 row written", "0 rows written"]


async def test_nothing_was_ever_visited(ground: Ground) -> None:
    await ground.a_domain()
    assert await RollupJob().run(a_context(ground.conn)) == "0 rows written"


async def test_domains_are_written_in_batches(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        await a_visited_page(ground, f"http://d{number}.example/", await ground.a_domain(f"d{number}.example"))
    monkeypatch.setattr("forager.stats.days.BATCH", 2)
    assert await RollupJob().run(a_context(ground.conn)) == "5 rows written"
