"""How exhausted domains wake within seconds: a task of theirs is due."""

import pytest
from tests.ground import Ground
from tests.integration.scheduler import stage
from tests.integration.scheduler.stage import PAST, a_context, a_visited_page, set_domain
from tests.integration.scheduler.test_refresh import HOME, a_revisit, an_exhausted_domain

from forager.domains import tasks as domains
from forager.domains.jobs.wake import WakeJob

pytestmark = pytest.mark.both_servers
LONG_AGO = "(now() - interval '90 days')"


async def wake(ground: Ground) -> str:
    return await WakeJob().run(a_context(ground.conn))


async def test_a_task_wakes_its_domain_when_it_is_due(ground: Ground) -> None:
    domain = await an_exhausted_domain(ground, next_crawl_after="(now() + interval '14 days')")
    page = await a_visited_page(ground, HOME, domain)
    await a_revisit(ground, page, due_in_s=0.05, by="alice")
    (due_at,) = await ground.conn.fetchrow("SELECT scheduled_for FROM crawl_tasks WHERE outcome IS NULL")
    await domains.expect_visits(ground.conn, {domain: due_at}, {})
    assert await wake(ground) == "0 domains woken"
    await ground.conn.fetchval("SELECT pg_sleep(0.06)")
    assert await wake(ground) == "1 domain woken"
    row = await ground.domain(domain)
    assert (row["status"], row["is_due"]) == ("pending", True)
    assert await stage.last_move(ground, domain) == ("exhausted", "pending", "revisit", "a task is due", "schedule")
    assert await stage.broken_promises(ground) == {}


async def test_a_domain_without_a_task_is_not_read_again(ground: Ground) -> None:
    domain = await an_exhausted_domain(ground, pages=1, ready_at=PAST)
    assert await wake(ground) == "0 domains woken"
    assert (await ground.domain(domain))["ready_at"] is None


async def test_a_domain_in_cooldown_sleeps_on(ground: Ground) -> None:
    domain = await an_exhausted_domain(ground, ready_at=PAST, next_crawl_after="(now() + interval '1 hour')")
    await a_revisit(ground, await a_visited_page(ground, HOME, domain))
    assert await wake(ground) == "0 domains woken"


@pytest.mark.parametrize(("by", "woken"), [("revisit", "0 domains woken"), ("alice", "1 domain woken")])
async def test_a_domain_whose_refresh_is_due_is_left_to_it_unless_a_person_ordered_the_task(
    ground: Ground, by: str, woken: str
) -> None:
    """Otherwise frequent revisits would keep a domain from ever being refreshed."""
    domain = await an_exhausted_domain(ground)
    await a_revisit(ground, await a_visited_page(ground, HOME, domain), by=by)
    await ground.conn.execute(f"UPDATE domain_history SET moved_at = {LONG_AGO}")
    await set_domain(ground, domain, ready_at=PAST)
    assert await wake(ground) == woken
