"""A migration that takes something away says which Forager can still work on what it leaves."""

import re
from pathlib import Path

import pytest

from forager.db import schema

VERSIONS = Path(schema.__file__).parent / "migrations/versions"
FIRST = "0023"
"""The revision that brought the window."""
TAKES_AWAY = re.compile(
    r"DROP (TABLE|COLUMN|VIEW|FUNCTION|TYPE|SEQUENCE)|\bRENAME\b|ALTER COLUMN \w+ (SET DATA )?TYPE|SET NOT NULL"
    r"|ADD (CONSTRAINT|CHECK|UNIQUE|FOREIGN)|CREATE UNIQUE INDEX"
    r"|ADD COLUMN (?!.*DEFAULT|[^;,]*GENERATED)[^;,]*NOT NULL",
    re.IGNORECASE,
)
AS_BEFORE = {"0024"}
"""It makes the same promise by another index: whoever kept it before keeps it."""
SAYS_SO = re.compile(r"UPDATE schema_window SET oldest = '(\d{4})'")


def scripts() -> list[Path]:
    return sorted(
        path for path in VERSIONS.glob("v*.up.sql") if path.name[1:5] > FIRST and path.name[1:5] not in AS_BEFORE
    )


def is_honest(sql: str, revision: str) -> bool:
    found = SAYS_SO.search(sql)
    return found is not None and found[1] == revision if TAKES_AWAY.search(sql) else True


def test_every_migration_that_takes_something_away_says_so() -> None:
    assert [path.name for path in scripts() if not is_honest(path.read_text(encoding="utf-8"), path.name[1:5])] == []


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE domains DROP COLUMN seed_rank;",
        "ALTER TABLE pages RENAME COLUMN url TO address;",
        "ALTER TABLE pages ADD COLUMN mood text NOT NULL;",
        "ALTER TABLE pages ALTER COLUMN url SET NOT NULL;",
        "CREATE UNIQUE INDEX one ON pages (url);",
        "DROP TABLE page_era; UPDATE schema_window SET oldest = '0019';",
    ],
)
def test_it_would_be_noticed(sql: str) -> None:
    assert not is_honest(sql, "0030")
    assert is_honest(SAYS_SO.sub("", sql) + "UPDATE schema_window SET oldest = '0030';", "0030")


@pytest.mark.parametrize(
    "sql", ["ALTER TABLE pages ADD COLUMN mood text NOT NULL DEFAULT '';", "CREATE INDEX few ON pages (url);"]
)
def test_what_only_adds_need_not(sql: str) -> None:
    assert is_honest(sql, "0030")
