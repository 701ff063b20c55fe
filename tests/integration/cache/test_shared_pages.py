"""Pages that all workers know: what is told is recalled, what was deleted is not, and nothing else is believed."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, cast

import asyncpg
import pytest
from tests.builders import a_discovery
from tests.ground import Ground
from tests.integration.cache.conftest import OwnRedis
from tests.writers import open_writer

from forager import clock
from forager.cache import namespace as eras
from forager.cache.namespace import CacheNamespace
from forager.cache.server import Server
from forager.cache.urls import RedisKnown
from forager.db.database import Database
from forager.engine.writer import Writer
from forager.frontier.url_cache import UNSHARED, SharedPages, pack

KEY, OTHER = bytes(16), bytes(range(16))


async def tell(known: RedisKnown, *pages: tuple[bytes, int]) -> None:
    """As a worker does: first it asks."""
    await known.recall([key for key, _ in pages])
    await known.tell(pages)


async def test_what_one_told_another_recalls(known: RedisKnown, shared: Server, pool: asyncpg.Pool) -> None:
    await tell(known, (KEY, pack(7, 3)))
    assert await RedisKnown(shared, CacheNamespace(pool)).recall([KEY, OTHER]) == {KEY: pack(7, 3)}


async def test_many_are_recalled_in_portions(known: RedisKnown) -> None:
    pages = [(number.to_bytes(16, "big"), pack(number + 1, 0)) for number in range(4500)]
    await tell(known, *pages)
    assert await known.recall([key for key, _ in pages]) == dict(pages)


async def test_they_expire(known: RedisKnown, redis: OwnRedis) -> None:
    await tell(known, (KEY, pack(7, 3)))
    (name,) = redis.names()
    with redis.client() as client:
        assert 0 < int(client.ttl(name)) <= 86_400


@pytest.mark.parametrize("ending", ["DELETE FROM pages", "TRUNCATE pages CASCADE", "VACUUM FULL pages"])
async def test_an_era_ends_with_the_pages_it_knew(
    known: RedisKnown, shared: Server, pool: asyncpg.Pool, ending: str
) -> None:
    await tell(known, (KEY, pack(7, 3)))
    await pool.execute(ending)
    assert await RedisKnown(shared, CacheNamespace(pool)).recall([KEY]) == {}


async def test_a_worker_notices_a_new_era_by_and_by(
    known: RedisKnown, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eras, "LOOK_EVERY_S", 0.0)
    await tell(known, (KEY, pack(7, 3)))
    assert await known.recall([KEY])
    await pool.execute("DELETE FROM pages")
    assert await known.recall([KEY]) == {}


async def test_what_was_found_before_pages_were_deleted_is_not_told_to_those_after(
    known: RedisKnown, shared: Server, pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eras, "LOOK_EVERY_S", 0.0)
    await known.recall([KEY])
    await pool.execute("DELETE FROM pages")
    await known.tell([(KEY, pack(7, 3))])
    assert await RedisKnown(shared, CacheNamespace(pool)).recall([KEY]) == {}


async def test_a_database_that_does_not_answer_is_asked_once_by_all_and_then_left_alone(
    known: RedisKnown, shared: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one that is frozen, every look-up would wait for two seconds."""

    class Frozen:
        asked = 0

        @contextlib.asynccontextmanager
        async def acquire(self) -> AsyncIterator[None]:
            self.asked += 1
            await asyncio.Event().wait()
            yield

    monkeypatch.setattr(eras, "READ_WITHIN_S", 0.05)
    pool = Frozen()
    era = CacheNamespace(cast("Any", pool))
    assert await asyncio.gather(*(era.prefix() for _ in range(50))) == [None] * 50
    assert await RedisKnown(shared, era).recall([KEY]) == {}
    assert pool.asked == 1
    later = clock.monotonic() + eras.AGAIN_S
    monkeypatch.setattr(clock, "monotonic", lambda: later)
    assert await era.prefix() is None
    assert pool.asked == 2


