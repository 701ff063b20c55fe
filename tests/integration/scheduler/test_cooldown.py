"""The end of a cooldown: who returns, who does not, and that who returns has something to do."""

from typing import Any

import pytest
from tests.ground import Ground
from tests.integration.scheduler import stage
from tests.integration.scheduler.stage import BLOCKED, PAST, UNREACHABLE, a_context, a_visited_page, set_domain

from forager.domains.jobs import cooldown
from forager.domains.jobs.cooldown import CooldownJob
from forager.frontier import claim

pytestmark = pytest.mark.both_servers


async def a_resting_domain(
    ground: Ground, name: str = "a.example", *, why: dict[str, str] = BLOCKED, **columns: Any
) -> int:
    domain = await ground.a_domain(name, run=await ground.a_run())
    await set_domain(ground, domain, **why | {"next_crawl_after": PAST, "ready_at": "(NULL)"} | columns)
    return domain


async def test_a_blocked_domain_returns_and_that_is_counted(ground: Ground) -> None:
    domain = await a_resting_domain(ground, blocked_returns=1)
    await ground.a_page("http://a.example/1", domain)
    assert await CooldownJob().run(a_context(ground.conn)) == "1 domain returned"
    row = await ground.domain(domain)
    assert (row["status"], row["blocked_returns"], row["next_crawl_after"]) == ("pending", 2, None)
    assert (row["block_reason"], row["block_reason_code"], row["is_due"]) == (None, None, True)
    assert await stage.last_move(ground, domain) == ("blocked", "pending", "cooldown_over", "cooldown over", "schedule")
    assert await stage.broken_promises(ground) == {}


async def test_an_unreachable_domain_returns_uncounted(ground: Ground) -> None:
    domain = await a_resting_domain(ground, why=UNREACHABLE)
    await CooldownJob().run(a_context(ground.conn))
    row = await ground.domain(domain)
    assert (row["status"], row["blocked_returns"]) == ("pending", 0)
    assert await stage.broken_promises(ground) == {}


@pytest.mark.parametrize("until", ["(now() + interval '1 hour')", "(NULL)"])
async def test_a_block_that_lasts_or_has_no_end_stays(ground: Ground, until: str) -> None:
    domain = await a_resting_domain(ground, next_crawl_after=until)
    assert await CooldownJob().run(a_context(ground.conn)) == "0 domains returned"
    assert (await ground.domain(domain))["status"] == "blocked"


async def test_a_domain_whose_frontier_is_not_empty_keeps_it_as_it_is(ground: Ground) -> None:
    domain = await a_resting_domain(ground)
    await a_visited_page(ground, "http://a.example/", domain, outcome="blocked_4xx", code=403, is_seed=True)
    await ground.a_page("http://a.example/1", domain)
    await CooldownJob().run(a_context(ground.conn))
    assert await stage.open_tasks(ground, domain) == {}
    assert (await ground.domain(domain))["frontier_size"] == 1


async def test_a_domain_that_refused_its_home_gets_it_opened_again(ground: Ground) -> None:
    domain = await a_resting_domain(ground)
    await a_visited_page(ground, "http://a.example/far", domain, outcome="blocked_4xx", code=403, depth=2)
    home = await a_visited_page(ground, "http://a.example/", domain, outcome="blocked_4xx", code=403, depth=0)
    await CooldownJob().run(a_context(ground.conn))
    row = await ground.domain(domain)
    assert await stage.open_tasks(ground, domain) == {"http://a.example/": "schedule"}
    assert ((await ground.page(home))["status"], row["frontier_size"], row["is_due"]) == ("queued", 1, True)
    assert await stage.broken_promises(ground) == {}


async def test_it_can_be_claimed_then(ground: Ground) -> None:
    domain = await a_resting_domain(ground)
    await a_visited_page(ground, "http://a.example/", domain, outcome="blocked_5xx", code=503)
    await CooldownJob().run(a_context(ground.conn))
    run = await ground.conn.fetchval("SELECT max(id) FROM runs")
    worker = await ground.a_worker(run)
    claimed = await claim.claim_domains(
        ground.conn, worker=worker, run=run, limit=10, lease_s=60.0, workers=1, max_pages_per_domain=None
    )
    assert [lease.domain_id for lease in claimed] == [domain]
    assert [target.url for target in await ground.targets(claimed[0], worker, run)] == ["http://a.example/"]


async def test_all_its_seeds_come_before_its_home(ground: Ground) -> None:
    domain = await a_resting_domain(ground)
    refused: dict[str, Any] = {"outcome": "blocked_4xx", "code": 403}
    await a_visited_page(ground, "http://a.example/", domain, depth=0, **refused)
    await a_visited_page(ground, "http://a.example/s1", domain, is_seed=True, **refused)
    await a_visited_page(ground, "http://a.example/s2", domain, is_seed=True, **refused)
    await a_visited_page(ground, "http://a.example/s3", domain, is_seed=True)
    await CooldownJob().run(a_context(ground.conn))
    assert set(await stage.open_tasks(ground, domain)) == {"http://a.example/s1", "http://a.example/s2"}
    assert (await ground.domain(domain))["frontier_size"] == 2
    assert await stage.broken_promises(ground) == {}


async def test_a_domain_that_was_read_to_its_end_gets_its_home_visited_again(ground: Ground) -> None:
    """It would be pending for ever otherwise, and never refreshed."""
    domain = await a_resting_domain(ground)
    home = await a_visited_page(ground, "http://a.example/", domain, depth=0)
    await a_visited_page(ground, "http://a.example/gone", domain, outcome="blocked_4xx", code=404)
    await CooldownJob().run(a_context(ground.conn))
    row = await ground.domain(domain)
    assert await stage.open_tasks(ground, domain) == {"http://a.example/": "schedule"}
    assert ((await ground.page(home))["status"], row["frontier_size"], row["is_due"]) == ("fetched", 0, True)
    assert await stage.broken_promises(ground) == {}


async def test_more_than_a_batch_returns(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cooldown, "BATCH", 2)
    for number in range(5):
        domain = await a_resting_domain(ground, f"d{number}.example")
        await a_visited_page(ground, f"http://d{number}.example/", domain, outcome="blocked_4xx", code=403)
    assert await CooldownJob().run(a_context(ground.conn)) == "5 domains returned"
    assert await CooldownJob().run(a_context(ground.conn)) == "0 domains returned"
    assert await stage.broken_promises(ground) == {}
