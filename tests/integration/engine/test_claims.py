"""Claiming for a run and handing back: limits hold over workers and over deaths, and nothing taken is forgotten."""

from typing import Any

import pytest
from tests.builders import a_spec, an_order
from tests.ground import Ground

from forager.db.database import Database
from forager.domains import store as domains
from forager.domains.store import Release, RobotsCopy
from forager.engine.claims import Claims
from forager.engine.config import RunConfig
from forager.engine.recovery import recover
from forager.frontier.models import Lease, Target
from forager.runs.models import RunSpec, Scope
from forager.stats import store as stats

pytestmark = pytest.mark.both_servers


class Crew:
    """Claims of one run, made by as many workers as a test names."""

    def __init__(self, ground: Ground, database: Database, run: int, spec: RunSpec) -> None:
        self.ground, self.run = ground, run
        self.claims = Claims(database, RunConfig(run, spec), an_order().lease)

    async def a_worker(self) -> int:
        return await self.ground.a_worker(self.run)

    async def lease(self, worker: int) -> list[Lease]:
        return (await self.claims.domains(worker, 100)).leases

    async def take(self, worker: int, want: int = 100) -> list[Target]:
        return await self.claims.targets(worker, [(lease, want) for lease in await self.lease(worker)])

    async def budget(self) -> int:
        found: int = await self.ground.conn.fetchval("SELECT pages_claimed FROM runs WHERE id = $1", self.run)
        return found

    async def bury(self, worker: int) -> None:
        await self.ground.conn.execute("UPDATE workers SET status = 'dead' WHERE id = $1", worker)
        await recover(self.ground.conn, dead_after_s=3600, delay_s=0.0)


@pytest.fixture
def crew(ground: Ground, database: Database) -> Any:
    async def make(**order: Any) -> Crew:
        spec = a_spec(**order)
        return Crew(ground, database, await ground.a_run(spec), spec)

    return make


async def test_a_claim_brings_robots_txt_along(crew: Any) -> None:
    desk: Crew = await crew()
    domain = await desk.ground.a_domain(run=desk.run, pages=1)
    copy = RobotsCopy(domain, "http://a.example", "Allow: /", 200, None, 60.0)
    await domains.store_robots(desk.ground.conn, [copy])
    claimed = await desk.claims.domains(await desk.a_worker(), 10)
    assert [robots.text for robots in claimed.robots] == ["Allow: /"]


async def test_a_page_limit_is_shared_by_domains_and_then_spent(crew: Any) -> None:
    desk: Crew = await crew(max_pages=5)
    for name in ("a.example", "b.example"):
        await desk.ground.a_domain(name, run=desk.run, pages=10)
    worker = await desk.a_worker()
    leases = await desk.lease(worker)
    targets = await desk.claims.targets(worker, [(lease, 10) for lease in leases])
    assert sorted(sum(target.domain_id == lease.domain_id for target in targets) for lease in leases) == [2, 3]
    assert not desk.claims.is_spent
    assert await desk.claims.targets(worker, [(leases[0], 10)]) == []
    assert desk.claims.is_spent


