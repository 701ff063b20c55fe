"""Leases that are kept, lost, and taken from the dead; and when the next domain may be claimed."""

from typing import Any

import pytest
from tests.ground import NO_PATTERNS, Ground

from forager.domains import store as domains
from forager.domains.admin import reset_breaker
from forager.domains.store import Keeping, Release, RequestState, RobotsCopy, Visits
from forager.frontier import claim
from forager.frontier.models import Lease

pytestmark = pytest.mark.both_servers


async def a_leased_domain(ground: Ground, *, lease_s: float = 60.0, **worker: Any) -> tuple[int, int]:
    run = await ground.a_run()
    who = await ground.a_worker(run, **worker)
    domain = await ground.a_domain(run=run, pages=1, ready_at=None)
    await ground.a_lease(domain, who, lease_s=lease_s)
    return domain, who


async def test_the_lease_of_a_living_worker_is_left_alone(ground: Ground) -> None:
    await a_leased_domain(ground, silent_s=10)
    assert await domains.free_lost_leases(ground.conn, dead_after_s=60, delay_s=0.0) == {}


@pytest.mark.parametrize(
    "why", [{"lease_s": -1.0}, {"silent_s": 61}, {"status": "dead"}, {"status": "stopped"}], ids=str
)
async def test_a_lost_lease_is_freed_and_its_version_moves_on(ground: Ground, why: dict[str, Any]) -> None:
    domain, _ = await a_leased_domain(ground, **why)
    assert await domains.free_lost_leases(ground.conn, dead_after_s=60, delay_s=0.0) == {domain: "a.example"}
    row = await ground.domain(domain)
    assert (row["claimed_by"], row["claim_expires_at"], row["version"]) == (None, None, 2)
    assert row["ready_at"] is not None
    assert await domains.free_lost_leases(ground.conn, dead_after_s=60, delay_s=0.0) == {}


@pytest.mark.parametrize(("own_delay_s", "wait_s"), [(None, 20.0), (50.0, 50.0), (0.0, 0.0)])
async def test_the_successor_of_a_dead_worker_keeps_the_pace_from_now(
    ground: Ground, own_delay_s: float | None, wait_s: float
) -> None:
    """When the dead one asked last is on no record."""
    domain, _ = await a_leased_domain(ground, status="dead")
    await ground.conn.execute("UPDATE domains SET crawl_delay_s = $2 WHERE id = $1", domain, own_delay_s)
    await domains.free_lost_leases(ground.conn, dead_after_s=60, delay_s=20.0)
    left_s = await ground.conn.fetchval("SELECT extract(epoch FROM next_allowed_at - now())::float8 FROM domains")
    assert wait_s - 5 < left_s <= wait_s


async def test_the_lease_of_a_worker_nobody_knows_is_freed(ground: Ground) -> None:
    domain = await ground.a_domain(pages=1)
    await ground.a_lease(domain, 4711)
    assert await domains.free_lost_leases(ground.conn, dead_after_s=60, delay_s=0.0) == {domain: "a.example"}


async def test_a_heartbeat_renews_what_is_held_and_nothing_else(ground: Ground) -> None:
    """Also what ran out while the database was away and nobody took; not what was taken from it since."""
    domain, worker = await a_leased_domain(ground)
    run = await ground.a_run()
    others = await ground.a_domain("b.example", run=run)
    await ground.a_lease(others, await ground.a_worker(run))
    expired, taken = await ground.a_domain("c.example", run=run), await ground.a_domain("d.example", run=run)
    await ground.a_lease(expired, worker, lease_s=-1.0)
    await ground.a_lease(taken, worker, lease_s=-1.0)
    await ground.conn.execute("UPDATE domains SET claimed_by = NULL, claim_expires_at = NULL WHERE id = $1", taken)
    renewals = {(domain, 1): (True, 0), (expired, 1): (True, 0)}
    assert await domains.renew_leases(ground.conn, worker=worker, lease_s=7200) == renewals
    renewed = await ground.conn.fetch("SELECT id FROM domains WHERE claim_expires_at > now() + interval '1 hour'")
    assert {row["id"] for row in renewed} == {domain, expired}


async def test_only_the_right_version_of_the_right_worker_is_held(ground: Ground) -> None:
    domain, worker = await a_leased_domain(ground)
    assert await domains.hold_leases(ground.conn, [(domain, 1), (domain, 1)], worker=worker) == {(domain, 1): True}
    assert await domains.hold_leases(ground.conn, [(domain, 0), (domain, 2)], worker=worker) == {}
    assert await domains.hold_leases(ground.conn, [(domain, 1)], worker=worker + 1) == {}


