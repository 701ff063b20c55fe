"""How a lease is handed back: exhausted, ready again, resting or blocked; nothing that arrives meanwhile is lost."""

import asyncio
from typing import Any

import asyncpg
import pytest
from tests.builders import a_discovery
from tests.ground import NO_PATTERNS, Ground, add_plainly

from forager.domains import store as domains
from forager.domains.store import Keeping, Release
from forager.frontier.models import Lease

pytestmark = pytest.mark.both_servers


class Holder:
    """A worker that holds one domain."""

    def __init__(self, ground: Ground, run: int, worker: int, domain: int, lease: Lease) -> None:
        self.ground, self.run, self.worker, self.domain, self.lease = ground, run, worker, domain, lease
        self.keeping = Keeping()

    async def release(self, conn: Any = None, *, max_depth: int = 10, patterns: Any = NO_PATTERNS, **how: Any) -> Any:
        given = {"wait_s": 0.0} | how
        await domains.release(
            conn or self.ground.conn,
            [Release(self.lease, **given)],
            max_depth=max_depth,
            patterns=patterns,
            keeping=self.keeping,
        )
        return await self.ground.domain(self.domain)


@pytest.fixture
async def holder(ground: Ground) -> Holder:
    run = await ground.a_run()
    worker = await ground.a_worker(run)
    domain = await ground.a_domain(run=run)
    return Holder(ground, run, worker, domain, await ground.a_lease(domain, worker))


async def test_an_empty_domain_is_exhausted_and_free(holder: Holder) -> None:
    row = await holder.release()
    assert (row["status"], row["ready_at"], row["claimed_by"], row["claim_expires_at"]) == (
        "exhausted",
        None,
        None,
        None,
    )
    assert row["version"] == holder.lease.version + 1


async def test_a_domain_with_pages_in_reach_is_ready_at_once(holder: Holder) -> None:
    await holder.ground.a_page("http://a.example/x", holder.domain)
    row = await holder.release()
    assert (row["status"], row["ready_at"] is not None) == ("active", True)
    assert await holder.ground.conn.fetchval("SELECT ready_at <= now() FROM domains")


async def test_a_domain_with_a_retry_is_ready_when_that_is_due(holder: Holder) -> None:
    page = await holder.ground.a_page("http://a.example/x", holder.domain)
    task = await holder.ground.a_task(page, due_in_s=3600)
    row = await holder.release()
    assert row["status"] == "active"
    assert row["ready_at"] == (await holder.ground.task(task))["scheduled_for"]


@pytest.mark.parametrize("is_due_task", [False, True])
@pytest.mark.parametrize(
    "limits",
    [
        {"max_depth": 2},
        {"patterns": (["http://a.example/other/%"], None, None)},
        {"patterns": (None, ["%other%"], None)},
        {"patterns": (None, None, ["%x"])},
    ],
)
async def test_what_the_run_may_not_take_makes_no_domain_ready(holder: Holder, limits: Any, is_due_task: bool) -> None:
    """Else its workers would claim and release it for ever."""
    page = await holder.ground.a_page("http://a.example/x", holder.domain, depth=3)
    if is_due_task:
        await holder.ground.a_task(page)
    row = await holder.release(**limits)
    assert row["ready_at"] is None
    is_part_of_site = "patterns" in limits and limits["patterns"][0] is not None
    waits = is_part_of_site or (is_due_task and "max_depth" not in limits)
    assert row["status"] == ("active" if waits else "exhausted"), "limits that the domain remembers end its crawl"


async def test_a_paused_task_makes_no_domain_ready(holder: Holder) -> None:
    await holder.ground.a_task(await holder.ground.a_page("http://a.example/x", holder.domain), status="paused")
    assert (await holder.release())["ready_at"] is None


async def test_what_is_left_of_the_pace_is_written_down(holder: Holder) -> None:
    await holder.release(wait_s=30.0)
    assert (
        29 < await holder.ground.conn.fetchval("SELECT extract(epoch FROM next_allowed_at - now()) FROM domains") <= 30
    )


async def test_a_domain_that_asked_for_rest_gets_it(holder: Holder) -> None:
    await holder.ground.a_page("http://a.example/x", holder.domain)
    row = await holder.release(rest_s=3600.0, reason="asked us to wait")
    assert (row["status"], row["block_reason"], row["block_reason_code"]) == ("active", "asked us to wait", None)
    assert await holder.ground.conn.fetchval("SELECT next_crawl_after > now() + interval '59 minutes' FROM domains")


