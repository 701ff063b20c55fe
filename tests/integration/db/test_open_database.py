"""Opening the database of the settings: both servers, first use, races, and a server that dies meanwhile."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from tests.integration.db.guests import is_ready, server_pid
from tests.integration.scale.next_revision import migrations_in, write_migration
from tests.listening import listening

from forager.config.loader import load
from forager.db import embedded, migrate, schema
from forager.db.database import open_database
from forager.db.pool import CONNECTION_LOST
from forager.errors import ConfigurationError

ROOT = Path(__file__).parents[3]


async def test_the_first_use_makes_everything_and_the_last_one_stops_it(home: Path) -> None:
    settings = load({"home": home})
    async with open_database(settings, size=2, application="test") as database:
        assert database.description == "PostgreSQL 18 (embedded)"
        assert database.is_embedded
        assert await database.pool.fetchval("SELECT count(*) FROM domains") == 0
        async with open_database(settings, size=2, application="test") as second:
            assert await second.pool.fetchval("SELECT 1") == 1
        assert is_ready(home)
    assert not is_ready(home)


@pytest.mark.both_servers
async def test_an_empty_external_database_gets_its_tables(empty_database_url: str) -> None:
    with_password = empty_database_url.replace("postgres@", "postgres:hunter2@")
    async with open_database(load({"database.url": with_password}), size=2, application="test") as database:
        assert not database.is_embedded
        assert "hunter2" not in database.description + repr(database)
        assert database.description.startswith(("PostgreSQL 18 at /", "PostgreSQL 15 at 127.0.0.1:5432/forager-test-"))
        assert await database.pool.fetchval("SELECT count(*) FROM domains") == 0
        await database.revive()
    assert await migrate.current(empty_database_url) == schema.head()


@pytest.mark.parametrize("is_external", [True, False])
def test_eight_first_users_at_once_make_the_schema_once(home: Path, empty_database_url: str, is_external: bool) -> None:
    where = {"FORAGER_DATABASE_URL": empty_database_url} if is_external else {"FORAGER_HOME": str(home)}
    racers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.integration.db.opener"],
            cwd=ROOT,
            env=os.environ | where,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(8)
    ]
    said = [racer.communicate("\n")[0].strip() for racer in racers]
    assert said == ["1"] * 8
    assert [racer.returncode for racer in racers] == [0] * 8
    assert not is_ready(home)


async def test_a_database_with_somebody_elses_tables_is_refused(empty_database_url: str) -> None:
    connection = await asyncpg.connect(empty_database_url)
    await connection.execute("CREATE TABLE customers (name text)")
    with pytest.raises(
        ConfigurationError, match=r"not Forager's, such as 'customers': give Forager a database of its own"
    ):
        async with open_database(load({"database.url": empty_database_url}), size=1, application="test"):
            pass
    assert await connection.fetchval("SELECT to_regclass('domains') IS NULL")
    await connection.close()


async def test_a_user_who_may_not_create_tables_is_told_so(empty_database_url: str) -> None:
    connection = await asyncpg.connect(empty_database_url)
    await connection.execute("CREATE ROLE a_reader_only LOGIN")
    try:
        dsn = empty_database_url.replace("forager@", "a_reader_only@", 1)
        with pytest.raises(
            ConfigurationError, match="does not let Forager's user create tables: make that user its owner"
        ):
            async with open_database(load({"database.url": dsn}), size=1, application="test"):
                pass
    finally:
        await connection.execute("DROP ROLE a_reader_only")
        await connection.close()


async def test_a_killed_server_is_revived_by_all_who_use_it_at_once(made_home: Path) -> None:
    async with open_database(load({"home": made_home}), size=4, application="test") as database:
        await database.pool.execute("INSERT INTO domains (name, parent_domain, base_url) VALUES ('a.example', '', '')")
        os.kill(server_pid(made_home), signal.SIGKILL)
        with pytest.raises(CONNECTION_LOST):
            await database.pool.fetchval("SELECT pg_sleep(600)")
        await asyncio.gather(*(database.revive() for _ in range(8)))
        assert await database.pool.fetchval("SELECT name FROM domains") == "a.example"
    assert not is_ready(made_home)


async def test_an_error_inside_still_leaves_the_server(made_home: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with open_database(load({"home": made_home}), size=1, application="test"):
            raise ZeroDivisionError
    assert embedded.status(made_home).is_running is False


async def test_an_older_schema_of_our_own_server_is_upgraded(made_home: Path, tmp_path: Path) -> None:
    settings = load({"home": made_home})
    async with open_database(settings, size=1, application="test"):
        pass
    write_migration(tmp_path, "ALTER TABLE domains ADD COLUMN mood text;")
    with migrations_in(tmp_path):
        async with open_database(settings, size=1, application="test") as database:
            assert await database.pool.fetch("SELECT mood FROM domains") == []


@pytest.fixture
async def old_server() -> AsyncIterator[str]:
    """Speaks just enough of the protocol to say that it is PostgreSQL 14."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.readexactly(8)
        if first[4:] == (80877103).to_bytes(4, "big"):  # a wish for TLS
            writer.write(b"N")
            first = await reader.readexactly(8)
        await reader.readexactly(int.from_bytes(first[:4], "big") - 8)
        for kind, body in ((b"R", bytes(4)), (b"S", b"server_version\x0014.9\x00"), (b"K", bytes(8)), (b"Z", b"I")):
            writer.write(kind + (4 + len(body)).to_bytes(4, "big") + body)
        await reader.readuntil(b"X")
        writer.close()

    async with listening(greet) as port:
        yield f"postgresql://me@127.0.0.1:{port}/test"


async def test_a_server_that_is_too_old_is_refused(old_server: str) -> None:
    with pytest.raises(ConfigurationError, match="is PostgreSQL 14, and Forager needs 15 or newer: upgrade it"):
        async with open_database(load({"database.url": old_server}), size=1, application="test"):
            pass
