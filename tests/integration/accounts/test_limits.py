"""Rate limits, across processes: two limiters on one database are two API processes."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import asyncpg
import pytest
from tests.integration.accounts.stage import Desk, OpenApp

from forager import clock
from forager.accounts import rate_limit as module
from forager.accounts.identity import Role
from forager.accounts.rate_limit import Limiter
from forager.accounts.request_counter import share_of


class Clock:
    def __init__(self) -> None:
        self.at = datetime(2026, 1, 31, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def pass_s(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """It stands still unless it is moved."""
    made = Clock()
    monkeypatch.setattr(clock, "now", made.now)
    return made


async def passed(limiters: list[Limiter], limit: int, times: int, subject: str = "ip:192.0.2.7") -> int:
    """Of so many requests at once, spread over all."""
    waits = await asyncio.gather(*[limiters[n % len(limiters)].take(subject, limit) for n in range(times)])
    return sum(not wait for wait in waits)


# One process --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 10, 100])
async def test_one_process_lets_through_the_limit_and_no_more(pool: asyncpg.Pool, time: Clock, limit: int) -> None:
    assert await passed([Limiter(pool)], limit, 3 * limit) == limit


async def test_whoever_waits_as_told_passes(pool: asyncpg.Pool, time: Clock) -> None:
    limiter = Limiter(pool)
    await passed([limiter], 10, 10)
    wait_s = await limiter.take("ip:192.0.2.7", 10)
    assert wait_s == 61
    time.pass_s(wait_s - 1)
    assert await limiter.take("ip:192.0.2.7", 10) == 1
    time.pass_s(1)
    assert await limiter.take("ip:192.0.2.7", 10) == 0


async def test_the_window_slides(pool: asyncpg.Pool, time: Clock) -> None:
    limiter = Limiter(pool)
    await passed([limiter], 10, 6)
    time.pass_s(40)
    assert await passed([limiter], 10, 10) == 4
    time.pass_s(21)
    assert await passed([limiter], 10, 10) == 6


async def test_subjects_do_not_share(pool: asyncpg.Pool, time: Clock) -> None:
    limiter = Limiter(pool)
    assert [await passed([limiter], 5, 20, f"user:{n}") for n in range(3)] == [5, 5, 5]


# Several ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [10, 100, 500])
@pytest.mark.parametrize("processes", [2, 4])
async def test_several_processes_overshoot_by_no_more_than_they_promise(
    pool: asyncpg.Pool, time: Clock, limit: int, processes: int
) -> None:
    """All requests fall into the same instant, which is the worst case."""
    limiters = [Limiter(pool) for _ in range(processes)]
    through = await passed(limiters, limit, 3 * limit)
    assert limit <= through <= limit + processes * 2 * share_of(limit)


async def test_one_after_the_other_through_two_processes_is_nearly_exact(pool: asyncpg.Pool, time: Clock) -> None:
    limiters = [Limiter(pool), Limiter(pool)]
    through = 0
    for number in range(40):
        through += not await limiters[number % 2].take("ip:192.0.2.7", 10)
    assert 10 <= through <= 12


async def test_a_new_process_knows_what_the_others_let_through(pool: asyncpg.Pool, time: Clock) -> None:
    old = Limiter(pool)
    await passed([old], 100, 100)
    await old.compare()
    assert await passed([Limiter(pool)], 100, 100) <= share_of(100)


async def test_a_thousand_requests_cost_few_statements(pool: asyncpg.Pool, time: Clock) -> None:
    limiter = Limiter(pool)
    comparings = 0
    compare = limiter._compare

    async def count() -> None:
        nonlocal comparings
        comparings += 1
        await compare()

    limiter._compare = count  # type: ignore[method-assign]
    for _ in range(1000):
        assert await limiter.take("user:1", 1_000_000) == 0
    assert comparings == 0


async def test_the_table_is_cleared_and_memory_too(pool: asyncpg.Pool, time: Clock) -> None:
    limiter = Limiter(pool)
    await passed([limiter], 10, 10)
    await limiter.compare()
    assert await pool.fetchval("SELECT sum(requests) FROM rate_counts") == 10
    time.pass_s(121)
    limiter._clear_at = 0.0
    await limiter.compare()
    assert await pool.fetchval("SELECT count(*) FROM rate_counts") == 0
    assert limiter._meters == {}


async def test_many_addresses_do_not_fill_the_memory(
    pool: asyncpg.Pool, time: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_SUBJECTS", 100)
    limiter = Limiter(pool)
    for number in range(1000):
        await limiter.take(f"ip:{number}", 10)
    assert len(limiter._meters) == 100
    await limiter.compare()


# The database away --------------------------------------------------------------------------------------------------


async def test_without_a_database_each_process_counts_alone_and_tells_later(
    pool: asyncpg.Pool, time: Clock, database_url: str
) -> None:
    class Away:
        is_away = True

        def acquire(self, **options: Any) -> Any:
            if self.is_away:
                raise ConnectionRefusedError
            return pool.acquire(**options)

    away = Away()
    limiter = Limiter(cast("Any", away))
    assert await passed([limiter], 100, 300) == 100
    away.is_away = False
    await limiter.compare()
    assert await pool.fetchval("SELECT sum(requests) FROM rate_counts") == 100
    assert await limiter.take("ip:192.0.2.7", 100) > 0


async def test_a_locked_table_holds_nobody_up_for_long(pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_COMPARING_S", 0.2)
    limiter = Limiter(pool)
    async with pool.acquire() as conn, conn.transaction():
        await conn.execute("LOCK TABLE rate_counts")
        async with asyncio.timeout(5):
            assert await passed([limiter], 10, 20) == 10


# Over HTTP ----------------------------------------------------------------------------------------------------------


async def codes_of(browser: Any, path: str, times: int, method: str = "GET") -> list[int]:
    return [(await browser.change(method, path)).status_code for _ in range(times)]


async def test_the_limits_are_those_of_the_requirements(open_app: OpenApp, conn: Any, time: Clock) -> None:
    limits = {"anonymous": 10, "user": 100, "admin": 500, "seeds": 10}
    async with open_app(**{f"api_rate_limit_{who}": most for who, most in limits.items()}) as app:
        desk = Desk(app, conn)
        alice, bob = await desk.signed_in(ip="192.0.2.1"), await desk.signed_in("bob", Role.USER, ip="192.0.2.2")
        assert await codes_of(desk.browser("192.0.2.3"), "/anyone", 11) == [200] * 10 + [429]
        assert await codes_of(bob, "/user", 101) == [200] * 100 + [429]
        assert await codes_of(alice, "/seeding", 11, "POST") == [200] * 10 + [429]
        assert (await codes_of(alice, "/admin", 490))[-2:] == [200, 429]


async def test_whoever_asks_too_much_hears_when_to_come_again(open_app: OpenApp, conn: Any, time: Clock) -> None:
    async with open_app(api_rate_limit_anonymous=1) as app:
        browser = Desk(app, conn).browser()
        await browser.get("/anyone")
        answer = await browser.get("/anyone")
        told = answer.json()
        assert (answer.status_code, told["error"], told["retryAfter"]) == (429, "Rate limit exceeded", 61)
        assert answer.headers["retry-after"] == "61"
        assert answer.headers["content-type"] == "application/problem+json"
        time.pass_s(61)
        assert (await browser.get("/anyone")).status_code == 200


async def test_guessing_tokens_is_limited_like_anybody_without_one(open_app: OpenApp, conn: Any, time: Clock) -> None:
    async with open_app(api_rate_limit_anonymous=3) as app:
        desk = Desk(app, conn)
        codes = [(await desk.browser(Authorization=f"Bearer fgr_{n}").get("/user")).status_code for n in range(5)]
        assert codes == [401, 401, 401, 429, 429]


async def test_two_processes_count_together(open_app: OpenApp, conn: Any, time: Clock) -> None:
    async with open_app(api_rate_limit_anonymous=10) as one, open_app(api_rate_limit_anonymous=10) as two:
        browsers = [Desk(app, conn).browser("192.0.2.7", base="https://forager.example") for app in (one, two)]
        codes = [(await browsers[n % 2].get("/anyone")).status_code for n in range(30)]
    assert 10 <= codes.count(200) <= 12
