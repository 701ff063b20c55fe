"""Migrations and schema.sql lead to the same database; a database that does not fit is refused."""

import asyncio
import io
import os
import subprocess
import sys
from pathlib import Path

import asyncpg
import pytest
from alembic.config import CommandLine, Config
from tests.integration.db.catalog import describe

from forager.config.loader import load
from forager.db import embedded, migrate, schema
from forager.db.database import open_database
from forager.errors import ConfigurationError

ROOT = Path(__file__).parents[3]
ALEMBIC = Path(sys.executable).with_name("alembic")


async def catalog_of(dsn: str) -> dict[str, list[str]]:
    connection = await asyncpg.connect(dsn)
    try:
        return await describe(connection)
    finally:
        await connection.close()


@pytest.mark.both_servers
async def test_migrations_build_what_schema_sql_says(database_url: str, empty_database_url: str) -> None:
    await asyncio.to_thread(migrate.upgrade, empty_database_url)
    migrated, expected = await catalog_of(empty_database_url), await catalog_of(database_url)
    for part in expected.keys() | migrated.keys():
        assert migrated.get(part) == expected.get(part), f"{part} differ: see the note in the newest revision"
    assert len(expected["columns"]) > 50
    assert await asyncio.to_thread(migrate.current, empty_database_url) == schema.head()


@pytest.mark.both_servers
async def test_downgrading_leaves_nothing_and_upgrading_brings_it_back(empty_database_url: str) -> None:
    await asyncio.to_thread(migrate.upgrade, empty_database_url)
    built = await catalog_of(empty_database_url)
    await asyncio.to_thread(migrate.downgrade, empty_database_url, "base")
    left = await catalog_of(empty_database_url)
    assert {part: rows for part, rows in left.items() if "alembic_version" not in str(rows) and rows} == {}
    assert left["rows of alembic_version"] == []
    await asyncio.to_thread(migrate.upgrade, empty_database_url)
    assert await catalog_of(empty_database_url) == built


async def test_one_step_down_and_up_keeps_domains_pages_and_tasks(database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    await connection.execute(
        "INSERT INTO domains (name, parent_domain, base_url, status, ready_at)"
        " VALUES ('a.example', '', '', 'active', now())"
    )
    built = await describe(connection)
    await asyncio.to_thread(migrate.downgrade, database_url, "-1")
    assert await asyncio.to_thread(migrate.current, database_url) == schema.revisions()[-2]
    assert await connection.fetchval("SELECT name FROM domains") == "a.example"
    await asyncio.to_thread(migrate.upgrade, database_url)
    assert (await describe(connection)).keys() == built.keys()
    assert await connection.fetchval("SELECT is_due AND due_at = ready_at FROM domains")
    await connection.close()


async def test_a_database_made_from_schema_sql_can_be_downgraded(database_url: str) -> None:
    await asyncio.to_thread(migrate.downgrade, database_url, "base")
    assert await asyncio.to_thread(migrate.current, database_url) is None
    async with open_database(load({"database.url": database_url}), size=1, application="test") as database:
        assert await database.pool.fetchval("SELECT count(*) FROM pages") == 0


async def test_a_failing_migration_changes_nothing(empty_database_url: str) -> None:
    connection = await asyncpg.connect(empty_database_url)
    await connection.execute("CREATE TABLE pages (mine int)")
    await connection.close()
    before = await catalog_of(empty_database_url)
    with pytest.raises(
        ConfigurationError, match=r'could not go to revision .head. and stays as it was: .*"pages" already'
    ):
        await asyncio.to_thread(migrate.upgrade, empty_database_url)
    assert await catalog_of(empty_database_url) == before


async def test_an_unknown_revision_is_one_sentence(database_url: str) -> None:
    with pytest.raises(
        ConfigurationError, match=r"could not go to revision 'nonsense' and stays as it was: .*nonsense"
    ):
        await asyncio.to_thread(migrate.downgrade, database_url, "nonsense")


def test_three_upgrades_at_once_are_one(empty_database_url: str) -> None:
    command = [str(ALEMBIC), "upgrade", "head"]
    environment = os.environ | {"FORAGER_DATABASE_URL": empty_database_url}
    racers = [subprocess.Popen(command, cwd=ROOT, env=environment) for _ in range(3)]
    assert [racer.wait() for racer in racers] == [0, 0, 0]
    assert migrate.current(empty_database_url) == schema.head()


@pytest.mark.parametrize("is_external", [True, False])
def test_plain_alembic_commands_work(
    made_home: Path,
    empty_database_url: str,
    is_external: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    where = {"FORAGER_DATABASE_URL": empty_database_url} if is_external else {"FORAGER_HOME": str(made_home)}
    monkeypatch.chdir(ROOT)
    for name, value in where.items():
        monkeypatch.setenv(name, value)

    def started(*arguments: str) -> str:
        return subprocess.run([str(ALEMBIC), *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout

    def called(*arguments: str) -> str:
        """What the program does, without loading it again."""
        line, said = CommandLine(), io.StringIO()
        options = line.parser.parse_args(arguments)
        line.run_cmd(Config("alembic.ini", stdout=said, cmd_opts=options), options)
        return said.getvalue()

    ask = started if is_external else called
    ask("upgrade", "head")
    assert ask("current").startswith(f"{schema.head()} (head)")
    ask("downgrade", "-1")
    assert called("current").strip() == schema.revisions()[-2]
    called("downgrade", "base")
    assert called("current").strip() == ""
    assert embedded.status(made_home).is_running is False


def test_the_head_is_known_without_alembic() -> None:
    code = "import sys; from forager.db import schema; print(schema.head(), 'alembic' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout
    assert said.split() == [schema.head(), "False"]


def test_every_revision_has_both_scripts() -> None:
    versions = ROOT / "src/forager/db/migrations/versions"
    for revision in versions.glob("v*.py"):
        assert revision.with_suffix(".up.sql").is_file()
        assert revision.with_suffix(".down.sql").is_file()
    assert len(list(versions.glob("v*.py"))) == len(schema.revisions())


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
    await connection.execute("UPDATE alembic_version SET version_num = $1", revision)
    await connection.close()
    with pytest.raises(ConfigurationError, match=sentence):
        async with open_database(load({"database.url": database_url}), size=1, application="test"):
            pass
    with pytest.raises(ConfigurationError, match=sentence):
        await asyncio.to_thread(migrate.upgrade, database_url)


async def test_an_older_schema_is_refused_on_a_server_that_is_not_ours(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = schema.revisions()
    monkeypatch.setattr(schema, "revisions", lambda: (*known, "9999"))
    monkeypatch.setattr(schema, "NEEDED", "9999")
    sentence = rf"older schema \({known[-1]}, this Forager needs 9999\): run `forager db upg"
    with pytest.raises(ConfigurationError, match=sentence):
        async with open_database(load({"database.url": database_url}), size=1, application="test"):
            pass