async def test_callers_share_one_question(pool: asyncpg.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    era = CacheNamespace(pool)
    asked = 0
    read = era._read

    async def count() -> None:
        nonlocal asked
        asked += 1
        await read()

    monkeypatch.setattr(era, "_read", count)
    assert len(set(await asyncio.gather(*(era.prefix() for _ in range(20))))) == 1
    assert asked == 1


async def test_without_the_database_nothing_is_recalled(known: RedisKnown, shared: Server) -> None:
    class Away:
        def acquire(self) -> Any:
            raise ConnectionRefusedError

    lost = RedisKnown(shared, CacheNamespace(cast("Any", Away())))
    assert await lost.recall([KEY]) == {}
    await lost.tell([(KEY, pack(7, 3))])
    assert await known.recall([KEY]) == {}


async def test_only_what_was_put_there_is_believed(known: RedisKnown, redis: OwnRedis) -> None:
    await tell(known, (KEY, pack(7, 3)), (OTHER, pack(8, 1)))
    mine, other = sorted(redis.names())
    with redis.client() as client:
        client.copy(mine, other, replace=True)
    assert await known.recall([KEY, OTHER]) == {KEY: pack(7, 3)}
    with redis.client() as client:
        client.set(mine, b"7")
        client.delete(other)
        client.lpush(other, b"a", b"list")
    assert await known.recall([KEY, OTHER]) == {}
    await known.tell([(KEY, pack(7, 3)), (OTHER, pack(8, 1))])
    assert await known.recall([KEY, OTHER]) == {KEY: pack(7, 3), OTHER: pack(8, 1)}


async def test_wiped_killed_and_back(known: RedisKnown, redis: OwnRedis) -> None:
    await tell(known, (KEY, pack(7, 3)))
    redis.wipe()
    assert await known.recall([KEY]) == {}
    redis.kill()
    assert await known.recall([KEY]) == {}
    await known.tell([(KEY, pack(7, 3))])


async def test_a_full_redis_is_no_reason_to_fail(known: RedisKnown, redis: OwnRedis) -> None:
    with redis.client() as client:
        client.config_set("maxmemory", "1")
    await tell(known, (KEY, pack(7, 3)))
    assert await known.recall([KEY]) == {}


# Writers ------------------------------------------------------------------------------------------------------------


def a_writer(database: Database, run: int, pages: SharedPages = UNSHARED) -> Writer:
    return open_writer(database, run, shared=pages)


async def test_a_second_worker_need_not_ask_the_database(
    database: Database, ground: Ground, shared: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await ground.a_run()
    links = [a_discovery(f"http://a.example/{number}", 3) for number in range(50)]
    first = await a_writer(database, run, RedisKnown(shared, CacheNamespace(database.pool))).learn(links)
    monkeypatch.setattr("forager.engine.writer.enqueue", None)
    second = await a_writer(database, run, RedisKnown(shared, CacheNamespace(database.pool))).learn(links)
    assert second.page_ids == first.page_ids
    assert (second.new, second.nearer) == ({}, {})


async def test_a_shorter_way_to_a_page_another_worker_knows_is_noticed(
    database: Database, ground: Ground, shared: Server
) -> None:
    run = await ground.a_run()
    for depth in (3, 1, 2):
        writer = a_writer(database, run, RedisKnown(shared, CacheNamespace(database.pool)))
        await writer.learn([a_discovery("http://a.example/x", depth)])
    assert await ground.conn.fetchval("SELECT depth FROM pages WHERE url = 'http://a.example/x'") == 1


async def test_pages_that_were_purged_are_learned_anew(database: Database, ground: Ground, shared: Server) -> None:
    run = await ground.a_run()
    link = a_discovery("http://a.example/x", 1)
    first = await a_writer(database, run, RedisKnown(shared, CacheNamespace(database.pool))).learn([link])
    await ground.conn.execute("DELETE FROM pages")
    second = await a_writer(database, run, RedisKnown(shared, CacheNamespace(database.pool))).learn([link])
    assert second.page_ids[link.key] != first.page_ids[link.key]
    assert await ground.conn.fetchval("SELECT count(*) FROM pages") == 1


async def test_a_wiped_redis_fills_itself_as_it_is_used(
    database: Database, ground: Ground, shared: Server, redis: OwnRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await ground.a_run()
    links = [a_discovery(f"http://a.example/{number}", 3) for number in range(50)]
    first = await a_writer(database, run, RedisKnown(shared, CacheNamespace(database.pool))).learn(links)
    full = sorted(redis.names())
    redis.wipe()
    second = await a_writer(database, run, RedisKnown(shared, CacheNamespace(database.pool))).learn(
        links
    )  # PostgreSQL answers
    assert sorted(redis.names()) == full
    monkeypatch.setattr("forager.engine.writer.enqueue", None)
    third = await a_writer(database, run, RedisKnown(shared, CacheNamespace(database.pool))).learn(
        links
    )  # and now Redis does
    assert first.page_ids == second.page_ids == third.page_ids
