"""How exhausted domains wake: for a revisit that is due, or to have all of their pages visited again."""

from typing import Any

import asyncpg
import pytest
from tests.ground import Ground
from tests.integration.scheduler import stage
from tests.integration.scheduler.stage import PAST, a_context, a_visited_page, set_domain

from forager.domains.jobs import refresh
from forager.domains.jobs.refresh import RefreshJob

pytestmark = pytest.mark.both_servers
HOME = "http://a.example/"


async def an_exhausted_domain(ground: Ground, name: str = "a.example", *, pages: int = 0, **columns: Any) -> int:
    """Its time has come; so many pages were read."""
    domain = await ground.a_domain(name, run=await ground.a_run())
    for number in range(pages):
        await a_visited_page(ground, f"http://{name}/{number or ''}", domain)
    await set_domain(
        ground, domain, **{"status": "exhausted", "ready_at": "(NULL)", "next_crawl_after": PAST} | columns
    )
    return domain


async def a_revisit(ground: Ground, page: int, *, due_in_s: float = 0.0, by: str = "revisit") -> None:
    """An open task of a page that was read."""
    await ground.a_task(page, due_in_s=due_in_s, created_by=by)
    await ground.conn.execute("UPDATE pages SET status = 'fetched' WHERE id = $1", page)


async def rests_for_s(ground: Ground, domain: int) -> float:
    rest_s: float = await ground.conn.fetchval(
        "SELECT EXTRACT(EPOCH FROM next_crawl_after - now())::float8 FROM domains WHERE id = $1", domain
    )
    return rest_s


async def test_a_refresh_visits_again_what_was_read_and_nothing_else(ground: Ground) -> None:
    domain = await an_exhausted_domain(ground, pages=2)
    await a_visited_page(ground, f"{HOME}gone", domain, outcome="blocked_4xx", code=404)
    await a_visited_page(ground, f"{HOME}refused", domain, outcome="blocked_4xx", code=403)
    await a_visited_page(ground, f"{HOME}failed", domain, outcome="blocked_5xx", code=500)
    assert await RefreshJob().run(a_context(ground.conn)) == "1 domain woken, 2 pages to refresh"
    row = await ground.domain(domain)
    assert await stage.open_tasks(ground, domain) == {HOME: "refresh", f"{HOME}1": "refresh"}
    assert (row["status"], row["is_due"], row["frontier_size"], row["next_crawl_after"]) == ("pending", True, 0, None)
    assert await stage.last_move(ground, domain) == ("exhausted", "pending", "refresh", "refresh due", "schedule")
    assert await ground.urls("status = 'fetched'") == {HOME, f"{HOME}1"}
    assert await stage.broken_promises(ground) == {}


async def test_tasks_of_a_refresh_are_as_urgent_as_their_pages(ground: Ground) -> None:
    domain = await an_exhausted_domain(ground)
    await a_visited_page(ground, HOME, domain, priority=2)
    await RefreshJob().run(a_context(ground.conn))
    assert await ground.conn.fetchval("SELECT priority FROM crawl_tasks WHERE outcome IS NULL") == 2


async def test_the_score_is_made_anew_when_a_domain_wakes(ground: Ground) -> None:
    domain = await an_exhausted_domain(ground, pages=1, seed_rank=1)
    await RefreshJob().run(a_context(ground.conn))
    row = await ground.domain(domain)
    assert row["priority_score"] >= 1000
    assert row["priority_computed_at"] is not None


async def test_domains_whose_time_has_not_come_or_that_are_off_stay(ground: Ground) -> None:
    later = await an_exhausted_domain(ground, pages=1, next_crawl_after="(now() + interval '1 hour')")
    paused = await an_exhausted_domain(ground, "b.example", pages=1, is_active="(false)")
    never = await an_exhausted_domain(ground, "c.example", pages=1, next_crawl_after="(NULL)")
    assert await RefreshJob().run(a_context(ground.conn)) == "0 domains woken, 0 pages to refresh"
    for domain in (later, paused, never):
        assert (await ground.domain(domain))["status"] == "exhausted"


async def test_a_revisit_that_is_due_wakes_its_domain_for_nothing_else(ground: Ground) -> None:
    domain = await an_exhausted_domain(ground, pages=2)
    await a_revisit(ground, await ground.conn.fetchval("SELECT id FROM pages WHERE url = $1", HOME))
    assert await RefreshJob().run(a_context(ground.conn)) == "1 domain woken, 0 pages to refresh"
    assert await stage.open_tasks(ground, domain) == {HOME: "revisit"}
    assert await stage.last_move(ground, domain) == ("exhausted", "pending", "revisit", "revisit due", "schedule")
    assert await stage.broken_promises(ground) == {}


async def test_frequent_revisits_do_not_keep_the_refresh_waiting_for_ever(ground: Ground) -> None:
    domain = await an_exhausted_domain(ground, pages=2)
    await a_revisit(ground, await ground.conn.fetchval("SELECT id FROM pages WHERE url = $1", HOME))
    await ground.conn.execute("UPDATE domain_history SET moved_at = now() - interval '15 days'")
    assert await RefreshJob().run(a_context(ground.conn)) == "1 domain woken, 1 page to refresh"
    assert await stage.open_tasks(ground, domain) == {HOME: "revisit", f"{HOME}1": "refresh"}


