"""Live numbers of several API processes: one asks the database for all, and each for itself while Redis is away."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from tests.integration.api.conftest import running
from tests.integration.cache.conftest import OwnRedis

from forager.cache import latest, server
from forager.cache import namespace as era
from forager.config.settings import Settings
from forager.stats import overview as numbers
from forager.stats.routes import live


class Asked:
    def __init__(self) -> None:
        self.times = 0


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """How often the database was asked. Where all have patience: with what they really have, each would make its own on
    a machine that is busy."""
    counted, overview = Asked(), numbers.overview

    async def count(*given: Any, **more: Any) -> Any:
        counted.times += 1
        return await overview(*given, **more)

    monkeypatch.setattr(numbers, "overview", count)
    monkeypatch.setattr(live, "EVERY_S", 60.0)
    monkeypatch.setattr(server, "ATTEMPT_S", 10.0)
    monkeypatch.setattr(latest, "MAKING_S", 60.0)
    monkeypatch.setattr(era, "READ_WITHIN_S", 60.0)
    return counted


@pytest.fixture
async def apps(database_url: str, tmp_path: Path, redis: OwnRedis, asked: Asked) -> AsyncIterator[list[FastAPI]]:
    """Opened when `asked` has made them patient: how long a connection waits is said when it is made."""
    given = {"home": tmp_path, "database_url": database_url, "redis_url": redis.url, "api_database_connections": 3}
    async with AsyncExitStack() as stack:
        settings = Settings.of(**given)
        yield [await stack.enter_async_context(running(settings)) for _ in range(3)]


async def test_one_process_asks_for_all(apps: list[FastAPI], asked: Asked) -> None:
    shown = await asyncio.gather(*[app.state.live.written(is_public=True) for app in apps * 5])
    assert len(set(shown)) == 1
    assert asked.times == 1
    full = await asyncio.gather(*[app.state.live.written(is_public=False) for app in apps])
    assert len(set(full)) == 1


async def test_who_comes_a_moment_after_they_were_made_does_not_make_them_again(apps: list[FastAPI]) -> None:
    one, other = (app.state.live._latest for app in apps[:2])
    assert await other.read() is None
    assert await one.should_build()
    await one.put(b"{}", 60.0)
    assert not await other.should_build()
    assert await other.read() is not None


async def test_nonsense_is_not_shown(apps: list[FastAPI], asked: Asked, redis: OwnRedis) -> None:
    first = await apps[0].state.live.written(is_public=True)
    (name,) = redis.names()
    for number, nonsense in enumerate((b"[]", b"{}", b"no json")):
        with redis.client() as client:
            client.set(name, nonsense, px=60_000)
        apps[1].state.live._overview = None
        assert (await apps[1].state.live.overview()).keys() >= set(numbers.PUBLIC)
        assert asked.times == number + 2
    assert first


async def test_each_asks_for_itself_while_redis_is_away(apps: list[FastAPI], asked: Asked, redis: OwnRedis) -> None:
    redis.kill()
    shown = await asyncio.gather(*[app.state.live.written(is_public=True) for app in apps])
    assert len(set(shown)) == 1
    assert asked.times == len(apps)


async def test_who_wanted_to_make_them_and_died_is_not_waited_for(
    apps: list[FastAPI], asked: Asked, redis: OwnRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    its = apps[0].state.live._latest
    assert await its.should_build()
    assert not await its.should_build()
    monkeypatch.setattr(live, "EVERY_S", 0.3)
    assert await apps[1].state.live.written(is_public=True)
    assert asked.times == 1
