"""Rate limits that are compared through Redis: the table is spared, and limits hold when Redis is lost."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from tests.integration.cache.conftest import OwnRedis

from forager import clock
from forager.accounts import rate_limit as module
from forager.accounts.rate_limit import Limiter
from forager.accounts.request_counter import share_of
from forager.cache.counts import RedisCounts
from forager.cache.namespace import CacheNamespace
from forager.cache.server import Server

SUBJECT, LIMIT = "ip:192.0.2.7", 40
MOST = LIMIT + 2 * 2 * share_of(LIMIT)
"""What two processes may let through."""
ROWS = "SELECT coalesce(sum(requests), 0)::int FROM rate_counts"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_COMPARING_S", 30.0)


@pytest.fixture
def limiters(pool: asyncpg.Pool, shared: Server) -> list[Limiter]:
    """Two API processes."""
    era = CacheNamespace(pool)
    return [Limiter(pool, RedisCounts(shared, era)) for _ in range(2)]


async def passed(limiters: list[Limiter], times: int) -> int:
    waits = await asyncio.gather(*[limiters[n % len(limiters)].take(SUBJECT, LIMIT) for n in range(times)])
    return sum(not wait for wait in waits)


async def test_processes_count_together_and_spare_the_table(limiters: list[Limiter], pool: asyncpg.Pool) -> None:
    assert LIMIT <= await passed(limiters, 3 * LIMIT) <= MOST
    assert await pool.fetchval(ROWS) == 0


async def test_what_was_told_in_redis_is_counted_by_who_comes_later(
    limiters: list[Limiter], shared: Server, pool: asyncpg.Pool
) -> None:
    through = await passed(limiters[:1], LIMIT)
    await limiters[0].compare()
    late = Limiter(pool, RedisCounts(shared, CacheNamespace(pool)))
    assert through == LIMIT
    assert await passed([late], LIMIT) <= share_of(LIMIT)


@pytest.mark.parametrize("harm", [OwnRedis.wipe, OwnRedis.kill, OwnRedis.freeze])
async def test_limits_hold_when_redis_is_lost(
    limiters: list[Limiter], redis: OwnRedis, harm: Callable[[OwnRedis], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for the very second in which it is lost."""
    monkeypatch.setattr("forager.cache.server.ATTEMPT_S", 0.5)
    at = datetime(2026, 1, 31, 12, tzinfo=UTC)
    monkeypatch.setattr(clock, "now", lambda: at)
    through = await passed(limiters, LIMIT - 10)
    for each in limiters:
        await each.compare()
    harm(redis)
    monkeypatch.setattr(clock, "now", lambda: at + timedelta(seconds=1))
    through += await passed(limiters, 3 * LIMIT)
    assert LIMIT <= through <= MOST


async def test_the_table_is_compared_with_while_redis_is_away(
    limiters: list[Limiter], redis: OwnRedis, pool: asyncpg.Pool
) -> None:
    redis.kill()
    assert LIMIT <= await passed(limiters, 3 * LIMIT) <= MOST
    assert await pool.fetchval(ROWS) >= LIMIT - 2 * share_of(LIMIT)


async def test_something_else_under_our_name_is_cleared_away(
    limiters: list[Limiter], redis: OwnRedis, pool: asyncpg.Pool
) -> None:
    await limiters[0].take(SUBJECT, LIMIT)
    await limiters[0].compare()
    (name,) = redis.names()
    with redis.client() as client:
        client.set(name, b"no hash")
    await limiters[0].take(SUBJECT, LIMIT)
    await limiters[0].compare()
    assert await pool.fetchval(ROWS) == 1
    await limiters[0].take(SUBJECT, LIMIT)
    await limiters[0].compare()
    with redis.client() as client:
        assert client.type(name) == b"hash"