@pytest.mark.parametrize("status", ["blocked", "unreachable"])
async def test_a_domain_that_stands_says_why(holder: Holder, status: str) -> None:
    await holder.ground.a_page("http://a.example/x", holder.domain)
    row = await holder.release(rest_s=60.0, status=status, reason_code="robots_denied", reason="forbids everything")
    assert (row["status"], row["block_reason_code"], row["block_reason"]) == (
        status,
        "robots_denied",
        "forbids everything",
    )
    assert row["first_blocked_at"] is not None


# Nothing that arrives meanwhile is lost -----------------------------------------------------------------------------


async def hold(holder: Holder, conn: Any) -> dict[tuple[int, int], bool]:
    return await domains.hold_leases(conn, [holder.lease.token], worker=holder.worker)


async def learn_one(holder: Holder, conn: Any) -> None:
    learned = await add_plainly(conn, [a_discovery("http://a.example/late")], {"a.example": holder.domain})
    await domains.count_discovered(conn, learned.new, run=holder.run)


async def until_somebody_waits(conn: Any) -> None:
    """Until a statement of another connection waits for a lock of ours."""
    while not await conn.fetchval("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"):  # noqa: ASYNC110
        await asyncio.sleep(0)


def assert_ready(row: Any) -> None:
    assert row["ready_at"] is not None
    assert (row["status"], row["claimed_by"]) == ("active", None)
    assert (row["frontier_size"], row["pages_discovered"]) == (1, 1)


async def test_a_page_learned_while_the_lease_goes_back_wakes_the_domain(holder: Holder, pool: asyncpg.Pool) -> None:
    """The release holds the row, so the learner waits and then sees what it became."""
    async with pool.acquire() as releasing, pool.acquire() as learning:
        async with releasing.transaction():
            assert await hold(holder, releasing) == {holder.lease.token: True}

            async def learn_meanwhile() -> None:
                async with learning.transaction():
                    await learn_one(holder, learning)

            learner = asyncio.create_task(learn_meanwhile())
            await until_somebody_waits(holder.ground.conn)
            assert (await holder.release(releasing)) is not None
        await learner
    assert_ready(await holder.ground.domain(holder.domain))


async def test_a_lease_going_back_while_a_page_is_learned_sees_the_page(holder: Holder, pool: asyncpg.Pool) -> None:
    """The learner holds the row, so the release waits and then counts what was learned."""
    async with pool.acquire() as releasing, pool.acquire() as learning:
        async with learning.transaction():
            await learn_one(holder, learning)

            async def release_meanwhile() -> None:
                async with releasing.transaction():
                    assert await hold(holder, releasing) == {holder.lease.token: True}
                    await holder.release(releasing)

            release = asyncio.create_task(release_meanwhile())
            await until_somebody_waits(holder.ground.conn)
        await release
    assert_ready(await holder.ground.domain(holder.domain))


async def test_pages_inserted_before_and_counted_after_the_release_wake_the_domain(
    holder: Holder, pool: asyncpg.Pool
) -> None:
    async with pool.acquire() as releasing, pool.acquire() as learning, learning.transaction():
        learned = await add_plainly(learning, [a_discovery("http://a.example/late")], {"a.example": holder.domain})
        async with releasing.transaction():
            await hold(holder, releasing)
            await holder.release(releasing)
        assert (await holder.ground.domain(holder.domain))["status"] == "exhausted"
        await domains.count_discovered(learning, learned.new, run=holder.run)
    assert_ready(await holder.ground.domain(holder.domain))


async def test_a_lease_taken_meanwhile_is_no_longer_held(holder: Holder, pool: asyncpg.Pool) -> None:
    async with pool.acquire() as late, pool.acquire() as thief:
        async with thief.transaction():
            await Ground(thief).a_lease(holder.domain, await Ground(thief).a_worker(holder.run))
            asking = asyncio.create_task(hold(holder, late))
            await until_somebody_waits(holder.ground.conn)
        assert await asking == {}


# What it remembers --------------------------------------------------------------------------------------------------


async def rests_s(holder: Holder) -> float | None:
    found: float | None = await holder.ground.conn.fetchval(
        "SELECT extract(epoch FROM next_crawl_after - updated_at)::float8 FROM domains"
    )
    return found


async def test_an_exhausted_domain_rests_until_its_refresh(holder: Holder) -> None:
    row = await holder.release()
    assert row["status"] == "exhausted"
    assert await rests_s(holder) == 14 * 86400


async def test_a_domain_may_have_a_refresh_of_its_own(holder: Holder) -> None:
    await holder.ground.conn.execute("UPDATE domains SET refresh_every_s = 60")
    await holder.release()
    assert await rests_s(holder) == 60


