"""Rolling upgrades: a schema one revision ahead or behind is worked with where it says, or we know, that it fits."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from tests.conftest import database_url
from tests.integration.scale.next_revision import NEXT, add_next

from forager.config.loader import load
from forager.db import migrate, schema
from forager.db.database import open_database
from forager.db.statements import all_statements
from forager.errors import ConfigurationError

__all__ = ["database_url"]  # of the test's own: its schema is changed


async def names_in(dsn: str) -> list[str]:
    async with open_database(load({"database.url": dsn}), size=1, application="test") as database:
        return [row["name"] for row in await database.pool.fetch("SELECT name FROM domains")]


@pytest.fixture
async def connection(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    opened = await asyncpg.connect(database_url)
    yield opened
    await opened.close()


async def test_a_schema_that_only_grew_is_worked_with(database_url: str, tmp_path: Path) -> None:
    await asyncio.to_thread(add_next, database_url, tmp_path, "ALTER TABLE domains ADD COLUMN mood text;")
    assert await migrate.current(database_url) == NEXT
    assert await names_in(database_url) == []


async def test_a_schema_that_took_something_away_is_refused(database_url: str, tmp_path: Path) -> None:
    contract = f"ALTER TABLE domains DROP COLUMN seed_rank CASCADE; UPDATE schema_window SET oldest = '{NEXT}';"
    await asyncio.to_thread(add_next, database_url, tmp_path, contract)
    with pytest.raises(
        ConfigurationError, match=rf"newer Forager \(its schema is {NEXT}, this one knows {schema.head()}"
    ):
        await names_in(database_url)


async def test_an_older_forager_does_not_upgrade_a_newer_schema(database_url: str, tmp_path: Path) -> None:
    await asyncio.to_thread(add_next, database_url, tmp_path, "ALTER TABLE domains ADD COLUMN mood text;")
    with pytest.raises(ConfigurationError, match="was written by a newer Forager"):
        await migrate.upgrade(database_url)


async def test_a_schema_that_says_nothing_is_refused(connection: asyncpg.Connection, database_url: str) -> None:
    await connection.execute(f"DROP TABLE schema_window; INSERT INTO schema_revisions VALUES ('{NEXT}')")
    with pytest.raises(ConfigurationError, match="was written by a newer Forager"):
        await names_in(database_url)


async def test_a_schema_with_all_we_need_is_worked_with_before_it_is_upgraded(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest revision only prepares: what is there now is the last but one."""
    known = schema.revisions()
    monkeypatch.setattr(schema, "revisions", lambda: (*known, NEXT))
    monkeypatch.setattr(schema, "NEEDED", known[-1])
    assert await names_in(database_url) == []
    monkeypatch.setattr(schema, "NEEDED", NEXT)
    sentence = rf"older schema \({known[-1]}, this Forager needs {NEXT}\): run `forager db upg"
    with pytest.raises(ConfigurationError, match=sentence):
        await names_in(database_url)


@pytest.mark.parametrize("revision", [each for each in schema.revisions() if each >= schema.NEEDED])
async def test_every_statement_works_on_every_schema_we_say_we_work_on(
    revision: str, connection: asyncpg.Connection, database_url: str
) -> None:
    await migrate.downgrade(database_url, revision)
    broken = {}
    for statement in all_statements():
        try:
            await connection.prepare(statement.sql)
        except asyncpg.PostgresError as error:
            broken[statement.name] = str(error)
    assert broken == {}


def test_what_we_need_is_a_revision_of_ours() -> None:
    assert schema.is_known(schema.NEEDED)
