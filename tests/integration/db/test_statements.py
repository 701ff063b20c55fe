"""Named statements: the form of their files, and that PostgreSQL understands every one of them."""

import uuid
from pathlib import Path

import asyncpg
import pytest

from forager.db import statements
from forager.db.statements import Statement, all_statements, parse

GOOD = """-- The file's own comment.

-- name: first
-- Does one thing;
-- and says so on two lines.
SELECT 1; -- a comment inside

-- name: second
-- Does another.
SELECT $1::int
  -- kept: it explains
  + 1;
"""


def test_a_statement_has_a_name_a_purpose_and_sql() -> None:
    first, second = parse(GOOD, "queries.sql")
    assert first == Statement(
        "first", "Does one thing; and says so on two lines.", "SELECT 1; -- a comment inside", "queries.sql"
    )
    assert second.sql == "SELECT $1::int\n  -- kept: it explains\n  + 1"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("-- name: one\nSELECT 1", "'one' has no sentence that says its purpose"),
        ("-- name: one\n--\nSELECT 1", "'one' has no sentence that says its purpose"),
        ("-- name: one\n-- Purpose.\n", "'one' is empty"),
        ("-- name: One two\n-- Purpose.\nSELECT 1", "bad name 'One two'"),
        ("-- name:\n-- Purpose.\nSELECT 1", "bad name ''"),
    ],
)
def test_a_malformed_statement_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        list(parse(text, "queries.sql"))


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / f"package_with_sql_{uuid.uuid4().hex}"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_a_package_loads_its_statements_once_and_for_all(package: Path) -> None:
    (package / "queries.sql").write_text(GOOD)
    loaded = statements.load(package.name)
    assert list(loaded) == ["first", "second"]
    with pytest.raises(TypeError):
        loaded["third"] = "SELECT 3"  # type: ignore[index]


def test_two_statements_of_one_name_are_refused(package: Path) -> None:
    (package / "other.sql").write_text("-- name: one\n-- Says.\nSELECT 1;\n" * 2)
    with pytest.raises(ValueError, match="two statements named 'one'"):
        statements.load(package.name, "other.sql")


def test_all_statements_are_found() -> None:
    found = {(statement.file, statement.name) for statement in all_statements()}
    assert ("db/queries.sql", "lock_schema") in found
    assert not any(file.startswith(("db/schema", "db/migrations")) for file, _ in found)


@pytest.mark.both_servers
async def test_postgresql_understands_every_statement(conn: asyncpg.Connection) -> None:
    broken = {}
    for statement in all_statements():
        try:
            await conn.prepare(statement.sql)
        except asyncpg.PostgresError as error:
            broken[f"{statement.file}: {statement.name}"] = str(error)
    assert broken == {}
