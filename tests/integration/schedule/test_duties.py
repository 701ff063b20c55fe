"""The shorter duties: takeover, scores, maintenance windows, prices of revisits."""

from functools import partial
from typing import Any

import asyncpg
import pytest
from tests.ground import Ground
from tests.integration.schedule import stage
from tests.integration.schedule.stage import BLOCKED, a_visited_page, an_order, set_domain

from forager.crawl.recover import recover
from forager.domains import score as scoring
from forager.frontier.revisit import interval_at
from forager.schedule import revisit_price, score, takeover, windows

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
    order = an_order(take_over=partial(recover, dead_after_s=60.0, delay_s=0.0))
    assert await takeover.run_once(ground.conn, order) == "1 domain taken over"
    assert ((await ground.domain(lost))["claimed_by"], (await ground.domain(held))["claimed_by"]) == (None, living)
    assert await ground.conn.fetchval("SELECT count(*) FROM crawl_tasks WHERE locked_at IS NOT NULL") == 0
    assert await takeover.run_once(ground.conn, order) == "0 domains taken over"
    assert await stage.broken_promises(ground) == {}


# Scores -------------------------------------------------------------------------------------------------------------


async def scores(ground: Ground) -> dict[str, float]:
    return {row["name"]: row["priority_score"] for row in await ground.conn.fetch("SELECT * FROM domains")}


async def test_every_domain_that_may_be_claimed_is_scored(ground: Ground) -> None:
    ranked = await ground.a_domain("ranked.example", seed_rank=1)
    await ground.a_domain("busy.example", pages=3)
    blocked = await ground.a_domain("blocked.example", seed_rank=1)
    await set_domain(ground, blocked, **BLOCKED)
    assert await score.run_once(ground.conn, an_order()) == "2 scores written"
    found = await scores(ground)
    assert (round(found["ranked.example"]), round(found["busy.example"]), found["blocked.example"]) == (1000, 6, 0)
    assert (await ground.domain(ranked))["priority_computed_at"] is not None
    assert await stage.broken_promises(ground) == {}


async def test_a_score_that_hardly_moved_is_not_written(ground: Ground) -> None:
    domain = await ground.a_domain(pages=1)
    await score.run_once(ground.conn, an_order())
    await set_domain(ground, domain, first_seen_at="(now() - interval '2 hours')")
    assert await score.run_once(ground.conn, an_order()) == "0 scores written"
    await set_domain(ground, domain, first_seen_at="(now() - interval '3 hours')")
    assert await score.run_once(ground.conn, an_order()) == "1 score written"


async def test_a_score_that_is_a_day_old_is_written(ground: Ground) -> None:
    domain = await ground.a_domain(pages=1)
    await score.run_once(ground.conn, an_order())
    await set_domain(ground, domain, priority_computed_at="(now() - interval '25 hours')")
    assert await score.run_once(ground.conn, an_order()) == "1 score written"


async def test_in_seed_order_all_scores_are_nought(ground: Ground) -> None:
    await ground.a_domain(seed_rank=1, priority_score=700.0)
    await score.run_once(ground.conn, an_order(is_scored=False))
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
        assert await score.run_once(ground.conn, an_order()) == "1 score written"


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
    assert await windows.run_once(ground.conn, an_order()) == "1 domain put to sleep"
    assert ((await ground.domain(inside))["is_due"], (await ground.domain(outside))["is_due"]) == (False, True)
    asleep_s = await ground.conn.fetchval(
        "SELECT EXTRACT(EPOCH FROM due_at - now()) FROM domains WHERE id = $1", inside
    )
    assert 3590 < asleep_s <= 3601
    assert await windows.run_once(ground.conn, an_order()) == "0 domains put to sleep"
    assert await stage.broken_promises(ground) == {}


async def test_a_leased_domain_is_its_holders(ground: Ground) -> None:
    domain = await a_domain_with_a_window(ground, "in.example", HOUR_BEFORE, HOUR_AFTER)
    async with ground.conn.transaction():
        await ground.conn.execute("SET LOCAL session_replication_role = replica")
        await ground.a_lease(domain, await ground.a_worker())
    assert await windows.run_once(ground.conn, an_order()) == "0 domains put to sleep"


async def test_more_than_a_batch_is_put_to_sleep(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "BATCH", 2)
    for number in range(5):
        await a_domain_with_a_window(ground, f"d{number}.example", HOUR_BEFORE, HOUR_AFTER)
    assert await windows.run_once(ground.conn, an_order()) == "5 domains put to sleep"


# Prices -------------------------------------------------------------------------------------------------------------


async def an_adaptive_domain(ground: Ground, name: str = "a.example", *, pages: int = 20, **columns: Any) -> int:
    """Half of its pages change every day, the others never."""
    domain = await ground.a_domain(name)
    for number in range(pages):
        watched: dict[str, Any] = {"comparisons": 50, "changes": 32 * (number % 2), "watched_s": 50 * stage.DAY_S}
        await a_visited_page(ground, f"http://{name}/{number}", domain, **watched)
    given = {"is_adaptive": "(true)", "revisit_every_s": 86400}
    await set_domain(ground, domain, **given | columns)
    return domain


async def price_of(ground: Ground, domain: int) -> Any:
    return (await ground.domain(domain))["revisit_price"]


async def test_a_price_keeps_the_budget(ground: Ground) -> None:
    domain = await an_adaptive_domain(ground, revisits_per_day=10)
    assert await revisit_price.run_once(ground.conn, an_order()) == "1 price set"
    price = await price_of(ground, domain)
    lively, still = 1 / stage.DAY_S, 1 / (200 * stage.DAY_S)
    per_day = 10 * stage.DAY_S / interval_at(lively, price) + 10 * stage.DAY_S / interval_at(still, price)
    assert 8 < per_day < 12
    assert await stage.broken_promises(ground) == {}


async def test_a_smaller_budget_has_a_higher_price(ground: Ground) -> None:
    poor = await an_adaptive_domain(ground, revisits_per_day=2)
    rich = await an_adaptive_domain(ground, "b.example", revisits_per_day=200)
    await revisit_price.run_once(ground.conn, an_order())
    assert await price_of(ground, poor) > await price_of(ground, rich)


async def test_only_adaptive_domains_with_pages_that_were_read_have_one(ground: Ground) -> None:
    fixed = await an_adaptive_domain(ground, is_adaptive="(false)")
    empty = await ground.a_domain("b.example", pages=2)
    await set_domain(ground, empty, is_adaptive="(true)")
    assert await revisit_price.run_once(ground.conn, an_order()) == "0 prices set"
    assert (await price_of(ground, fixed), await price_of(ground, empty)) == (None, None)


async def test_a_sample_pays_with_its_share_of_the_budget(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    domain = await an_adaptive_domain(ground, pages=60, revisits_per_day=30)
    await revisit_price.run_once(ground.conn, an_order())
    exact = await price_of(ground, domain)
    monkeypatch.setattr(revisit_price, "MOST_SAMPLED", 30)
    await set_domain(ground, domain, revisit_price="(NULL)")
    await revisit_price.run_once(ground.conn, an_order())
    assert 0.5 * exact < await price_of(ground, domain) < 2 * exact


async def test_many_domains_are_priced_in_portions(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revisit_price, "BATCH", 2)
    for number in range(5):
        await an_adaptive_domain(ground, f"d{number}.example", pages=2)
    assert await revisit_price.run_once(ground.conn, an_order()) == "5 prices set"
    assert await ground.conn.fetchval("SELECT count(revisit_price) FROM domains") == 5