async def test_without_refresh_an_exhausted_domain_is_left(holder: Holder) -> None:
    holder.keeping = Keeping(refresh_every_s=None)
    assert (await holder.release())["status"] == "exhausted"
    assert await rests_s(holder) is None


async def test_an_exhausted_domain_wakes_for_its_next_revisit(holder: Holder) -> None:
    page = await holder.ground.a_page("http://a.example/x", holder.domain, status="fetched")
    task = await holder.ground.a_task(page, due_in_s=3600)
    await holder.ground.conn.execute("UPDATE pages SET status = 'fetched'")
    row = await holder.release()
    assert row["status"] == "exhausted"
    assert row["next_crawl_after"] == row["ready_at"] == (await holder.ground.task(task))["scheduled_for"]


async def test_a_domain_with_a_revisit_that_is_due_is_not_exhausted(holder: Holder) -> None:
    page = await holder.ground.a_page("http://a.example/x", holder.domain, status="fetched")
    await holder.ground.a_task(page)
    await holder.ground.conn.execute("UPDATE pages SET status = 'fetched'")
    row = await holder.release()
    assert (row["status"], row["is_due"]) == ("active", True)


@pytest.mark.parametrize(("returns", "is_for_good"), [(0, False), (2, False), (3, True), (7, True)])
async def test_who_is_blocked_after_three_returns_stays_blocked(
    holder: Holder, returns: int, is_for_good: bool
) -> None:
    await holder.ground.a_page("http://a.example/x", holder.domain)
    await holder.ground.conn.execute("UPDATE domains SET blocked_returns = $1", returns)
    row = await holder.release(rest_s=60.0, status="blocked", reason_code="forbidden", reason="403")
    assert (row["status"], row["next_crawl_after"] is None, row["blocked_returns"]) == ("blocked", is_for_good, returns)


async def test_who_is_crawled_to_its_end_has_returned(holder: Holder) -> None:
    await holder.ground.conn.execute("UPDATE domains SET blocked_returns = 2")
    assert (await holder.release())["blocked_returns"] == 0


@pytest.mark.parametrize("has_more", [False, True])
async def test_a_domain_that_never_gave_a_page_is_blocked_only_if_nothing_is_left(
    holder: Holder, has_more: bool
) -> None:
    if has_more:
        await holder.ground.a_page("http://a.example/x", holder.domain)
    row = await holder.release(rest_s=60.0, status="blocked", reason_code="forbidden", reason="403", is_fallback=True)
    expected = ("active", None, None) if has_more else ("blocked", "forbidden", "403")
    assert (row["status"], row["block_reason_code"], row["block_reason"]) == expected
    assert (row["next_crawl_after"] is None) == has_more


async def test_a_spent_budget_goes_to_the_back_of_the_queue(holder: Holder) -> None:
    await holder.ground.a_page("http://a.example/x", holder.domain)
    await holder.ground.conn.execute("UPDATE runs SET round = 4")
    row = await holder.release(is_spent=True)
    assert (row["status"], row["round"], row["is_due"]) == ("active", 5, True)


@pytest.mark.parametrize(("is_scored", "expected"), [(True, 1000 + 7 + 4 - 60), (False, 0)])
async def test_the_score_is_made_anew_when_a_lease_ends(holder: Holder, is_scored: bool, expected: float) -> None:
    holder.keeping = Keeping(is_scored=is_scored)
    for number in range(2):
        await holder.ground.a_page(f"http://a.example/{number}", holder.domain)
    await holder.ground.conn.execute(
        "UPDATE domains SET seed_rank = 1, priority_boost = 7, recent_error_rate = 0.2, last_crawled_at = now()"
    )
    row = await holder.release()
    assert row["priority_score"] == pytest.approx(expected)
    assert row["priority_computed_at"] is not None


async def test_every_move_is_kept_with_who_and_why(holder: Holder) -> None:
    await holder.release(rest_s=60.0, status="blocked", reason_code="forbidden", reason="it answered 403")
    await holder.ground.conn.execute("UPDATE domains SET status = 'pending'")
    rows = await holder.ground.conn.fetch("SELECT * FROM domain_history ORDER BY id")
    moves = [(row["from_status"], row["to_status"], row["reason_code"], row["moved_by"]) for row in rows]
    assert moves == [
        ("active", "blocked", "forbidden", f"worker {holder.worker}"),
        ("blocked", "pending", None, "system"),
    ]
    row = await holder.ground.domain(holder.domain)
    assert (row["block_reason_code"], row["next_crawl_after"], row["first_blocked_at"] is not None) == (
        None,
        None,
        True,
    )
