"""Processes vouch to each other for sessions that PostgreSQL confirmed within a second; an end holds in all of them,
whatever becomes of Redis."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from fastapi import FastAPI
from tests.integration.api.conftest import PLENTY, client_for, running
from tests.integration.cache.conftest import OwnRedis

from forager.accounts import service as accounts
from forager.accounts import session_cache, store
from forager.accounts.credentials import hash_of, new_secret
from forager.accounts.identity import Role, Scope, operator
from forager.api.caller import PLAIN_COOKIE
from forager.cache import server as module
from forager.cache.namespace import CacheNamespace
from forager.cache.server import Server
from forager.cache.sessions import RedisSessionCache
from forager.config.settings import Settings

ROOT = operator("cli:root")
NAME, DIGEST = b"session" + bytes(32), b"what PostgreSQL said"


@pytest.fixture
def settings(database_url: str, redis: OwnRedis, tmp_path: Path) -> Settings:
    limits = dict.fromkeys(
        ("api_rate_limit_anonymous", "api_rate_limit_user", "api_rate_limit_admin", "api_rate_limit_seeds"), PLENTY
    )
    given = {"home": tmp_path, "database_url": database_url, "redis_url": redis.url, "api_database_connections": 3}
    return Settings.of(**(given | limits))


@pytest.fixture
async def two(settings: Settings) -> AsyncIterator[tuple[FastAPI, FastAPI]]:
    async with running(settings) as one, running(settings) as other:
        yield one, other


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every look-up in PostgreSQL."""
    asked: list[str] = []
    find = store.find_session

    async def find_session(conn: Any, secret: str, idle_s: float) -> Any:
        asked.append(secret)
        return await find(conn, secret, idle_s)

    monkeypatch.setattr(store, "find_session", find_session)
    return asked


async def a_session(conn: Any, role: Role = Role.ADMIN) -> str:
    secret = new_secret()
    await accounts.add_user(conn, ROOT, "alice", role, "no hash")
    _, login = await store.find_login(conn, "alice")
    assert login is not None
    await store.open_session(conn, login, secret, ip=None, user_agent=None, lasts_s=3600, left_behind=None)
    return secret


def browser(app: FastAPI, secret: str) -> httpx.AsyncClient:
    client = client_for(app)
    client.cookies.set(PLAIN_COOKIE, secret, domain="127.0.0.1")
    return client


async def me(client: httpx.AsyncClient) -> str:
    answer = await client.get("/api/auth/me")
    return str(answer.json()["role"]) if answer.status_code == 200 else str(answer.status_code)