async def test_a_refresh_that_came_lately_lets_revisits_alone(ground: Ground) -> None:
    """Exhausted first 15 days ago, refreshed yesterday."""
    domain = await an_exhausted_domain(ground, pages=2)
    await RefreshJob().run(a_context(ground.conn))
    await ground.conn.execute(
        "UPDATE domain_history SET moved_at = now() - interval '15 days' WHERE reason_code IS NULL"
    )
    async with ground.conn.transaction():
        await ground.conn.execute("SET LOCAL session_replication_role = replica")
        await set_domain(ground, domain, status="exhausted", next_crawl_after=PAST)
    await ground.conn.execute("DELETE FROM crawl_tasks WHERE outcome IS NULL")
    await a_revisit(ground, await ground.conn.fetchval("SELECT id FROM pages WHERE url = $1", HOME))
    assert await RefreshJob().run(a_context(ground.conn)) == "1 domain woken, 0 pages to refresh"


async def test_a_page_that_waits_for_its_revisit_is_left_to_it(ground: Ground) -> None:
    domain = await an_exhausted_domain(ground, pages=2)
    page = await ground.conn.fetchval("SELECT id FROM pages WHERE url = $1", HOME)
    await a_revisit(ground, page, due_in_s=3600)
    await RefreshJob().run(a_context(ground.conn))
    assert await stage.open_tasks(ground, domain) == {f"{HOME}1": "refresh"}
    assert await stage.broken_promises(ground) == {}


async def test_a_refresh_that_was_cut_short_is_finished(ground: Ground) -> None:
    """Killed between two batches: the domain still is exhausted, and some of its pages have their task."""
    domain = await an_exhausted_domain(ground, pages=3)
    page = await ground.conn.fetchval("SELECT id FROM pages WHERE url = $1", HOME)
    await a_revisit(ground, page, by="refresh")
    assert await RefreshJob().run(a_context(ground.conn)) == "1 domain woken, 2 pages to refresh"
    assert len(await stage.open_tasks(ground, domain)) == 3
    assert await stage.broken_promises(ground) == {}


async def test_a_domain_without_a_page_to_visit_again_rests_once_more(ground: Ground) -> None:
    domain = await an_exhausted_domain(ground, refresh_every_s=1000)
    await a_visited_page(ground, HOME, domain, outcome="blocked_4xx", code=404)
    assert await RefreshJob().run(a_context(ground.conn)) == "0 domains woken, 0 pages to refresh"
    assert (await ground.domain(domain))["status"] == "exhausted"
    assert 990 < await rests_for_s(ground, domain) <= 1000
    assert await stage.broken_promises(ground) == {}


async def test_without_refreshing_only_revisits_wake(ground: Ground) -> None:
    old = await an_exhausted_domain(ground, pages=1)
    due = await an_exhausted_domain(ground, "b.example", pages=1)
    await a_revisit(ground, await ground.conn.fetchval("SELECT id FROM pages WHERE url = 'http://b.example/'"))
    assert await RefreshJob().run(a_context(ground.conn, refresh_enabled=False)) == "1 domain woken, 0 pages to refresh"
    assert ((await ground.domain(old))["status"], (await ground.domain(due))["status"]) == ("exhausted", "pending")
    assert await rests_for_s(ground, old) > 13 * stage.DAY_S


async def test_a_huge_domain_is_walked_step_by_step(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh, "PORTION_PAGES", 4)
    huge = await an_exhausted_domain(ground, pages=11)
    small = await an_exhausted_domain(ground, "b.example", pages=2)
    other = await an_exhausted_domain(ground, "c.example", pages=2)
    assert await RefreshJob().run(a_context(ground.conn)) == "3 domains woken, 15 pages to refresh"
    assert [len(await stage.open_tasks(ground, domain)) for domain in (huge, small, other)] == [11, 2, 2]
    assert await RefreshJob().run(a_context(ground.conn)) == "0 domains woken, 0 pages to refresh"
    assert await stage.broken_promises(ground) == {}


@pytest.mark.parametrize("limit", ["MOST_PAGES", "MOST_DOMAINS"])
async def test_the_best_yield_comes_first_and_the_rest_in_the_next_round(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(refresh, "PORTION_DOMAINS", 1)
    monkeypatch.setattr(refresh, limit, 2)
    fresh = await an_exhausted_domain(ground, "a.example", pages=1, last_crawled_at="(now())")
    stale = await an_exhausted_domain(ground, "b.example", pages=1, last_crawled_at="(now() - interval '1 day')")
    rich = await an_exhausted_domain(ground, "c.example", pages=1, images_stored=5, last_crawled_at="(now())")
    await RefreshJob().run(a_context(ground.conn))
    states = [(await ground.domain(domain))["status"] for domain in (fresh, stale, rich)]
    assert states == ["exhausted", "pending", "pending"]
    await RefreshJob().run(a_context(ground.conn))
    assert (await ground.domain(fresh))["status"] == "pending"


async def test_a_domain_somebody_is_writing_to_is_left_for_the_next_round(ground: Ground, pool: asyncpg.Pool) -> None:
    """As a learner does, who makes it active."""
    domain = await an_exhausted_domain(ground, pages=1)
    await a_revisit(ground, await ground.conn.fetchval("SELECT id FROM pages"))
    async with pool.acquire() as other, other.transaction():
        await other.execute("SELECT FROM domains WHERE id = $1 FOR NO KEY UPDATE", domain)
        assert await RefreshJob().run(a_context(ground.conn)) == "0 domains woken, 0 pages to refresh"
    assert await RefreshJob().run(a_context(ground.conn)) == "1 domain woken, 0 pages to refresh"