async def test_visits_are_counted_and_renew_the_lease(ground: Ground) -> None:
    domain, _ = await a_leased_domain(ground, lease_s=1.0)
    await ground.conn.execute(
        "UPDATE domains SET frontier_size = 10, consecutive_error_count = 2, error_streak_code = 'forbidden'"
    )
    only_bad = {domain: Visits(closed=2, ok=0, errors=2, retries=1, streak=2, streak_code="forbidden")}
    await domains.count_visits(ground.conn, only_bad, {domain: RequestState(9.0)}, lease_s=3600)
    row = await ground.domain(domain)
    assert (row["pages_crawled"], row["total_error_count"], row["consecutive_error_count"]) == (0, 2, 4)
    assert row["frontier_size"] == 9
    assert await ground.conn.fetchval("SELECT claim_expires_at > now() + interval '59 minutes' FROM domains")
    assert await ground.conn.fetchval("SELECT next_allowed_at > now() + interval '8 seconds' FROM domains")
    some_good = Visits(closed=3, ok=1, errors=2, depth=4, is_new_streak=True)
    await domains.count_visits(ground.conn, {domain: some_good}, {}, lease_s=60)
    row = await ground.domain(domain)
    assert (row["pages_crawled"], row["consecutive_error_count"], row["frontier_size"]) == (1, 0, 6)
    assert (row["error_streak_code"], row["depth_reached"]) == (None, 4)


@pytest.mark.parametrize(
    ("visits", "expected"),
    [
        (Visits(streak=3, streak_code="forbidden"), ("forbidden", 5)),
        (Visits(streak=3, streak_code="rate_limited"), ("rate_limited", 3)),
        (Visits(streak=3, streak_code="forbidden", is_new_streak=True), ("forbidden", 3)),
        (Visits(is_new_streak=True), (None, 0)),
        (Visits(errors=1), ("forbidden", 2)),
    ],
)
async def test_a_row_of_trouble_goes_on_from_batch_to_batch(
    ground: Ground, visits: Visits, expected: tuple[str | None, int]
) -> None:
    domain, _ = await a_leased_domain(ground)
    await ground.conn.execute("UPDATE domains SET consecutive_error_count = 2, error_streak_code = 'forbidden'")
    await domains.count_visits(ground.conn, {domain: visits}, {}, lease_s=60)
    row = await ground.domain(domain)
    assert (row["error_streak_code"], row["consecutive_error_count"]) == expected


@pytest.mark.parametrize(
    "standing",
    [
        RequestState(0.0, delay_s=1.0),
        RequestState(3.0, delay_s=4.5, extra_s=2.5, response_s=0.2, breaker_failures=3),
        RequestState(50.0, 1.0, 0.0, 0.3, breaker_state="open", breaker_failures=5, breaker_open_s=10.0),
        RequestState(0.0, 1.0, 0.0, 0.3, breaker_state="half_open", breaker_failures=7, breaker_open_s=70.0),
    ],
)
@pytest.mark.parametrize("by", ["record", "release"])
async def test_pace_and_breaker_are_handed_over(ground: Ground, standing: RequestState, by: str) -> None:
    """Whether the predecessor handed its lease back, or was killed after its last record."""
    domain, _ = await a_leased_domain(ground)
    lease = Lease(domain, "a.example", 1, 0.0)
    if by == "record":
        await domains.count_visits(ground.conn, {domain: Visits()}, {domain: standing}, lease_s=60)
        await ground.conn.execute("UPDATE workers SET status = 'dead'")
        await domains.free_lost_leases(ground.conn, dead_after_s=60, delay_s=0.0)
        await ground.conn.execute("UPDATE workers SET status = 'running'")  # the heir, which has to live
    else:
        release = Release(lease, standing.wait_s, standing=standing)
        await domains.release(ground.conn, [release], max_depth=9, patterns=NO_PATTERNS, keeping=Keeping())
    run = await ground.conn.fetchval("SELECT run_id FROM domains")
    successor = await ground.a_worker(run)
    (heir,) = await claim.claim_domains(
        ground.conn, worker=successor, run=run, limit=1, lease_s=60, workers=1, max_pages_per_domain=None
    )
    assert (heir.pace_extra_s, heir.response_s) == (standing.extra_s, standing.response_s)
    assert (heir.breaker_state, heir.breaker_failures) == (standing.breaker_state, standing.breaker_failures)
    assert 0 <= heir.breaker_open_s - (standing.breaker_open_s or 0.0) < 5
    assert heir.wait_s <= max(standing.wait_s, standing.delay_s or 0.0)
    assert heir.wait_s >= max(0.0, standing.wait_s - 5)


