"""A Redis that is killed, frozen or something else: noticed soon, left alone, asked again, never misheard."""

import asyncio
import socket
from typing import Any

import pytest
from redis.asyncio import Redis
from tests.integration.cache.conftest import OwnRedis

from forager import clock
from forager.cache import server as module
from forager.cache.server import RedisUnavailableError, Server, open_server
from forager.errors import ConfigurationError


async def ping(client: Redis) -> Any:
    return await client.echo("here")


async def fail(shared: Server, times: int = module.FAILURES) -> None:
    for _ in range(times):
        with pytest.raises(RedisUnavailableError):
            await shared.ask(ping, retries=0)


class Asked:
    """A question that counts how often it is put."""

    def __init__(self) -> None:
        self.times = 0

    async def __call__(self, client: Redis) -> Any:
        self.times += 1
        return await ping(client)


async def test_a_server_that_answers_is_near(shared: Server) -> None:
    assert await shared.ask(ping) == b"here"
    assert not shared.is_away


async def test_a_server_that_was_killed_is_left_alone_and_found_again(
    redis: OwnRedis, shared: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis.kill()
    asked = Asked()
    with pytest.raises(RedisUnavailableError):
        await shared.ask(asked)
    assert asked.times == 1 + module.RETRIES
    await fail(shared)
    assert shared.is_circuit_open
    with pytest.raises(RedisUnavailableError):
        await shared.ask(asked)
    assert asked.times == 1 + module.RETRIES
    redis.start()
    later = clock.monotonic() + module.RESET_S
    monkeypatch.setattr(clock, "monotonic", lambda: later)
    assert await shared.ask(asked) == b"here"
    assert not shared.is_away


async def test_while_it_is_away_one_asks_and_once(
    redis: OwnRedis, shared: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis.kill()
    await fail(shared)
    later = clock.monotonic() + module.RESET_S
    monkeypatch.setattr(clock, "monotonic", lambda: later)
    asked = Asked()
    answers = await asyncio.gather(*[shared.ask(asked) for _ in range(10)], return_exceptions=True)
    assert {type(answer) for answer in answers} == {RedisUnavailableError}
    assert asked.times == 1


async def test_a_frozen_server_is_not_waited_for(redis: OwnRedis, hasty: Server) -> None:
    redis.freeze()
    async with asyncio.timeout(20):
        await fail(hasty)
    assert hasty.is_circuit_open


async def test_an_answer_that_comes_too_late_is_not_taken_for_the_next(redis: OwnRedis, hasty: Server) -> None:
    redis.freeze()
    for text in ("first", "second"):
        with pytest.raises(RedisUnavailableError):
            await hasty.ask(lambda client, text=text: client.echo(text), retries=0)  # type: ignore[misc]
    redis.thaw()
    assert await hasty.ask(lambda client: client.echo("third")) == b"third"


async def test_what_is_no_redis_is_away() -> None:
    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1") as web:
        port = web.sockets[0].getsockname()[1]
        async with open_server(f"redis://127.0.0.1:{port}/9") as shared:
            await fail(shared, 1)


async def test_where_nobody_listens_it_is_away() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        async with open_server(f"redis://127.0.0.1:{taken.getsockname()[1]}/9") as shared:
            await fail(shared, 1)


async def test_an_address_that_means_nothing_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"redis\.url"):
        async with open_server("redis://127.0.0.1:6379/9?socket_timeout=soon"):
            pass