async def test_a_limit_that_got_pages_back_while_it_was_asked_is_not_spent(
    crew: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was put down may be told of before the answer of the database, which knew nothing of it."""
    desk: Crew = await crew(max_pages=1)
    await desk.ground.a_domain(run=desk.run, pages=3)
    worker = await desk.a_worker()
    reserve = stats.acquire_pages
    (lease,) = await desk.lease(worker)
    assert len(await desk.claims.targets(worker, [(lease, 3)])) == 1

    async def and_meanwhile(*given: Any) -> int:
        granted = await reserve(*given)
        desk.claims.resume()
        return granted

    with monkeypatch.context() as patched:
        patched.setattr(stats, "acquire_pages", and_meanwhile)
        assert await desk.claims.targets(worker, [(lease, 3)]) == []
    assert not desk.claims.is_spent
    assert await desk.claims.targets(worker, [(lease, 3)]) == []
    assert desk.claims.is_spent


async def test_what_was_reserved_and_not_found_goes_back(crew: Any) -> None:
    desk: Crew = await crew(max_pages=50)
    await desk.ground.a_domain(run=desk.run, pages=3)
    assert len(await desk.take(await desk.a_worker(), want=20)) == 3
    assert await desk.budget() == 3


async def test_what_was_taken_and_not_visited_goes_back_with_the_lease(crew: Any) -> None:
    desk: Crew = await crew(max_pages=50, max_pages_per_domain=10)
    domain = await desk.ground.a_domain(run=desk.run, pages=3)
    worker = await desk.a_worker()
    (lease,) = await desk.lease(worker)
    await desk.claims.targets(worker, [(lease, 20)])
    await desk.claims.release(worker, [Release(lease, wait_s=0.0)])
    row = await desk.ground.domain(domain)
    assert (await desk.budget(), row["run_pages"]) == (0, 0)
    assert (row["claimed_by"], row["status"], row["frontier_size"]) == (None, "active", 3)
    assert row["ready_at"] is not None
    assert len(await desk.take(await desk.a_worker())) == 3


@pytest.mark.parametrize("limit", [{"max_pages": 3}, {"max_pages_per_domain": 3}], ids=str)
async def test_what_a_dead_worker_had_taken_is_taken_again_within_the_limit(crew: Any, limit: dict[str, int]) -> None:
    """A kill costs the run nothing: its limit counts visits, not attempts to make them."""
    desk: Crew = await crew(**limit)
    await desk.ground.a_domain(run=desk.run, pages=5)
    dead = await desk.a_worker()
    first = await desk.take(dead)
    assert len(first) == 3
    await desk.bury(dead)
    second = await desk.take(await desk.a_worker())
    assert {target.task_id for target in second} == {target.task_id for target in first}


async def test_a_lost_lease_is_not_handed_back(crew: Any) -> None:
    desk: Crew = await crew()
    domain = await desk.ground.a_domain(run=desk.run, pages=2)
    worker = await desk.a_worker()
    (lease,) = await desk.lease(worker)
    thief = await desk.a_worker()
    stolen = await desk.ground.a_lease(domain, thief)
    targets = await desk.ground.targets(stolen, thief, desk.run)
    await desk.claims.release(worker, [Release(lease, wait_s=0.0)])
    row = await desk.ground.domain(domain)
    assert (row["claimed_by"], row["version"]) == (thief, stolen.version)
    assert (await desk.ground.task(targets[0].task_id))["locked_by"] == thief


async def test_a_limit_per_domain_holds_over_leases(crew: Any) -> None:
    desk: Crew = await crew(max_pages_per_domain=2)
    await desk.ground.a_domain(run=desk.run, pages=5)
    worker = await desk.a_worker()
    (lease,) = await desk.lease(worker)
    assert len(await desk.claims.targets(worker, [(lease, 1)])) == 1
    assert len(await desk.claims.targets(worker, [(lease, 9)])) == 1
    assert await desk.claims.targets(worker, [(lease, 9)]) == []


async def test_depth_and_patterns_of_the_order_hold(crew: Any) -> None:
    desk: Crew = await crew(max_depth=2, exclude=("*/1",), scope=Scope.HOST)
    domain = await desk.ground.a_domain(run=desk.run, pages=3, depth=2)
    await desk.ground.a_page("http://a.example/deep", domain, depth=3)
    targets = await desk.take(await desk.a_worker())
    assert {target.url for target in targets} == {"http://a.example/2", "http://a.example/3"}


async def test_a_crawl_of_single_pages_takes_its_seeds_and_no_other(crew: Any) -> None:
    desk: Crew = await crew(scope=Scope.PAGE)
    domain = await desk.ground.a_domain(run=desk.run, pages=2, depth=1)
    await desk.ground.a_page("http://a.example/", domain, depth=0)
    await desk.ground.a_page("http://a.example/an-older-seed", domain, depth=0)
    assert [target.url for target in await desk.take(await desk.a_worker())] == ["http://a.example/"]