def a_second_passes(*apps: FastAPI) -> None:
    """In the memory of these processes."""
    for app in apps:
        for seen in app.state.gate._seen.values():
            seen.until = 0.0


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a machine that is busy: a Redis that is given up is no Redis."""
    monkeypatch.setattr(module, "ATTEMPT_S", 10.0)


@pytest.mark.usefixtures("patient")
async def test_one_process_asks_for_all(
    two: tuple[FastAPI, FastAPI], conn: asyncpg.Connection, questions: list[str]
) -> None:
    secret = await a_session(conn)
    async with browser(two[0], secret) as one, browser(two[1], secret) as other:
        assert [await me(one), await me(other)] == ["admin", "admin"]
        questions.clear()
        a_second_passes(*two)
        await conn.execute("SELECT pg_sleep(1)")  # and in Redis
        assert [await me(one), await me(other)] == ["admin", "admin"]
        assert len(questions) == 1


@pytest.mark.usefixtures("patient")
async def test_a_process_asks_itself_now_and_then(
    two: tuple[FastAPI, FastAPI], conn: asyncpg.Connection, questions: list[str]
) -> None:
    secret = await a_session(conn)
    async with browser(two[0], secret) as one, browser(two[1], secret) as other:
        assert [await me(one), await me(other)] == ["admin", "admin"]
        a_second_passes(two[1])
        for seen in two[1].state.gate._seen.values():
            seen.asked_at -= session_cache.ALONE_S
        questions.clear()
        await me(other)
        assert len(questions) == 1


Deed = Callable[[Any], Awaitable[Any]]
ENDS: dict[str, tuple[Deed, str]] = {
    "a role": (lambda conn: accounts.change_user(conn, ROOT, "alice", role=Role.USER), "401"),
    "switched off": (lambda conn: accounts.change_user(conn, ROOT, "alice", is_active=False), "401"),
    "removed": (lambda conn: accounts.remove_user(conn, ROOT, "alice"), "401"),
    "signed out": (lambda conn: conn.execute("DELETE FROM sessions"), "401"),
    "a password": (lambda conn: conn.execute("DELETE FROM sessions WHERE user_id IN (SELECT id FROM users)"), "401"),
}
REDIS: dict[str, Callable[[OwnRedis], None]] = {
    "there": lambda _redis: None,
    "wiped": OwnRedis.wipe,
    "killed": OwnRedis.kill,
    "frozen": OwnRedis.freeze,
}


@pytest.mark.parametrize("state", REDIS)
@pytest.mark.parametrize("end", ["a role", "signed out"])
async def test_an_end_holds_in_every_process_when_it_is_told(
    two: tuple[FastAPI, FastAPI], conn: asyncpg.Connection, redis: OwnRedis, end: str, state: str
) -> None:
    await check_that_it_ends(two, conn, lambda: REDIS[state](redis), end)
    if state == "frozen":
        redis.thaw()


@pytest.mark.parametrize("end", ["switched off", "removed", "a password"])
async def test_so_do_the_others(two: tuple[FastAPI, FastAPI], conn: asyncpg.Connection, end: str) -> None:
    await check_that_it_ends(two, conn, lambda: None, end)


async def check_that_it_ends(
    two: tuple[FastAPI, FastAPI], conn: asyncpg.Connection, strike: Callable[[], None], end: str
) -> None:
    secret = await a_session(conn)
    deed, expected = ENDS[end]
    async with conn.transaction():
        await accounts.add_user(conn, ROOT, "keeper", Role.ADMIN, "no hash")  # one admin stays
    async with browser(two[0], secret) as one, browser(two[1], secret) as other:
        assert [await me(one), await me(other)] == ["admin", "admin"]
        strike()
        async with conn.transaction():
            await deed(conn)
        assert await me(other) in {"admin", expected}  # told by nobody yet, it may go either way
        await two[0].state.gate.clear_shared_cache()
        assert [await me(one), await me(other)] == [expected, expected]


async def test_a_token_that_is_revoked_is_worth_nothing_anywhere(
    two: tuple[FastAPI, FastAPI], conn: asyncpg.Connection
) -> None:
    await accounts.add_user(conn, ROOT, "alice", Role.ADMIN, "no hash")
    made = await accounts.create_token(conn, ROOT, "alice", name="t", scope=Scope.ADMIN)
    async with client_for(two[0], made.token) as one, client_for(two[1], made.token) as other:
        assert [await me(one), await me(other)] == ["admin", "admin"]
        async with conn.transaction():
            await accounts.revoke_token(conn, ROOT, made.id)
        await two[0].state.gate.clear_shared_cache()
        assert [await me(one), await me(other)] == ["401", "401"]


# What is believed -----------------------------------------------------------------------------------------------------


@pytest.fixture
def vouched(shared: Server, pool: asyncpg.Pool) -> RedisSessionCache:
    return RedisSessionCache(shared, CacheNamespace(pool), lasts_s=1.0)


async def test_what_was_told_is_heard_for_the_rest_of_a_second(vouched: RedisSessionCache) -> None:
    _, moment = await vouched.hear(NAME, b"")
    assert moment is not None
    await vouched.tell(NAME, DIGEST, moment)
    left_s, later = await vouched.hear(NAME, DIGEST)
    assert 0 < left_s <= 1.0
    assert later is not None
    assert later >= moment
    assert (await vouched.hear(NAME, b"something else"))[0] == 0
    assert (await vouched.hear(NAME, b""))[0] == 0  # who knows nothing himself is told nothing


async def test_what_is_told_too_late_is_not_heard(vouched: RedisSessionCache, redis: OwnRedis) -> None:
    _, moment = await vouched.hear(NAME, b"")
    assert moment is not None
    await vouched.tell(NAME, DIGEST, moment - 1000)
    assert (await vouched.hear(NAME, DIGEST))[0] == 0
    assert redis.names() == []


async def test_what_is_to_last_longer_was_not_put_there_by_us(vouched: RedisSessionCache, redis: OwnRedis) -> None:
    _, moment = await vouched.hear(NAME, b"")
    assert moment is not None
    await vouched.tell(NAME, DIGEST, moment)
    (name,) = redis.names()
    with redis.client() as client:
        client.set(name, DIGEST, ex=60)
    assert (await vouched.hear(NAME, DIGEST))[0] == 0


@pytest.mark.usefixtures("patient")
async def test_nobody_comes_in_by_what_stands_in_redis(
    two: tuple[FastAPI, FastAPI], conn: asyncpg.Connection, redis: OwnRedis
) -> None:
    secret = await a_session(conn, Role.USER)
    async with browser(two[0], secret) as one, browser(two[1], new_secret()) as stranger:
        assert await me(one) == "user"
        (name,) = [each for each in redis.names() if each.endswith(hash_of(secret))]
        with redis.client() as client:
            for each in (hash_of(new_secret()), hash_of(str(stranger.cookies[PLAIN_COOKIE]))):
                client.copy(name, name.replace(hash_of(secret), each))
        assert await me(stranger) == "401"
