"""The shorter jobs: takeover, scores, maintenance windows, prices of revisits."""

from typing import Any

import asyncpg
import pytest
from tests.ground import Ground
from tests.integration.scheduler import stage
from tests.integration.scheduler.stage import BLOCKED, a_context, a_visited_page, set_domain

from forager.domains import retention as domain_traces
from forager.domains import score as scoring
from forager.domains.jobs import windows
from forager.domains.jobs.score import ScoreJob
from forager.domains.jobs.windows import WindowsJob
from forager.frontier import jobs as revisit_price
from forager.frontier.jobs import RevisitPriceJob
from forager.frontier.revisit import interval_at
from forager.retention.jobs import traces
from forager.retention.jobs.traces import TracesJob
from forager.workers.jobs import TakeoverJob

pytestmark = pytest.mark.both_servers


# Takeover -----------------------------------------------------------------------------------------------------------


async def test_domains_of_a_silent_worker_are_taken_over(ground: Ground) -> None:
    run = await ground.a_run()
    silent = await ground.a_worker(run, host="elsewhere", silent_s=100)
    living = await ground.a_worker(run, host="elsewhere", silent_s=10)
    lost = await ground.a_domain("lost.example", run=run, pages=2)
    held = await ground.a_domain("held.example", run=run, pages=1)
    lease = await ground.a_lease(lost, silent)
    await ground.targets(lease, silent, run, want=1)
    await ground.a_lease(held, living)
    context = a_context(ground.conn, worker_dead_after=60.0, politeness_delay=0.0)
    assert await TakeoverJob().run(context) == "1 domain released"
    assert ((await ground.domain(lost))["claimed_by"], (await ground.domain(held))["claimed_by"]) == (None, living)
    assert await ground.conn.fetchval("SELECT count(*) FROM crawl_tasks WHERE locked_at IS NOT NULL") == 0
    assert await TakeoverJob().run(context) == "0 domains released"
    assert await stage.broken_promises(ground) == {}


# Scores -------------------------------------------------------------------------------------------------------------


async def scores(ground: Ground) -> dict[str, float]:
    return {row["name"]: row["priority_score"] for row in await ground.conn.fetch("SELECT * FROM domains")}


async def test_every_domain_that_may_be_claimed_is_scored(ground: Ground) -> None:
    ranked = await ground.a_domain("ranked.example", seed_rank=1)
    await ground.a_domain("busy.example", pages=3)
    blocked = await ground.a_domain("blocked.example", seed_rank=1)
    await set_domain(ground, blocked, **BLOCKED)
    assert await ScoreJob().run(a_context(ground.conn)) == "2 scores written"
    found = await scores(ground)
    assert (round(found["ranked.example"]), round(found["busy.example"]), found["blocked.example"]) == (1000, 6, 0)
    assert (await ground.domain(ranked))["priority_computed_at"] is not None
    assert await stage.broken_promises(ground) == {}


async def test_a_score_that_hardly_moved_is_not_written(ground: Ground) -> None:
    domain = await ground.a_domain(pages=1)
    await ScoreJob().run(a_context(ground.conn))
    await set_domain(ground, domain, first_seen_at="(now() - interval '2 hours')")
    assert await ScoreJob().run(a_context(ground.conn)) == "0 scores written"
    await set_domain(ground, domain, first_seen_at="(now() - interval '3 hours')")
    assert await ScoreJob().run(a_context(ground.conn)) == "1 score written"


async def test_a_score_that_is_a_day_old_is_written(ground: Ground) -> None:
    domain = await ground.a_domain(pages=1)
    await ScoreJob().run(a_context(ground.conn))
    await set_domain(ground, domain, priority_computed_at="(now() - interval '25 hours')")
    assert await ScoreJob().run(a_context(ground.conn)) == "1 score written"


async def test_in_seed_order_all_scores_are_nought(ground: Ground) -> None:
    await ground.a_domain(seed_rank=1, priority_score=700.0)
    await ScoreJob().run(a_context(ground.conn, crawl_domain_order="seed_order"))
    assert await scores(ground) == {"a.example": 0.0}


