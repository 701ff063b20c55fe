"""A Redis of the test's own: a real server on a socket in its folder, to be killed, frozen and wiped."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest
from redis import Redis, RedisError
from tests.ground import database, database_url, ground

from forager.cache import server as module
from forager.cache.namespace import CacheNamespace
from forager.cache.server import Server, open_server
from forager.cache.urls import RedisKnown

__all__ = ["database", "database_url", "ground"]


class OwnRedis:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"unix://{folder}/redis.sock"

    def start(self) -> None:
        socket = f"{self._folder}/redis.sock"
        command = ["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", str(self._folder)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            with contextlib.suppress(RedisError), self.client() as client:
                client.ping()
                return
            assert self._process.poll() is None

    def client(self) -> Redis:
        return Redis.from_url(self.url)

    def wipe(self) -> None:
        with self.client() as client:
            client.flushall()

    def names(self) -> list[bytes]:
        with self.client() as client:
            return list(client.keys(b"*"))

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)


@pytest.fixture
def redis(run_folder: Path, request: pytest.FixtureRequest) -> Iterator[OwnRedis]:
    if shutil.which("redis-server") is None:
        if os.environ.get("FORAGER_REQUIRE_SERVICES") == "1":
            pytest.fail("redis-server is not installed")
        pytest.skip("redis-server is not installed")
    folder = run_folder / f"redis-{os.getpid()}"
    folder.mkdir()
    made = OwnRedis(folder)
    made.start()
    yield made
    made.kill()
    shutil.rmtree(folder)


@pytest.fixture
async def shared(redis: OwnRedis, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    """Patient enough for a machine that is busy."""
    monkeypatch.setattr(module, "RETRY_AFTER_S", 0.01)
    monkeypatch.setattr(module, "ATTEMPT_S", 10.0)
    async with open_server(redis.url) as opened:
        yield opened


@pytest.fixture
async def hasty(redis: OwnRedis) -> AsyncIterator[Server]:
    """With the patience it really has."""
    async with open_server(redis.url) as opened:
        yield opened


@pytest.fixture
def known(shared: Server, pool: asyncpg.Pool) -> RedisKnown:
    return RedisKnown(shared, CacheNamespace(pool))
