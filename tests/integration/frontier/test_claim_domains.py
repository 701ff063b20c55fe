"""Which domains a worker may lease: ready, wanted by its run, nobody else's, and not more than its share."""

import asyncio
from typing import Any

import asyncpg
import pytest
from tests.ground import Ground

from forager.domains import store as domains
from forager.frontier import claim as claims
from forager.frontier.models import Lease

pytestmark = pytest.mark.both_servers

IN_AN_HOUR = "(now() + interval '1 hour')"
BLOCKED = {"block_reason_code": "x"}
NOT_CLAIMABLE: dict[str, dict[str, Any]] = {
    "exhausted": {"status": "exhausted"},
    "inactive": {"is_active": False},
    "never ready": {"ready_at": None},
    "ready later": {"ready_at": IN_AN_HOUR},
    "resting": {"next_crawl_after": IN_AN_HOUR},
    "of no run": {"run_id": None},
    "over its limit": {"run_pages": 10},
}


async def claim(conn: Any, worker: int, run: int, *, limit: int = 100, workers: int = 1) -> list[Lease]:
    return await claims.claim_domains(
        conn, worker=worker, run=run, limit=limit, lease_s=60.0, workers=workers, max_pages_per_domain=10
    )


async def test_a_ready_domain_is_leased(ground: Ground) -> None:
    run = await ground.a_run()
    worker = await ground.a_worker(run)
    domain = await ground.a_domain(
        run=run,
        pages=1,
        crawl_delay_s=3.0,
        max_concurrent_requests=2,
        verifies_tls=False,
        next_allowed_at="(now() + interval '30 seconds')",
    )
    (lease,) = await claim(ground.conn, worker, run)
    assert (lease.domain_id, lease.domain, lease.version) == (domain, "a.example", 1)
    assert (lease.settings.delay, lease.settings.concurrency, lease.settings.verify_tls) == (3.0, 2, False)
    assert 25 < lease.wait_s <= 30
    row = await ground.domain(domain)
    assert (row["claimed_by"], row["version"], row["status"]) == (worker, 1, "active")
    assert await ground.conn.fetchval("SELECT claim_expires_at > now() + interval '50 seconds' FROM domains")


async def test_a_leased_domain_is_not_leased_again(ground: Ground) -> None:
    run = await ground.a_run()
    await ground.a_domain(run=run, pages=1)
    assert len(await claim(ground.conn, await ground.a_worker(run), run)) == 1
    assert await claim(ground.conn, await ground.a_worker(run), run) == []


@pytest.mark.parametrize("why", NOT_CLAIMABLE)
async def test_a_domain_is_left_alone(ground: Ground, why: str) -> None:
    run = await ground.a_run()
    await ground.a_domain(run=run, pages=1, **NOT_CLAIMABLE[why])
    assert await claim(ground.conn, await ground.a_worker(run), run) == []


@pytest.mark.parametrize("status", ["blocked", "unreachable"])
async def test_a_domain_that_does_not_want_us_is_left_alone(ground: Ground, status: str) -> None:
    run = await ground.a_run()
    await getattr(ground.new_domain, status)(run=run, pages=1, in_s=-1.0)
    assert await claim(ground.conn, await ground.a_worker(run), run) == []


async def test_a_pending_domain_becomes_active(ground: Ground) -> None:
    run = await ground.a_run()
    await ground.conn.execute(
        "INSERT INTO domains (name, parent_domain, base_url, run_id, ready_at) VALUES ('p.example', '', '', $1, now())",
        run,
    )
    (lease,) = await claim(ground.conn, await ground.a_worker(run), run)
    assert (await ground.domain(lease.domain_id))["status"] == "active"


async def test_another_runs_domains_are_left_alone(ground: Ground) -> None:
    ours, theirs = await ground.a_run(), await ground.a_run()
    await ground.a_domain(run=theirs, pages=1)
    assert await claim(ground.conn, await ground.a_worker(ours), ours) == []


async def test_the_best_domains_come_first(ground: Ground) -> None:
    run = await ground.a_run()
    for number, score in enumerate([1.0, 9.0, 5.0]):
        await ground.a_domain(f"d{number}.example", run=run, pages=1, priority_score=score)
    leases = await claim(ground.conn, await ground.a_worker(run), run, limit=2)
    assert {lease.domain for lease in leases} == {"d1.example", "d2.example"}


async def test_urgent_domains_come_first_then_boosted_ones(ground: Ground) -> None:
    """Whatever their rounds and scores; a negative boost counts in the score only."""
    run = await ground.a_run()
    worker = await ground.a_worker(run)
    await ground.a_domain("best.example", run=run, pages=1, priority_score=9000.0)
    await ground.a_domain("later.example", run=run, pages=1, round=1, priority_boost=-5.0)
    await ground.a_domain("boosted.example", run=run, pages=1, round=7, priority_boost=1.0)
    urgent = await ground.a_domain("urgent.example", run=run, round=9)
    task = await ground.a_task(await ground.a_page("http://urgent.example/", urgent), is_urgent=True)
    claimed = [lease.domain for _ in range(4) for lease in await claim(ground.conn, worker, run, limit=1)]
    assert claimed == ["urgent.example", "boosted.example", "best.example", "later.example"]
    await ground.conn.execute("UPDATE crawl_tasks SET locked_at = now(), locked_by = $2 WHERE id = $1", task, worker)
    row = await ground.domain(urgent)
    assert (row["urgent_at"], row["urgency"]) == (None, 0)


