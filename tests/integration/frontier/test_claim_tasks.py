"""The best pages of leased domains become locked tasks, within the run's limits and only under a valid lease."""

from collections import Counter
from typing import Any

import pytest
from tests.ground import NO_PATTERNS, Ground

from forager.frontier import claim
from forager.frontier.models import Lease

pytestmark = pytest.mark.both_servers


class Desk:
    """One worker of one run, with one leased domain."""

    def __init__(self, ground: Ground, run: int, worker: int, domain: int, lease: Lease) -> None:
        self.ground, self.run, self.worker, self.domain, self.lease = ground, run, worker, domain, lease

    async def claim(self, want: int = 100, **limits: Any) -> list[str]:
        return [
            target.url.removeprefix("http://a.example/")
            for target in await self.ground.targets(self.lease, self.worker, self.run, want, **limits)
        ]


@pytest.fixture
async def desk(ground: Ground) -> Desk:
    run = await ground.a_run()
    worker = await ground.a_worker(run)
    domain = await ground.a_domain(run=run)
    return Desk(ground, run, worker, domain, await ground.a_lease(domain, worker))


async def pages(desk: Desk, **priorities: int) -> dict[str, int]:
    return {
        name: await desk.ground.a_page(f"http://a.example/{name}", desk.domain, priority=priority)
        for name, priority in priorities.items()
    }


async def test_pages_leave_by_priority_then_by_age(desk: Desk) -> None:
    await pages(desk, low=8, older=5, newer=5, seed=1)
    assert await desk.claim() == ["seed", "older", "newer", "low"]


async def test_a_claimed_page_is_queued_and_its_task_locked(desk: Desk) -> None:
    ids = await pages(desk, x=3)
    (target,) = await desk.ground.targets(desk.lease, desk.worker, desk.run)
    assert (target.page_id, target.domain_id, target.lease_version) == (ids["x"], desk.domain, desk.lease.version)
    assert (await desk.ground.page(ids["x"]))["status"] == "queued"
    task = await desk.ground.task(target.task_id)
    assert (task["status"], task["locked_by"], task["run_id"], task["priority"]) == (
        "crawling",
        desk.worker,
        desk.run,
        3,
    )
    assert task["locked_at"] is not None


async def test_no_more_is_claimed_than_wanted_and_nothing_twice(desk: Desk) -> None:
    await pages(desk, a=1, b=2, c=3)
    assert await desk.claim(2) == ["a", "b"]
    assert await desk.claim(2) == ["c"]
    assert await desk.claim(2) == []


async def test_due_tasks_and_new_pages_leave_by_one_rule(desk: Desk) -> None:
    """Revisits used to come first: a new seed of a large recurring site waited behind all of them."""
    ids = await pages(desk, revisit=9, seed=1, near=2, later=1, retry=5, content=5)
    await desk.ground.a_task(ids["revisit"], priority=9)
    await desk.ground.a_task(ids["later"], due_in_s=3600)
    await desk.ground.a_task(ids["retry"], due_in_s=-60, retry_count=2)
    assert await desk.claim(1) == ["seed"]
    assert await desk.claim() == ["near", "retry", "content", "revisit"]


async def test_urgent_tasks_leave_first_then_new_seeds(desk: Desk) -> None:
    ids = await pages(desk, seed=1, revisit=1, urgent=5)
    await desk.ground.a_task(ids["revisit"], due_in_s=-3600, priority=1)
    await desk.ground.a_task(ids["urgent"], priority=2, is_urgent=True)
    assert await desk.claim(2) == ["urgent", "seed"]
    assert await desk.claim() == ["revisit"]