@pytest.mark.parametrize("by", ["record", "release"])
async def test_a_breaker_closed_by_hand_stays_closed_whatever_its_holder_still_thinks(ground: Ground, by: str) -> None:
    domain, worker = await a_leased_domain(ground)
    tripped = RequestState(50.0, 1.0, breaker_state="open", breaker_failures=5, breaker_open_s=10.0)
    await domains.count_visits(ground.conn, {domain: Visits()}, {domain: tripped}, lease_s=60)
    await reset_breaker(ground.conn, domain, rest_s=60.0)
    if by == "record":
        await domains.count_visits(ground.conn, {domain: Visits()}, {domain: tripped}, lease_s=60)
    else:
        release = Release(Lease(domain, "a.example", 1, 0.0), 0.0, standing=tripped)
        await domains.release(ground.conn, [release], max_depth=9, patterns=NO_PATTERNS, keeping=Keeping())
    row = await ground.domain(domain)
    assert (row["breaker_state"], row["breaker_failures"], row["breaker_opened_at"]) == ("closed", 0, None)
    if by == "record":
        assert await domains.renew_leases(ground.conn, worker=worker, lease_s=60) == {(domain, 1): (True, 1)}


async def test_who_knows_nothing_of_the_pace_leaves_it_as_it_is(ground: Ground) -> None:
    domain, _ = await a_leased_domain(ground)
    known = RequestState(50.0, 4.5, 2.5, 0.2, breaker_state="open", breaker_failures=5, breaker_open_s=10.0)
    await domains.count_visits(ground.conn, {domain: Visits()}, {domain: known}, lease_s=60)
    before = await ground.domain(domain)
    await domains.count_visits(ground.conn, {domain: Visits()}, {}, lease_s=60)
    after = await ground.domain(domain)
    columns = ("next_allowed_at", "pace_delay_s", "pace_extra_s", "response_s", "breaker_state", "breaker_opened_at")
    assert [before[name] for name in columns] == [after[name] for name in columns]


WINDOW = (
    "maintenance_start = (now() AT TIME ZONE 'UTC')::time - interval '1 hour',"
    " maintenance_end = (now() AT TIME ZONE 'UTC')::time + interval '1 hour'"
)


@pytest.mark.parametrize("change", ["is_active = false", WINDOW])
async def test_the_holder_of_a_paused_domain_is_told_to_stop(ground: Ground, change: str) -> None:
    domain, worker = await a_leased_domain(ground)
    await ground.conn.execute(f"UPDATE domains SET {change}")
    assert await domains.hold_leases(ground.conn, [(domain, 1)], worker=worker) == {(domain, 1): False}
    assert await domains.renew_leases(ground.conn, worker=worker, lease_s=60) == {(domain, 1): (False, 0)}


# When the next domain may be claimed --------------------------------------------------------------------------------


async def next_ready(ground: Ground, run: int) -> tuple[bool, float | None]:
    return await domains.next_ready(ground.conn, run, max_pages_per_domain=10)


async def test_a_run_without_anything_left_is_over(ground: Ground) -> None:
    run = await ground.a_run()
    await ground.a_domain(run=run, status="exhausted", ready_at=None)
    await ground.a_domain("b.example", run=run, ready_at=None)
    await ground.a_domain("c.example", run=run, is_active=False)
    await ground.a_domain("d.example", run=run, run_pages=10)
    await ground.a_domain("e.example", run=await ground.a_run())
    assert await next_ready(ground, run) == (False, None)


async def test_a_leased_domain_keeps_a_run_going(ground: Ground) -> None:
    run = await ground.a_run()
    domain = await ground.a_domain(run=run)
    await ground.a_lease(domain, await ground.a_worker(run))
    assert await next_ready(ground, run) == (True, None)


async def test_the_earliest_domain_decides_and_a_rest_counts(ground: Ground) -> None:
    run = await ground.a_run()
    await ground.a_domain(run=run, next_crawl_after="(now() + interval '1 hour')")
    is_held, wait_s = await next_ready(ground, run)
    assert not is_held
    assert wait_s is not None
    assert 3500 < wait_s <= 3600
    await ground.a_domain("b.example", run=run, next_crawl_after="(now() + interval '10 minutes')")
    _, wait_s = await next_ready(ground, run)
    assert wait_s is not None
    assert 500 < wait_s <= 600