async def test_a_domain_is_urgent_when_its_task_is_due(ground: Ground) -> None:
    run = await ground.a_run()
    domain = await ground.a_domain("urgent.example", run=run, pages=1)
    task = await ground.a_task(await ground.a_page("http://urgent.example/", domain), due_in_s=3600, is_urgent=True)
    row = await ground.domain(domain)
    assert (row["urgency"], row["urgent_at"] is not None) == (0, True)
    await ground.conn.execute("UPDATE crawl_tasks SET scheduled_for = now() + interval '50 ms' WHERE id = $1", task)
    assert (await ground.domain(domain))["urgency"] == 0
    await ground.conn.fetchval("SELECT pg_sleep(0.06)")
    await domains.wake_due(ground.conn, run)
    assert (await ground.domain(domain))["urgency"] == 2
    await ground.conn.execute("UPDATE crawl_tasks SET status = 'paused' WHERE id = $1", task)
    assert (await ground.domain(domain))["urgency"] == 0
    await ground.conn.execute("UPDATE crawl_tasks SET status = 'pending' WHERE id = $1", task)
    assert (await ground.domain(domain))["urgency"] == 2
    await ground.conn.execute("DELETE FROM crawl_tasks WHERE id = $1", task)
    assert (await ground.domain(domain))["urgency"] == 0


async def test_workers_share_the_domains(ground: Ground) -> None:
    run = await ground.a_run()
    for number in range(10):
        await ground.a_domain(f"d{number}.example", run=run, pages=1)
    one, two = await ground.a_worker(run), await ground.a_worker(run)
    assert len(await claim(ground.conn, one, run, workers=2)) == 5
    assert len(await claim(ground.conn, one, run, workers=2)) == 0
    assert len(await claim(ground.conn, two, run, workers=2)) == 5


async def test_an_odd_domain_is_not_left_over(ground: Ground) -> None:
    run = await ground.a_run()
    for number in range(3):
        await ground.a_domain(f"d{number}.example", run=run, pages=1)
    one, two = await ground.a_worker(run), await ground.a_worker(run)
    assert len(await claim(ground.conn, one, run, workers=2)) == 2
    assert len(await claim(ground.conn, two, run, workers=2)) == 1


LONG_AGO = "(now() - interval '1 hour')"
NO_SHARE: dict[str, dict[str, Any]] = {
    "dead": {"status": "dead"},
    "silent": {"silent_s": 100},
    "drained": {"drain_asked_at": LONG_AGO},
    "paused": {"pause_reason": "network_down", "paused_since": LONG_AGO},
}


@pytest.mark.parametrize("why", NO_SHARE)
async def test_a_worker_that_takes_nothing_has_no_share(ground: Ground, why: str) -> None:
    """The run expects three workers and has two, one of which is lost; the first of them started long ago."""
    run = await ground.a_run()
    for number in range(10):
        await ground.a_domain(f"d{number}.example", run=run, pages=1)
    worker = await ground.a_worker(run, started_at=LONG_AGO)
    await ground.a_worker(run, started_at=LONG_AGO, **NO_SHARE[why])
    leases = await claims.claim_domains(
        ground.conn, worker=worker, run=run, limit=100, lease_s=60.0, workers=3, max_pages_per_domain=10, live_s=60.0
    )
    assert len(leases) == 10


async def test_more_live_workers_than_announced_share(ground: Ground) -> None:
    run = await ground.a_run()
    for number in range(10):
        await ground.a_domain(f"d{number}.example", run=run, pages=1)
    one, _ = await ground.a_worker(run, started_at=LONG_AGO), await ground.a_worker(run)
    assert len(await claim(ground.conn, one, run, workers=1)) == 5


@pytest.mark.parametrize("lost", [{"status": "dead"}, {"silent_s": 150}])
async def test_a_worker_that_others_take_for_lost_claims_nothing(ground: Ground, lost: dict[str, Any]) -> None:
    run = await ground.a_run()
    await ground.a_domain(run=run, pages=1)
    assert await claim(ground.conn, await ground.a_worker(run, **lost), run) == []


async def test_racing_workers_never_lease_one_domain_twice(ground: Ground, pool: asyncpg.Pool) -> None:
    run = await ground.a_run()
    await ground.conn.execute(
        "INSERT INTO domains (name, parent_domain, base_url, run_id, ready_at)"
        " SELECT 'd' || n || '.example', '', '', $1, now() FROM generate_series(1, 60) n",
        run,
    )
    workers = [await ground.a_worker(run) for _ in range(10)]

    async def race(worker: int) -> list[tuple[int, int]]:
        won: list[tuple[int, int]] = []
        for _ in range(6):
            async with pool.acquire() as conn, conn.transaction():
                won += [(lease.domain_id, worker) for lease in await claim(conn, worker, run, limit=2, workers=10)]
        return won

    won = [pair for pairs in await asyncio.gather(*map(race, workers)) for pair in pairs]
    domains = [domain for domain, _ in won]
    assert len(domains) == len(set(domains))
    rows = await ground.conn.fetch("SELECT id, claimed_by, version FROM domains WHERE claimed_by IS NOT NULL")
    assert {(row["id"], row["claimed_by"]) for row in rows} == set(won)
    assert {row["version"] for row in rows} == {1}
    assert len(won) >= 54  # the shares of ten workers, but for what was locked at the moment
