"""Migrations and schema.sql lead to the same database; a step happens as a whole; what does not fit is refused."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import asyncpg
import pytest
from tests.integration.db.catalog import describe
from tests.integration.scale.next_revision import NEXT, migrations_in, write_migration
from tests.integration.tasks.test_calls import until

from forager.config.loader import load
from forager.db import migrate, migration_files, schema
from forager.db.database import open_database
from forager.db.migration_files import BASELINE, load_migrations, read_schema
from forager.errors import ConfigurationError

ROOT = Path(__file__).parents[3]
FIRST_SCHEMA = Path(__file__).with_name("schema_0001.sql")
"""A copy of `schema.sql` from before the first migration, made with that migration."""
UP, DOWN = "ALTER TABLE domains ADD COLUMN mood text;", "ALTER TABLE domains DROP COLUMN mood;"


async def catalog_of(dsn: str) -> dict[str, list[str]]:
    """Everything but the times at which revisions were reached."""
    connection = await asyncpg.connect(dsn)
    try:
        found = await describe(connection)
        found["rows of schema_revisions"] = [
            row["revision"] for row in await connection.fetch("SELECT revision FROM schema_revisions ORDER BY 1")
        ]
        return found
    finally:
        await connection.close()


async def open_once(dsn: str) -> None:
    async with open_database(load({"database.url": dsn}), size=1, application="test"):
        pass


async def make_first_schema(dsn: str) -> None:
    """Creates what the first release created."""
    assert FIRST_SCHEMA.exists() or not load_migrations(), f"copy the schema before {NEXT} to {FIRST_SCHEMA.name}"
    connection = await asyncpg.connect(dsn)
    await connection.execute(FIRST_SCHEMA.read_text() if FIRST_SCHEMA.exists() else read_schema())
    await connection.execute(schema.SQL["create_revisions"])
    await connection.execute(schema.SQL["add_revision"], BASELINE, migration_files.checksums().get(BASELINE))
    await connection.close()


@pytest.mark.both_servers
async def test_migrations_build_what_schema_sql_says(database_url: str, empty_database_url: str) -> None:
    await make_first_schema(empty_database_url)
    await migrate.upgrade(empty_database_url)
    migrated, expected = await catalog_of(empty_database_url), await catalog_of(database_url)
    for part in expected.keys() | migrated.keys():
        assert migrated.get(part) == expected.get(part), f"{part} differ between schema.sql and the migrations"
    assert len(expected["columns"]) > 50
    assert await migrate.current(empty_database_url) == schema.head()


async def test_a_step_up_and_down_leaves_what_was_there(database_url: str, tmp_path: Path) -> None:
    before = await catalog_of(database_url)
    write_migration(tmp_path, UP, DOWN)
    with migrations_in(tmp_path):
        await migrate.upgrade(database_url)
        assert await migrate.current(database_url) == NEXT
        assert any("mood" in row for row in (await catalog_of(database_url))["columns"])
        await migrate.downgrade(database_url, "-1")
    assert await catalog_of(database_url) == before


async def test_a_script_may_do_nothing(database_url: str, tmp_path: Path) -> None:
    before = await catalog_of(database_url)
    write_migration(tmp_path, "-- Nothing yet.", "-- Nothing to take back.")
    with migrations_in(tmp_path):
        await migrate.upgrade(database_url)
        await migrate.downgrade(database_url, schema.revisions()[-2])
    assert await catalog_of(database_url) == before


@pytest.mark.both_servers
async def test_downgrading_to_base_leaves_nothing_and_opening_brings_it_back(database_url: str) -> None:
    built = await catalog_of(database_url)
    await migrate.downgrade(database_url, "base")
    assert await migrate.current(database_url) is None
    connection = await asyncpg.connect(database_url)
    assert {part: rows for part, rows in (await describe(connection)).items() if rows} == {}
    await connection.close()
    await open_once(database_url)
    assert await catalog_of(database_url) == built


async def test_a_failing_migration_changes_nothing_and_those_before_it_stay(database_url: str, tmp_path: Path) -> None:
    write_migration(tmp_path, UP)
    bad = f"{int(NEXT) + 1:04}"
    write_migration(tmp_path, "CREATE TABLE moods (); ALTER TABLE nothing ADD COLUMN mood text;", revision=bad)
    sentence = rf"could not go to revision '{bad}' and stays at {NEXT}: relation \"nothing\" does not exist"
    with migrations_in(tmp_path), pytest.raises(ConfigurationError, match=sentence):
        await migrate.upgrade(database_url)
    assert await migrate.current(database_url) == NEXT
    assert "moods" not in str((await catalog_of(database_url))["relations"])


async def test_tables_of_others_are_left_alone(empty_database_url: str) -> None:
    connection = await asyncpg.connect(empty_database_url)
    await connection.execute("CREATE TABLE pages (mine int)")
    with pytest.raises(ConfigurationError, match="tables that are not Forager's, such as 'pages'"):
        await migrate.upgrade(empty_database_url)
    assert await connection.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 1
    await connection.close()


@pytest.mark.parametrize("revision", ["nonsense", "9999", "-5", "-0"])
async def test_an_unknown_revision_is_one_sentence(database_url: str, revision: str) -> None:
    sentence = rf"could not go to revision '{revision}' and stays at {schema.head()}: there is no such older revision"
    with pytest.raises(ConfigurationError, match=sentence):
        await migrate.downgrade(database_url, revision)


async def test_a_migration_without_a_way_back_is_not_taken_back(database_url: str, tmp_path: Path) -> None:
    write_migration(tmp_path, UP, None)
    with migrations_in(tmp_path):
        await migrate.upgrade(database_url)
        with pytest.raises(ConfigurationError, match=f"the migration {NEXT} has no way back"):
            await migrate.downgrade(database_url, "base")
    assert await migrate.current(database_url) == NEXT


def start_upgrade(dsn: str, folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.integration.db.upgrader", dsn, str(folder)], cwd=ROOT, env=os.environ
    )


def test_three_upgrades_at_once_are_one(empty_database_url: str, tmp_path: Path) -> None:
    """Of an empty database, which each of them finds empty, and then by a migration."""
    write_migration(tmp_path, "SELECT pg_sleep(0.2);")
    for _ in range(2):
        racers = [start_upgrade(empty_database_url, tmp_path) for _ in range(3)]
        assert [racer.wait() for racer in racers] == [0, 0, 0]
        write_migration(tmp_path, f"{UP} SELECT pg_sleep(0.2);", revision=f"{int(NEXT) + 1:04}")
    assert asyncio.run(migrate.current(empty_database_url)) == f"{int(NEXT) + 1:04}"


async def test_a_killed_migration_leaves_the_revision_before_it(database_url: str, tmp_path: Path) -> None:
    before = await catalog_of(database_url)
    write_migration(tmp_path, f"{UP} SELECT pg_sleep(600);")
    connection = await asyncpg.connect(database_url)
    sleeping = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
    killed = start_upgrade(database_url, tmp_path)

    async def is_sleeping() -> bool:
        return bool(await connection.fetchval(sleeping))

    async def is_over() -> bool:
        return not await is_sleeping()

    await until(is_sleeping)
    killed.kill()
    killed.wait()
    await until(is_over)
    await connection.close()
    assert await catalog_of(database_url) == before
    write_migration(tmp_path, UP)
    with migrations_in(tmp_path):
        await migrate.upgrade(database_url)
    assert await migrate.current(database_url) == NEXT


async def test_a_migration_that_was_edited_later_is_noticed(database_url: str, tmp_path: Path) -> None:
    write_migration(tmp_path, UP, DOWN)
    with migrations_in(tmp_path):
        await migrate.upgrade(database_url)
        write_migration(tmp_path, UP.replace("text", "int"), DOWN)
        for action in (migrate.upgrade, open_once):
            with pytest.raises(ConfigurationError, match=f"another migration {NEXT} than the one this Forager has"):
                await action(database_url)


@pytest.mark.skipif(bool(load_migrations()), reason="the first schema is released")
async def test_another_first_schema_is_noticed(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration_files, "_digest_schema", lambda: "another")
    for action in (migrate.upgrade, open_once):
        with pytest.raises(ConfigurationError, match="from before the first release, whose tables differ: export what"):
            await action(database_url)


async def test_a_schema_from_before_the_first_release_is_rejected(database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    await connection.execute("DROP TABLE schema_revisions; CREATE TABLE alembic_version (version_num text)")
    with pytest.raises(ConfigurationError, match="from before the first release, whose tables differ: export what"):
        await open_once(database_url)
    assert await connection.fetchval("SELECT to_regclass('schema_revisions') IS NULL")
    await connection.close()


@pytest.mark.parametrize(
    ("revision", "sentence"),
    [
        ("9999", r"was written by a newer Forager \(its schema is 9999, this one knows \d{4}\): install that version"),
        ("someone-elses", r"was written by a newer Forager \(its schema is someone-elses"),
    ],
)
async def test_a_newer_schema_is_refused(database_url: str, revision: str, sentence: str) -> None:
    connection = await asyncpg.connect(database_url)
    await connection.execute("UPDATE schema_window SET oldest = '9999'")
    await connection.execute("INSERT INTO schema_revisions VALUES ($1)", revision)
    await connection.close()
    for action in (open_once, migrate.upgrade, lambda dsn: migrate.downgrade(dsn, "base")):
        with pytest.raises(ConfigurationError, match=sentence):
            await action(database_url)


async def test_an_older_schema_is_refused_on_a_server_that_is_not_ours(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = schema.revisions()
    monkeypatch.setattr(schema, "revisions", lambda: (*known, "9999"))
    monkeypatch.setattr(schema, "NEEDED", "9999")
    sentence = rf"older schema \({known[-1]}, this Forager needs 9999\): run `forager db upg"
    with pytest.raises(ConfigurationError, match=sentence):
        await open_once(database_url)


def test_numbers_without_gaps(tmp_path: Path) -> None:
    write_migration(tmp_path, UP, revision=f"{int(NEXT) + 1:04}")
    with migrations_in(tmp_path), pytest.raises(ValueError, match=f"{NEXT} is missing or exists twice"):
        load_migrations()


def test_comments_do_not_change_a_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    def digest(text: str) -> str:
        monkeypatch.setattr(migration_files, "read_schema", lambda: text)
        return migration_files._digest_schema.__wrapped__()

    table = "CREATE TABLE a (\n    b int\n);\n"
    said = "COMMENT ON TABLE a IS 'It''s; -- a table.';\n"
    assert digest(f"-- One.\n{table}{said}") == digest(table.replace("int", "int -- a number"))
    assert digest(table) != digest(table.replace("int", "bigint"))
