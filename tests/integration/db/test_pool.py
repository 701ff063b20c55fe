"""What people read when a database cannot be used, and what happens to connections whose peer is gone."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator

import asyncpg
import pytest
from tests.listening import listening

from forager.db.dsn import UNCLEAR, place_of
from forager.db.pool import close_pool, connect, open_pool
from forager.errors import ConfigurationError, DatabaseUnreachableError, UserError

SECRET = "hunter2"


@pytest.mark.parametrize(
    ("dsn", "place"),
    [
        (f"postgresql://me:{SECRET}@127.0.0.1:5432/test", "127.0.0.1:5432/test"),
        (f"postgresql://me:{SECRET}@db.example/test?sslmode=require", "db.example:5432/test"),
        (f"postgresql://me:{SECRET}@[::1]:6543/test", "[::1]:6543/test"),
        (f"postgresql://me:{SECRET}@[::1]/test", "[::1]:5432/test"),
        (f"postgresql://a:1,b/test?password={SECRET}", "a:1,b:5432/test"),
        (f"postgresql:///test?host=/run/pg&password={SECRET}", "/run/pg/test"),
        ("postgresql://", "localhost:5432"),
        (f"postgresql://me:{SECRET}/rest@host/test", UNCLEAR),
        (f"postgresql://me:{SECRET}?rest@host/test", UNCLEAR),
        (f"postgresql://me:{SECRET}#rest@host/test", UNCLEAR),
        (f"postgresql://me:begin@{SECRET}/rest@host/test", UNCLEAR),
        (f"postgresql://me:begin@{SECRET}?rest@host/test", UNCLEAR),
        (f"postgresql://me:begin@{SECRET}@host/test", "host:5432/test"),
        (f"postgresql://me:{SECRET}@[bad/test", UNCLEAR),
    ],
)
def test_a_place_is_shown_without_its_password(dsn: str, place: str) -> None:
    assert place_of(dsn) == place


async def _failure(dsn: str) -> UserError:
    with pytest.raises(UserError) as caught:
        await open_pool(dsn, size=1, application="test")
    assert SECRET not in str(caught.value)
    assert caught.value.__suppress_context__
    return caught.value


@pytest.fixture
def silent_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


async def test_a_port_nobody_listens_on(silent_port: int) -> None:
    error = await _failure(f"postgresql://me:{SECRET}@127.0.0.1:{silent_port}/test")
    assert isinstance(error, DatabaseUnreachableError)
    assert str(error) == (
        f"The database at 127.0.0.1:{silent_port}/test does not answer: "
        "check that the server is running and that host and port are right."
    )


@pytest.mark.both_servers
async def test_a_database_that_does_not_exist(server: object, database_url: str) -> None:
    dsn = database_url.replace("/forager-test-", "/not-there-").replace(
        "postgresql://postgres@", f"postgresql://postgres:{SECRET}@"
    )
    error = await _failure(dsn)
    assert isinstance(error, DatabaseUnreachableError)
    assert "does not exist: create it (createdb), or check the name in FORAGER_DATABASE_URL." in str(error)


async def test_a_user_that_does_not_exist(database_url: str) -> None:
    error = await _failure(database_url.replace("forager@", f"stranger:{SECRET}@", 1))
    assert isinstance(error, DatabaseUnreachableError)
    assert "refused the user or password: check both in FORAGER_DATABASE_URL." in str(error)


async def test_a_host_nobody_knows() -> None:
    error = await _failure(f"postgresql://me:{SECRET}@no-such-host.invalid/test")
    assert isinstance(error, DatabaseUnreachableError)
    assert "no-such-host.invalid:5432/test has a host name nobody knows" in str(error)


@pytest.mark.parametrize("dsn", [f"postgresql://me:{SECRET}@127.0.0.1:port/test", f"postgresql://me:{SECRET}/x@h/t"])
async def test_a_url_that_makes_no_sense(dsn: str) -> None:
    error = await _failure(dsn)
    assert isinstance(error, ConfigurationError | DatabaseUnreachableError)


async def test_more_clients_than_the_server_has_room_for(database_url: str) -> None:
    admin = await connect(database_url, application="test")
    await admin.execute(f'ALTER DATABASE "{await admin.fetchval("SELECT current_database()")}" CONNECTION LIMIT 0')
    await admin.execute("CREATE ROLE guest_of_a_full_house LOGIN")
    try:
        error = await _failure(database_url.replace("forager@", "guest_of_a_full_house@", 1))
        assert "has no connection left: raise max_connections there, or start fewer workers." in str(error)
    finally:
        await admin.execute("DROP ROLE guest_of_a_full_house")
        await admin.close()


@pytest.fixture
async def hung_up() -> AsyncIterator[str]:
    """A server that takes the first message and hangs up."""

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(64)
        writer.close()

    async with listening(hang_up) as port:
        yield f"postgresql://me:{SECRET}@127.0.0.1:{port}/test"


async def test_something_that_is_no_postgresql(hung_up: str) -> None:
    assert isinstance(await _failure(hung_up), DatabaseUnreachableError)


async def test_a_half_open_tcp_connection_is_noticed_within_thirty_seconds_by_both(external_server: object) -> None:
    pool = await open_pool("postgresql://postgres@127.0.0.1:5432/postgres", size=1, application="test")
    async with pool.acquire() as connection:
        tcp = connection._con._transport.get_extra_info("socket")  # type: ignore[attr-defined]
        idle, interval, probes = (
            tcp.getsockopt(socket.IPPROTO_TCP, option)
            for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
        )
        assert struct.unpack("i", tcp.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 4)) == (1,)
        assert idle + interval * probes <= 30
        assert tcp.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) <= 30_000
    found = await pool.fetch("SELECT name, setting::int FROM pg_settings WHERE name LIKE 'tcp%'")  # after a reset
    watch = {row["name"].removeprefix("tcp_"): row["setting"] for row in found}
    assert 0 < watch["keepalives_idle"] + watch["keepalives_interval"] * watch["keepalives_count"] <= 30
    assert 0 < watch["user_timeout"] <= 30_000
    await close_pool(pool)


async def test_a_pooler_that_cannot_be_told_to_watch_is_good_enough(external_server: object) -> None:
    """As PgBouncer, whose list of parameters to ignore was written before we sent these."""
    refused = 0

    async def pool_it(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal refused
        first = await reader.read(65536)
        if b"tcp_keepalives_idle" in first:
            refused += 1
            words = b"SFATAL\0C08P01\0Munsupported startup parameter: tcp_keepalives_idle\0\0"
            writer.write(b"E" + struct.pack("!I", 4 + len(words)) + words)
            writer.close()
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", 5432)
        far_writer.write(first)
        await asyncio.gather(_pass(reader, far_writer), _pass(far_reader, writer))

    async with listening(pool_it) as port:
        dsn = f"postgresql://postgres@127.0.0.1:{port}/postgres?sslmode=disable"
        pool = await open_pool(dsn, size=2, application="test")
        assert await pool.fetchval("SELECT 1") == 1
        connection = await connect(dsn, application="test")
        assert await connection.fetchval("SELECT 2") == 2
        await connection.close()
        await close_pool(pool)
    assert refused == 2, "once for the pool, once for the single one"


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
    writer.close()


@pytest.mark.both_servers
async def test_sessions_are_in_utc_and_carry_our_name(database_url: str) -> None:
    pool = await open_pool(database_url, size=1, application="forager worker 7")
    assert await pool.fetchval("SHOW timezone") == "UTC"
    assert await pool.fetchval("SHOW jit") == "off"
    assert await pool.fetchval("SHOW application_name") == "forager worker 7"
    await close_pool(pool)


async def test_closing_does_not_wait_for_a_dead_statement(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forager.db.pool.CLOSE_TIMEOUT_S", 0.05)
    pool = await open_pool(database_url, size=1, application="test")
    sleeping = asyncio.create_task(pool.fetch("SELECT pg_sleep(600)"))
    watcher = await connect(database_url, application="test")
    asleep = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
    while await watcher.fetchval(asleep) == 0:  # noqa: ASYNC110 (another process's event)
        await asyncio.sleep(0.01)
    await close_pool(pool)
    with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
        await sleeping
    await watcher.close()