async def test_more_than_a_batch_is_scored(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        await ground.a_domain(f"d{number}.example", pages=1)
    assert await scoring.score_all(ground.conn, is_scored=True, batch=2) == 5


async def test_a_domain_somebody_is_writing_to_is_scored_later(ground: Ground, pool: asyncpg.Pool) -> None:
    busy = await ground.a_domain(pages=1)
    await ground.a_domain("b.example", pages=1)
    async with pool.acquire() as worker, worker.transaction():
        await worker.execute("SELECT FROM domains WHERE id = $1 FOR NO KEY UPDATE", busy)
        assert await ScoreJob().run(a_context(ground.conn)) == "1 score written"


# Maintenance windows ------------------------------------------------------------------------------------------------

HOUR_BEFORE, HOUR_AFTER, LATER = (
    f"((now() AT TIME ZONE 'UTC')::time {distance})"
    for distance in ("- interval '1h'", "+ interval '1h'", "+ interval '2h'")
)


async def a_domain_with_a_window(ground: Ground, name: str, starts: str, ends: str, **columns: Any) -> int:
    """Due, as it was before the window began: the trigger that would see the window is passed by."""
    domain = await ground.a_domain(name, pages=1)
    async with ground.conn.transaction():
        await ground.conn.execute("SET LOCAL session_replication_role = replica")
        await set_domain(ground, domain, maintenance_start=starts, maintenance_end=ends, **columns)
    assert (await ground.domain(domain))["is_due"]
    return domain


async def test_due_domains_in_their_window_sleep_until_it_ends(ground: Ground) -> None:
    inside = await a_domain_with_a_window(ground, "in.example", HOUR_BEFORE, HOUR_AFTER)
    outside = await a_domain_with_a_window(ground, "out.example", HOUR_AFTER, LATER)
    assert await WindowsJob().run(a_context(ground.conn)) == "1 domain deferred"
    assert ((await ground.domain(inside))["is_due"], (await ground.domain(outside))["is_due"]) == (False, True)
    asleep_s = await ground.conn.fetchval(
        "SELECT EXTRACT(EPOCH FROM due_at - now()) FROM domains WHERE id = $1", inside
    )
    assert 3590 < asleep_s <= 3601
    assert await WindowsJob().run(a_context(ground.conn)) == "0 domains deferred"
    assert await stage.broken_promises(ground) == {}


async def test_a_leased_domain_is_its_holders(ground: Ground) -> None:
    domain = await a_domain_with_a_window(ground, "in.example", HOUR_BEFORE, HOUR_AFTER)
    async with ground.conn.transaction():
        await ground.conn.execute("SET LOCAL session_replication_role = replica")
        await ground.a_lease(domain, await ground.a_worker())
    assert await WindowsJob().run(a_context(ground.conn)) == "0 domains deferred"


async def test_more_than_a_batch_is_put_to_sleep(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "BATCH", 2)
    for number in range(5):
        await a_domain_with_a_window(ground, f"d{number}.example", HOUR_BEFORE, HOUR_AFTER)
    assert await WindowsJob().run(a_context(ground.conn)) == "5 domains deferred"


# Prices -------------------------------------------------------------------------------------------------------------


async def an_adaptive_domain(ground: Ground, name: str = "a.example", *, pages: int = 20, **settings: Any) -> int:
    """Half of its pages change every day, the others never."""
    domain = await ground.a_domain(name)
    for number in range(pages):
        watched: dict[str, Any] = {"comparisons": 50, "changes": 32 * (number % 2), "watched_s": 50 * stage.DAY_S}
        await a_visited_page(ground, f"http://{name}/{number}", domain, **watched)
    await ground.choose(domain, **{"adaptive": True, "revisit_every": 86400.0} | settings)
    return domain


async def price_of(ground: Ground, domain: int) -> Any:
    return (await ground.domain(domain))["revisit_price"]


async def test_a_price_keeps_the_budget(ground: Ground) -> None:
    domain = await an_adaptive_domain(ground, revisits_per_day=10)
    assert await RevisitPriceJob().run(a_context(ground.conn)) == "1 price set"
    price = await price_of(ground, domain)
    lively, still = 1 / stage.DAY_S, 1 / (200 * stage.DAY_S)
    per_day = 10 * stage.DAY_S / interval_at(lively, price) + 10 * stage.DAY_S / interval_at(still, price)
    assert 8 < per_day < 12
    assert await stage.broken_promises(ground) == {}


async def test_a_smaller_budget_has_a_higher_price(ground: Ground) -> None:
    poor = await an_adaptive_domain(ground, revisits_per_day=2)
    rich = await an_adaptive_domain(ground, "b.example", revisits_per_day=200)
    await RevisitPriceJob().run(a_context(ground.conn))
    assert await price_of(ground, poor) > await price_of(ground, rich)


async def test_only_adaptive_domains_with_pages_that_were_read_have_one(ground: Ground) -> None:
    fixed = await an_adaptive_domain(ground, adaptive=False)
    empty = await ground.a_domain("b.example", pages=2)
    await ground.choose(empty, adaptive=True)
    assert await RevisitPriceJob().run(a_context(ground.conn)) == "0 prices set"
    assert (await price_of(ground, fixed), await price_of(ground, empty)) == (None, None)


async def test_a_sample_pays_with_its_share_of_the_budget(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    domain = await an_adaptive_domain(ground, pages=60, revisits_per_day=30)
    await RevisitPriceJob().run(a_context(ground.conn))
    exact = await price_of(ground, domain)
    monkeypatch.setattr(revisit_price, "MOST_SAMPLED", 30)
    await set_domain(ground, domain, revisit_price="(NULL)")
    await RevisitPriceJob().run(a_context(ground.conn))
    assert 0.5 * exact < await price_of(ground, domain) < 2 * exact


async def test_many_domains_are_priced_in_portions(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revisit_price, "BATCH", 2)
    for number in range(5):
        await an_adaptive_domain(ground, f"d{number}.example", pages=2)
    assert await RevisitPriceJob().run(a_context(ground.conn)) == "5 prices set"
    assert await ground.conn.fetchval("SELECT count(revisit_price) FROM domains") == 5


# Traces -------------------------------------------------------------------------------------------------------------


async def moved(ground: Ground, domain: int, days_ago: int, way: tuple[str, str] = ("active", "active")) -> None:
    await ground.conn.execute(
        "INSERT INTO domain_history (domain_id, moved_at, from_status, to_status, is_active, moved_by)"
        " VALUES ($1, now() - make_interval(days => $2), $3, $4, true, 'test')",
        domain,
        days_ago,
        *way,
    )


async def asked_for_robots(ground: Ground, domain: int, days_ago: int) -> None:
    await ground.conn.execute(
        "INSERT INTO robots_requests VALUES ($1, 'http://a', now() - make_interval(days => $2), 0)", domain, days_ago
    )


async def left(ground: Ground, table: str) -> dict[int, int]:
    rows = await ground.conn.fetch(f"SELECT domain_id, count(*) AS rows FROM {table} GROUP BY 1")
    return {row["domain_id"]: row["rows"] for row in rows}


async def test_old_traces_go_and_the_last_moves_stay(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "DOMAINS_AT_ONCE", 1)  # every portion has its turn
    busy = await ground.a_domain("busy.example", status="active")
    quiet = await ground.a_domain("quiet.example", status="active")
    for _ in range(25):
        await moved(ground, busy, 400)
    for domain in (busy, quiet):
        await moved(ground, domain, 300)
        for days in (100, 10):
            await asked_for_robots(ground, domain, days)
    await moved(ground, quiet, 400)
    told = "2 requests for robots.txt and 6 moves of domains deleted"
    assert await TracesJob().run(a_context(ground.conn)) == told
    assert (await left(ground, "domain_history"), await left(ground, "robots_requests")) == (
        {busy: 20, quiet: 2},
        {busy: 1, quiet: 1},
    )
    assert await TracesJob().run(a_context(ground.conn)) == told.replace("2", "0").replace("6", "0")
    assert await stage.broken_promises(ground) == {}


async def test_only_the_oldest_moves_go_so_that_the_chain_holds(ground: Ground) -> None:
    domain = await ground.a_domain(status="active")
    ways = (("pending", "active"), ("active", "exhausted"), ("exhausted", "pending"))
    for number in range(45):
        await moved(ground, domain, 800 - number, ways[number % 3])
    await moved(ground, domain, 1, ("pending", "active"))
    await TracesJob().run(a_context(ground.conn))
    assert await left(ground, "domain_history") == {domain: 20}
    assert await stage.broken_promises(ground) == {}


async def test_what_a_domain_asks_to_be_kept_longer_is(ground: Ground) -> None:
    keeper = await ground.a_domain("keeper.example")
    seldom = await ground.a_domain("seldom.example")
    await set_domain(ground, keeper, history_retention_s=200 * 86_400.0)
    await set_domain(ground, seldom, refresh_every_s=300 * 86_400.0)
    for domain in (keeper, seldom):
        await asked_for_robots(ground, domain, 150)
        for _ in range(22):
            await moved(ground, domain, 500, ("pending", "pending"))
    kept = {"robots_s": 90 * 86_400.0, "moves_s": 365 * 86_400.0, "refresh_every_s": 86_400.0}
    due = await domain_traces.count_old(ground.conn, **kept)
    assert due == {"robots_requests": 1, "domain_history": 2}
    await TracesJob().run(a_context(ground.conn, refresh_interval=86_400.0))
    assert await left(ground, "robots_requests") == {keeper: 1}
    assert await left(ground, "domain_history") == {keeper: 20, seldom: 22}
    assert set((await domain_traces.count_old(ground.conn, **kept)).values()) == {0}