async def test_a_try_that_was_put_off_is_not_waited_for(ground: Ground) -> None:
    run = await ground.a_run()
    await ground.a_domain(run=run, ready_at="(now() + interval '1 minute')")
    assert await next_ready(ground, run) == (False, None)
    await ground.a_domain("b.example", run=run, ready_at="(now() + interval '2 seconds')")
    assert (await next_ready(ground, run))[1] is not None


# robots.txt ---------------------------------------------------------------------------------------------------------


async def test_sitemaps_of_robots_txt_are_kept_with_the_origin(ground: Ground) -> None:
    domain = await ground.a_domain()
    named = RobotsCopy(domain, "http://a.example", "x", 200, None, 60.0, sitemaps=("http://a.example/s.xml", "/t.xml"))
    none = RobotsCopy(domain, "https://a.example", None, 404, None, 60.0)
    await domains.store_robots(ground.conn, [named, none])
    rows = await ground.conn.fetch("SELECT sitemaps FROM origins ORDER BY origin")
    assert [row["sitemaps"] for row in rows] == [["http://a.example/s.xml", "/t.xml"], []]
    await domains.store_robots(ground.conn, [RobotsCopy(domain, "http://a.example", "y", 200, None, 60.0)])
    assert await ground.conn.fetchval("SELECT sitemaps FROM origins WHERE origin = 'http://a.example'") == []


async def test_of_a_robots_txt_that_was_had_twice_the_last_is_kept(ground: Ground) -> None:
    """A worker that lost a lease and got it again asks again, and may write both at once."""
    domain, _ = await a_leased_domain(ground)
    at = await ground.conn.fetchval("SELECT now()")
    twice = [RobotsCopy(domain, "http://a.example", text, 200, None, 60.0, (at,)) for text in ("first", "second")]
    await domains.store_robots(ground.conn, twice)
    assert await ground.conn.fetchval("SELECT robots_txt FROM origins") == "second"
    assert await ground.conn.fetchval("SELECT count(*) FROM robots_requests") == 2


async def test_robots_txt_is_found_again_while_it_may_be_trusted(ground: Ground) -> None:
    domain = await ground.a_domain()
    await domains.store_robots(ground.conn, [RobotsCopy(domain, "http://a.example", "old", 200, None, 60.0)])
    fresh = RobotsCopy(domain, "http://a.example", "Disallow: /x", 200, None, 60.0)
    none = RobotsCopy(domain, "https://a.example", None, 404, None, 60.0)
    stale = RobotsCopy(domain, "http://www.a.example", "x", 200, None, -1.0)
    failed = RobotsCopy(domain, "https://www.a.example", None, None, "nobody answered", 3600.0)
    await domains.store_robots(ground.conn, [fresh, none, stale, failed])
    found = {copy.origin: copy for copy in await domains.find_robots(ground.conn, [domain])}
    assert set(found) == {"http://a.example", "https://a.example"}
    assert (found[fresh.origin].text, found[none.origin].text) == ("Disallow: /x", None)
    assert 0 < found[fresh.origin].ttl_s <= 60


async def test_a_robots_txt_that_cannot_be_had_leaves_the_last_copy(ground: Ground) -> None:
    domain, origin = await ground.a_domain(), "http://a.example"
    had = RobotsCopy(domain, origin, "Disallow: /x", 200, None, 60.0, sitemaps=("/s.xml",))
    failed = RobotsCopy(domain, origin, None, None, "the server answered 503", 3600.0)
    await domains.store_robots(ground.conn, [had])
    await domains.store_robots(ground.conn, [failed])
    row = await ground.conn.fetchrow("SELECT robots_txt, robots_status_code, robots_error, sitemaps FROM origins")
    assert tuple(row) == ("Disallow: /x", 200, "the server answered 503", ["/s.xml"])
    assert await domains.find_robots(ground.conn, [domain]) == []
    await domains.store_robots(ground.conn, [RobotsCopy(domain, origin, None, 404, None, 60.0)])
    row = await ground.conn.fetchrow("SELECT robots_txt, robots_status_code, robots_error, sitemaps FROM origins")
    assert tuple(row) == (None, 404, None, [])
