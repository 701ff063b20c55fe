"""Redis lost in the middle of a crawl (HARDENING F6): another speed, the same result."""

import asyncio
from collections.abc import Callable

import pytest
from tests.integration.cache.conftest import OwnRedis
from tests.integration.engine.stage import Stage, WatchedSite, serve

from forager.cache.namespace import CacheNamespace
from forager.cache.server import open_server
from forager.cache.urls import RedisKnown
from forager.db.database import Database
from forager_playground import Answer

pytestmark = pytest.mark.timeout(120)


def spoil(redis: OwnRedis) -> None:
    """Every value becomes something else."""
    with redis.client() as client:
        for name in redis.names():
            client.delete(name)
            client.lpush(name, b"nonsense")


HARM: dict[str, Callable[[OwnRedis], None]] = {
    "nothing": lambda _redis: None,
    "killed": OwnRedis.kill,
    "frozen": OwnRedis.freeze,
    "wiped": OwnRedis.wipe,
    "spoiled": spoil,
}


@pytest.mark.parametrize("harm", HARM)
async def test_whatever_becomes_of_redis_the_crawl_is_the_same(database: Database, redis: OwnRedis, harm: str) -> None:
    """Two workers share a run; in the middle of it something happens to Redis."""
    happened = asyncio.Event()

    def on_request(_path: str, count: int) -> Answer | None:
        if count == 40:
            assert harm == "nothing" or redis.names(), "something is shared by now"
            HARM[harm](redis)
            happened.set()
        return None

    sites = [WatchedSite(100, number=1, on_request=on_request), WatchedSite(60, number=2), WatchedSite(60, number=3)]
    async with serve(*sites) as web, open_server(redis.url) as one, open_server(redis.url) as two:
        stage = await Stage.open(database, web)
        other = Stage(database, web, stage.spec, stage.run)
        await asyncio.gather(
            *[
                each.work(
                    services={"shared": RedisKnown(server, CacheNamespace(database.pool))},
                    workers=2,
                    batch_pages=10,
                    known_urls=20,
                )
                for each, server in ((stage, one), (other, two))
            ]
        )
        assert happened.is_set()
        expected = web.answer_key.expected_success()
        assert await stage.urls("status = 'fetched'") == expected
        assert stage.requests() == dict.fromkeys(expected, 1)
        depths = {row["url"]: row["depth"] for row in await stage.fetch("SELECT url, depth FROM pages")}
        assert depths == {url: web.answer_key.by_url[url].depth for url in expected}
    assert await stage.broken_promises() == {}
