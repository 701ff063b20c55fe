"""Connections of requests: none is lost, none is handed on broken, and no account takes all of them."""

import asyncio

import asyncpg
import httpx
import pytest
from fastapi import FastAPI

from forager.api import database as work
from forager.api.errors import TooManyError
from forager.api.read_pool import ReadPool
from forager.db.pool import open_pool


@pytest.fixture
async def small(database_url: str) -> asyncpg.Pool:
    return await open_pool(database_url, size=3, application="forager test desk")


async def test_what_is_left_in_a_transaction_is_put_right(small: asyncpg.Pool) -> None:
    desk = ReadPool(small, most=1)
    held = await desk.take(within_s=5)
    await held.execute("BEGIN")
    await desk.give_back(held, within_s=5)
    again = await desk.take(within_s=5)
    assert not again.is_in_transaction()
    await desk.give_back(again, within_s=5)
    await asyncio.wait_for(small.close(), 5)


async def test_who_comes_when_all_are_lent_waits_and_then_is_told(small: asyncpg.Pool) -> None:
    desk = ReadPool(small, most=1)
    held = await desk.take(within_s=5)
    with pytest.raises(TooManyError):
        await desk.take(within_s=0.01)
    waiting = asyncio.create_task(desk.take(within_s=30))
    await asyncio.sleep(0)
    await desk.give_back(held, within_s=5)
    await desk.give_back(await waiting, within_s=5)
    async with small.acquire(timeout=5), small.acquire(timeout=5):
        pass  # the others are not the desk's
    await asyncio.wait_for(small.close(), 5)


async def test_a_client_that_leaves_in_the_middle_takes_no_connection_along(small: asyncpg.Pool) -> None:
    desk = ReadPool(small, most=1)
    asking = asyncio.Event()

    async def read() -> None:
        conn = await desk.take(within_s=5)
        asking.set()
        try:
            await conn.execute("SELECT pg_sleep(30)")
        finally:
            await desk.give_back(conn, within_s=5)

    reading = asyncio.create_task(read())
    await asyncio.wait_for(asking.wait(), 10)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    conn = await desk.take(within_s=5)
    assert await conn.fetchval("SELECT 1") == 1
    await desk.give_back(conn, within_s=5)
    await asyncio.wait_for(small.close(), 5)


async def test_reads_go_on_after_their_connections_were_cut(
    app: FastAPI, user: httpx.AsyncClient, conn: asyncpg.Connection
) -> None:
    assert {(await user.get("/api/domains")).status_code for _ in range(3)} == {200}
    await conn.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'forager api'"
    )
    for _ in range(20):  # each of ten connections may still have to notice
        if (await user.get("/api/domains")).status_code == 200:
            break
    answers = await asyncio.gather(*(user.get("/api/domains") for _ in range(20)))
    assert answers[-1].status_code == 200


async def test_a_full_house_is_no_database_that_is_away(
    app: FastAPI, user: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "FREE_WITHIN_S", 0.05)
    app.state.call_back = lambda: pytest.fail("nothing is to be revived")
    held = [await app.state.desk.take(within_s=5) for _ in range(app.state.desk._seats._value)]
    answer = await user.get("/api/domains")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "in use" in answer.json()["detail"]
    health = await user.get("/health")
    assert (health.status_code, health.json()["parts"]["database"]["state"]) == (200, "degraded")
    for conn in held:
        await app.state.desk.give_back(conn, within_s=5)
    assert (await user.get("/api/domains")).status_code == 200


async def test_slow_requests_of_one_account_wait_for_each_other(
    app: FastAPI,
    user: httpx.AsyncClient,
    admin: httpx.AsyncClient,
    pool: asyncpg.Pool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Others are served meanwhile, and whoever waits too long is told that it is the account."""
    monkeypatch.setattr(work, "OWN_WITHIN_S", 1.0)
    async with pool.acquire() as holder, holder.transaction():
        await holder.execute("LOCK TABLE domains")
        slow = [asyncio.create_task(user.get("/api/domains")) for _ in range(6)]
        await asyncio.sleep(0.3)
        assert (await admin.get("/api/runs")).status_code == 200
        assert (await admin.get("/api/runs")).elapsed.total_seconds() < work.FREE_WITHIN_S
        await asyncio.wait(slow, return_when=asyncio.FIRST_COMPLETED)
        first = next(each for each in slow if each.done()).result()
        assert (first.status_code, "retry-after" in first.headers) == (429, True)
        assert "account" in first.json()["detail"]
    assert {(await each).status_code for each in slow} == {200, 429}
    assert not app.state.desk._of_accounts
