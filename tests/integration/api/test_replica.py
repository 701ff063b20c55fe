"""Reads by a real streaming replica: they go there, nobody misses his own change, and whatever happens to the replica,
the primary answers."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from fastapi import FastAPI
from tests.conftest import _with_connection as with_connection
from tests.conftest import in_thread
from tests.ground import Ground, _how_to_empty
from tests.integration.api.conftest import BASE, client_for, running, token_of
from tests.integration.api.house import furnish
from tests.integration.api.test_surface import asked, operations, spelled
from tests.replicas import Pair

from forager.accounts import service as accounts
from forager.accounts import store
from forager.accounts.credentials import csrf_token, new_secret
from forager.accounts.identity import Role, Scope, operator
from forager.api import read_routes, reads, work
from forager.api.caller import PLAIN_COOKIE
from forager.db.replica import State, read_wal_position
from forager.domains import queries as domain_queries
from forager.settings import Settings

pytestmark = [pytest.mark.timeout(120), pytest.mark.xdist_group("replica")]

NOW = {
    "/health",
    "/metrics",
    "/api/auth/me",
    "/api/auth/sessions",
    "/api/tokens",
    "/api/stats",
    "/api/stats/metrics",
    "/api/live",
    "/api/check",
    "/api/settings",
    "/api/openapi.json",
    "/api/storage",
    "/api/storage/backups",
    "/api/admin/audit",
    "/api/admin/users",
    "/api/admin/users/{user}",
    "/api/admin/tokens",
    "/api/alerts/rules",
    "/api/proxies/sizing",
    "/api/queues",
    "/api/queues/dead",
}
"""Reads that no replica answers: who somebody is, how things are at this moment, and what no database is asked for."""
FIVE_SECONDS_AT_MOST = 5.0


@pytest.fixture(scope="session")
def pair() -> Iterator[Pair]:
    made = Pair()
    try:
        made.start()
        yield made
    finally:
        made.stop()


EMPTY: dict[str, str] = {}


@pytest.fixture
def database_url(pair: Pair) -> str:
    dsn = pair.primary.dsn
    if not EMPTY:
        EMPTY[dsn] = in_thread(with_connection(dsn, _how_to_empty))
    in_thread(with_connection(dsn, lambda c: c.execute(EMPTY[dsn])))
    return dsn


@pytest.fixture
def settings(database_url: str, pair: Pair, tmp_path: Path) -> Settings:
    plenty = dict.fromkeys(("rate_anonymous", "rate_user", "rate_admin", "rate_seeds"), 1_000_000)
    return Settings.model_validate(
        {
            "home": tmp_path,
            "database_url": database_url,
            "replica_url": pair.replica.dsn,
            "api_connections": 5,
            "secret_key": ("8f2c1de07b94a6350d7ecb15f93a42e8",),
            **plenty,
        }
    )


@pytest.fixture
async def there(pair: Pair) -> AsyncIterator[asyncpg.Connection]:
    """A connection to the replica."""
    conn = await asyncpg.connect(pair.replica.dsn)
    yield conn
    await conn.close()


async def in_step(app: FastAPI) -> None:
    """Until it has replayed what was written before this call, and is asked."""
    async with app.state.forager.pool.acquire() as conn:
        position = await read_wal_position(conn)
        await conn.execute(
            "SELECT pg_logical_emit_message(true, 'test', '')"
        )  # so that there is something to replay behind it
    while not app.state.replica.has(position):
        await app.state.replica.wait_next_check()


@contextlib.asynccontextmanager
async def paused(there: asyncpg.Connection) -> AsyncIterator[None]:
    """The replica stays as it is."""
    await there.execute("SELECT pg_wal_replay_pause()")
    while await there.fetchval("SELECT pg_get_wal_replay_pause_state(), pg_sleep(0.01)") != "paused":
        pass
    try:
        yield
    finally:
        await there.execute("SELECT pg_wal_replay_resume()")


async def a_session(conn: Any, app: FastAPI, name: str = "alice") -> httpx.AsyncClient:
    """A browser that an admin has signed in with."""
    cli, secret = operator("cli:test"), new_secret()
    async with conn.transaction():
        await accounts.add_user(conn, cli, name, Role.ADMIN, "no hash")
        _, login = await store.find_login(conn, name)
        assert login is not None
        await store.open_session(conn, login, secret, ip=None, user_agent=None, lasts_s=3600, left_behind=None)
    browser = client_for(app)
    browser.cookies.set(PLAIN_COOKIE, secret, domain="127.0.0.1")
    browser.headers.update({"Origin": BASE, "X-CSRF-Token": csrf_token(secret)})
    return browser


async def status_of(client: httpx.AsyncClient, name: str = "a.example") -> str:
    answer = await client.get("/api/domains", params={"limit": 100})
    assert answer.status_code == 200, answer.text
    return next(str(row["is_active"]) for row in answer.json()["items"] if row["name"] == name)


# Who is asked --------------------------------------------------------------------------------------------------------


async def test_every_read_that_may_be_old_is_answered_there_and_no_other(
    app: FastAPI, conn: asyncpg.Connection, there: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await furnish(conn)
    refused = []
    judge = reads.should_retry_on_primary

    def note(replica: Any, error: Any, *rest: Any) -> bool:
        if again := judge(replica, error, *rest):
            refused.append(repr(error))
        return again

    monkeypatch.setattr(work, "should_retry_on_primary", note)
    monkeypatch.setattr(reads, "should_retry_on_primary", note)
    by_replica: set[str] = set()
    by_primary: set[str] = set()
    token = await token_of(conn, Role.ADMIN, Scope.READ)
    await in_step(app)
    async with client_for(app, token) as client:
        for method, path, operation in operations(app):
            if method != "GET" or path == "/api/live":
                continue
            before = await there.fetchval("SELECT clock_timestamp()")
            answer = await client.get(spelled(path), params=list(asked(operation).items()))
            assert answer.status_code < 500, answer.text
            asked_there = await there.fetchval(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'forager api' AND state_change > $1",
                before,
            )
            (by_replica if asked_there else by_primary).add(path)
    assert by_primary <= NOW, by_primary - NOW
    assert by_replica.isdisjoint(NOW), by_replica & NOW
    assert len(by_replica) > 50
    assert refused == []


async def test_a_token_that_may_change_things_is_answered_by_the_primary(
    app: FastAPI, conn: asyncpg.Connection, there: asyncpg.Connection, admin: httpx.AsyncClient, user: httpx.AsyncClient
) -> None:
    await Ground(conn).a_domain("a.example")
    await in_step(app)
    async with paused(there):
        await conn.execute("UPDATE domains SET is_active = false")
        assert (await status_of(admin), await status_of(user)) == ("False", "True")


# Nobody misses his own change -----------------------------------------------------------------------------------------


async def test_a_change_is_seen_at_once_by_who_made_it_in_every_process(
    app: FastAPI, settings: Settings, conn: asyncpg.Connection, there: asyncpg.Connection, user: httpx.AsyncClient
) -> None:
    await Ground(conn).a_domain("a.example")
    async with running(settings) as other, await a_session(conn, app) as browser, client_for(other) as elsewhere:
        await in_step(app)
        await in_step(other)
        async with paused(there):
            assert await status_of(browser) == "True"
            changed = await browser.patch("/api/admin/domains/a.example", json={"is_active": False})
            assert changed.status_code == 200, changed.text
            elsewhere.cookies, elsewhere.headers = browser.cookies, browser.headers
            assert (await status_of(browser), await status_of(elsewhere)) == ("False", "False")
            assert await status_of(user) == "True"  # who changed nothing is shown what the replica has
        await in_step(app)
        before = await there.fetchval("SELECT clock_timestamp()")
        assert await status_of(browser) == "False"
        last = "SELECT max(state_change) FROM pg_stat_activity WHERE application_name = 'forager api'"
        assert await there.fetchval(last) > before  # and it is the replica's to answer again


async def test_a_change_that_is_refused_leaves_reads_where_they_are(app: FastAPI, conn: asyncpg.Connection) -> None:
    async with await a_session(conn, app) as browser:
        refused = await browser.patch("/api/admin/domains/nobody.example", json={"is_active": False})
        assert refused.status_code == 404
        assert "set-cookie" not in refused.headers
        browser.cookies.set(reads.PLAIN_COOKIE, "nonsense", domain="127.0.0.1")
        assert (await browser.get("/api/domains")).status_code == 200


# Whatever happens to it -----------------------------------------------------------------------------------------------


async def part(client: httpx.AsyncClient) -> dict[str, str]:
    found: dict[str, str] = (await client.get("/health")).json()["parts"]["replica"]
    return found


async def test_a_replica_that_is_killed_is_left_out_until_it_is_back(
    app: FastAPI, pair: Pair, conn: asyncpg.Connection, user: httpx.AsyncClient
) -> None:
    await Ground(conn).a_domain("a.example")
    await in_step(app)
    assert await status_of(user) == "True"  # so that a connection is kept at hand
    assert (await part(user))["state"] == "ok"
    try:
        pair.replica.kill()
        await conn.execute("UPDATE domains SET is_active = false")
        assert {await status_of(user) for _ in range(5)} == {"False"}
        await app.state.replica.wait_next_check()
        assert (await part(user))["state"] == "degraded"
        assert "does not answer" in (await part(user))["detail"]
    finally:
        pair.replica.start()
    await in_step(app)
    assert (await part(user))["state"] == "ok"
    assert await status_of(user) == "False"


async def test_who_waits_for_a_frozen_replica_is_answered_by_the_primary(
    app: FastAPI, pair: Pair, conn: asyncpg.Connection, user: httpx.AsyncClient
) -> None:
    await Ground(conn).a_domain("a.example")
    await in_step(app)
    await status_of(user)
    pair.replica.freeze()
    try:
        async with asyncio.timeout(FIVE_SECONDS_AT_MOST):
            assert await status_of(user) == "True"
        assert app.state.replica.state is State.AWAY
    finally:
        pair.replica.thaw()
    await in_step(app)


async def test_a_replica_that_is_behind_is_left_out(
    settings: Settings, conn: asyncpg.Connection, there: asyncpg.Connection
) -> None:
    await Ground(conn).a_domain("a.example")
    token = await token_of(conn, Role.USER, Scope.READ)
    async with (
        running(settings.model_copy(update={"replica_max_lag_s": 2.0})) as app,
        client_for(app, token) as user,
    ):
        await in_step(app)
        async with paused(there):
            await conn.execute("UPDATE domains SET is_active = false")
            assert await status_of(user) == "True"
            while app.state.replica.is_in_step:
                await app.state.replica.wait_next_check()
                await asyncio.sleep(0.1)
            assert await status_of(user) == "False"
            assert (await part(user))["detail"].startswith("the replica is too far behind")
            shown = (await user.get("/metrics")).text
            lag = next(line for line in shown.splitlines() if line.startswith("crawler_replica_lag_seconds "))
            assert float(lag.split()[1]) > 2
            assert "crawler_replica_asked 0.0" in shown
        await in_step(app)


async def test_another_schema_and_what_is_no_replica_are_left_out(
    app: FastAPI, settings: Settings, conn: asyncpg.Connection, there: asyncpg.Connection
) -> None:
    await in_step(app)
    revision = await conn.fetchval("SELECT version_num FROM alembic_version")
    async with paused(there):
        await conn.execute("UPDATE alembic_version SET version_num = '9999'")
        await app.state.replica.wait_next_check()
        assert app.state.replica.state is State.SCHEMA
        assert not app.state.replica.has(0)
        await conn.execute("UPDATE alembic_version SET version_num = $1", revision)
    await in_step(app)
    async with running(settings.model_copy(update={"replica_url": settings.database_url})) as other:
        await other.state.replica.wait_next_check()
        assert other.state.replica.state is State.NO_REPLICA


async def test_a_replica_that_is_promoted_is_left_out(
    app: FastAPI, pair: Pair, conn: asyncpg.Connection, user: httpx.AsyncClient
) -> None:
    await Ground(conn).a_domain("a.example")
    await in_step(app)
    assert await status_of(user) == "True"
    there = await asyncpg.connect(pair.replica.dsn)
    try:
        await there.fetchval("SELECT pg_promote()")
        await there.execute("UPDATE domains SET is_active = false")  # a history of its own
        await app.state.replica.wait_next_check()
        assert app.state.replica.state is State.NO_REPLICA
        assert await status_of(user) == "True"
        assert "was promoted" in (await part(user))["detail"]
    finally:
        await there.close()
        pair.renew()
    await in_step(app)


async def test_a_replica_that_came_back_earlier_than_it_was_is_not_believed(
    app: FastAPI, conn: asyncpg.Connection, user: httpx.AsyncClient
) -> None:
    await Ground(conn).a_domain("a.example")
    await in_step(app)
    replica = app.state.replica
    await replica.wait_next_check()  # so that the next look is a second away
    replica._replayed += 10**12  # as if the last look had seen a replica that then crashed
    assert replica.has(0)
    assert await status_of(user) == "True"
    assert replica.state is State.AWAY
    assert replica.pool.get_size() == 0  # no connection was kept
    await in_step(app)


@pytest.mark.parametrize("way", ["short", "long"])
async def test_what_the_log_breaks_off_is_asked_again(
    app: FastAPI,
    conn: asyncpg.Connection,
    there: asyncpg.Connection,
    user: httpx.AsyncClient,
    *,
    way: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await Ground(conn).a_domain("a.example")
    list_domains = domain_queries.list_domains

    async def slowly(conn: Any, *given: Any, **named: Any) -> Any:
        await conn.fetch("SELECT CASE WHEN pg_is_in_recovery() THEN pg_sleep(60)::text END FROM domains")
        return await list_domains(conn, *given, **named)

    monkeypatch.setattr(domain_queries, "list_domains", slowly)
    if way == "long":
        monkeypatch.setattr(read_routes, "plan_of", lambda _route: None)  # FastAPI answers everything
    await in_step(app)
    asking = asyncio.create_task(status_of(user))
    sleeping = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND application_name = 'forager api'"
    while not await there.fetchval(sleeping):
        pass
    async with conn.transaction():
        await conn.execute("LOCK TABLE domains IN ACCESS EXCLUSIVE MODE")
    assert await asyncio.wait_for(asking, FIVE_SECONDS_AT_MOST) == "True"
    assert app.state.replica.is_in_step  # it did nothing wrong


# Exports and search ---------------------------------------------------------------------------------------------------


async def test_exports_go_there_where_vacuum_lets_them(
    app: FastAPI, conn: asyncpg.Connection, there: asyncpg.Connection, user: httpx.AsyncClient
) -> None:
    await Ground(conn).a_domain("a.example", pages=1)
    await in_step(app)
    async with paused(there):
        await Ground(conn).a_domain("b.example", pages=1)
        assert len((await user.get("/api/exports/pages")).text.splitlines()) == 1
        try:
            await there.execute("ALTER SYSTEM SET hot_standby_feedback = off")
            await there.execute("SELECT pg_reload_conf()")
            while app.state.replica.keeps_rows:
                await app.state.replica.wait_next_check()
            assert len((await user.get("/api/exports/pages")).text.splitlines()) == 2
        finally:
            await there.execute("ALTER SYSTEM RESET hot_standby_feedback")
            await there.execute("SELECT pg_reload_conf()")


async def test_a_search_there_has_the_primary_index_what_waits(
    app: FastAPI, conn: asyncpg.Connection, user: httpx.AsyncClient
) -> None:
    ground = Ground(conn)
    domain = await ground.a_domain("a.example")
    await ground.a_page(
        "http://a.example/read", domain, status="fetched", fetched_at="(now())", title="A lamp", language="en",
        content_type="text/html", content_hash=bytes(16), simhash=5,
    )  # fmt: skip
    await in_step(app)
    waiting = (await user.get("/api/search?q=lamp")).json()["not_indexed_yet"]
    assert waiting == 1
    await app.state.catch_up._indexing
    await in_step(app)
    assert (await user.get("/api/search?q=lamp")).json()["not_indexed_yet"] == 0