@pytest.mark.parametrize("want", [1, 2, 4, 8])
@pytest.mark.parametrize("worse", ["due", "new"])
async def test_revisits_and_first_visits_keep_one_place_in_four_each(desk: Desk, want: int, worse: str) -> None:
    """Neither revisits nor new pages wait until the other kind has an end."""
    for number in range(16):
        await desk.ground.a_page(f"http://a.example/new{number}", desk.domain, priority=9 if worse == "new" else 2)
        page = await desk.ground.a_page(f"http://a.example/due{number}", desk.domain)
        await desk.ground.a_task(page, priority=9 if worse == "due" else 2)
        await desk.ground.conn.execute("UPDATE pages SET status = 'fetched' WHERE id = $1", page)
    claimed = []
    for _ in range(16 // want):
        claimed += await desk.claim(want)
        await desk.ground.conn.execute("UPDATE domains SET pages_crawled = pages_crawled + $1", want)
    assert sum(url.startswith(worse) for url in claimed) == len(claimed) // 4


async def test_kept_places_do_not_depend_on_how_the_places_are_cut(ground: Ground) -> None:
    kept = "SELECT sum(kept_places(v, w)) FROM unnest($1::bigint[], $2::int[]) AS n (v, w)"
    for visits in (0, 1, 2, 3, 10**12):
        assert await ground.conn.fetchval(kept, [visits], [8]) == 2
        assert await ground.conn.fetchval(kept, [visits + n for n in range(8)], [1] * 8) == 2
        assert await ground.conn.fetchval(kept, [visits, visits + 3, visits + 5], [3, 2, 3]) == 2
    assert await ground.conn.fetchval(kept, [5, 5], [0, -3]) == 0


async def test_a_retry_keeps_its_count(desk: Desk) -> None:
    ids = await pages(desk, due=9)
    await desk.ground.a_task(ids["due"], retry_count=2)
    (target,) = await desk.ground.targets(desk.lease, desk.worker, desk.run)
    assert target.retry_count == 2


async def test_a_task_somebody_holds_or_paused_is_not_claimed(desk: Desk) -> None:
    ids = await pages(desk, locked=1, paused=1)
    await desk.ground.new_task.locked(ids["locked"])
    await desk.ground.new_task.paused(ids["paused"])
    assert await desk.claim() == []


async def test_pages_too_deep_stay(desk: Desk) -> None:
    await desk.ground.a_page("http://a.example/near", desk.domain, depth=3)
    far = await desk.ground.a_page("http://a.example/far", desk.domain, depth=4)
    await desk.ground.a_task(await desk.ground.a_page("http://a.example/far-due", desk.domain, depth=4))
    assert await desk.claim(max_depth=3) == ["near"]
    assert (await desk.ground.page(far))["status"] == "discovered"


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (NO_PATTERNS, {"tea/1", "tea/2", "pot/1"}),
        ((["http://a.example/tea/%"], None, None), {"tea/1", "tea/2"}),
        ((None, ["%/1", "%/9"], None), {"tea/1", "pot/1"}),
        ((None, None, ["%pot%", "%/2"]), {"tea/1"}),
        ((["http://a.example/tea/%"], ["%1"], ["%tea%"]), set()),
    ],
)
@pytest.mark.parametrize("are_due_tasks", [False, True])
async def test_patterns_hold_for_pages_and_for_due_tasks(
    desk: Desk, patterns: Any, expected: set[str], are_due_tasks: bool
) -> None:
    for page in (await pages(desk, **{"tea/1": 5, "tea/2": 5, "pot/1": 5})).values():
        if are_due_tasks:
            await desk.ground.a_task(page)
    assert set(await desk.claim(patterns=patterns)) == expected


async def test_a_domain_gives_a_run_no_more_than_its_limit(desk: Desk) -> None:
    await pages(desk, a=1, b=2, c=3)
    await desk.ground.conn.execute("UPDATE domains SET run_pages = 3")
    assert await desk.claim(max_pages_per_domain=5) == ["a", "b"]
    await desk.ground.conn.execute("UPDATE domains SET run_pages = 5")
    assert await desk.claim(max_pages_per_domain=5) == []
    await desk.ground.conn.execute("UPDATE domains SET run_pages = 7")
    assert await desk.claim(max_pages_per_domain=5) == []


async def test_without_the_lease_there_is_nothing(desk: Desk) -> None:
    await pages(desk, a=1)
    stolen = await desk.ground.a_lease(desk.domain, await desk.ground.a_worker(desk.run))
    assert await desk.claim() == []
    assert await desk.ground.targets(stolen, desk.worker, desk.run) == []
    assert (await desk.ground.domain(desk.domain))["frontier_size"] == 1


async def test_several_domains_are_served_by_one_statement(desk: Desk) -> None:
    await pages(desk, a=1, b=2, c=3)
    other = await desk.ground.a_domain("b.example", run=desk.run, pages=2)
    lease = await desk.ground.a_lease(other, desk.worker)
    targets, _ = await claim.claim_tasks(
        desk.ground.conn,
        [(desk.lease, 2), (lease, 5)],
        worker=desk.worker,
        run=desk.run,
        max_pages_per_domain=None,
        max_depth=10,
        patterns=NO_PATTERNS,
    )
    assert Counter(target.token for target in targets) == {desk.lease.token: 2, lease.token: 2}


async def test_freed_tasks_can_be_claimed_again(desk: Desk) -> None:
    await pages(desk, a=1, b=2)
    await desk.claim()
    assert await claim.free_tasks(desk.ground.conn, [desk.domain]) == [(desk.run, desk.domain, 2, 2)]
    assert await claim.free_tasks(desk.ground.conn, [desk.domain]) == []
    assert await desk.ground.conn.fetchval("SELECT count(*) FROM crawl_tasks WHERE status = 'pending'") == 2
    assert await desk.claim() == ["a", "b"]
    assert await desk.ground.conn.fetchval("SELECT count(*) FROM crawl_tasks") == 2
