"""A migration that takes something away says which Forager can still work on what it leaves."""

import re

import pytest

from forager.db.migration_files import load_migrations

TAKES_AWAY = re.compile(
    r"DROP (TABLE|COLUMN|VIEW|FUNCTION|TYPE|SEQUENCE)|\bRENAME\b|ALTER COLUMN \w+ (SET DATA )?TYPE|SET NOT NULL"
    r"|ADD (CONSTRAINT|CHECK|UNIQUE|FOREIGN)|CREATE UNIQUE INDEX"
    r"|ADD COLUMN (?!.*DEFAULT|[^;,]*GENERATED)[^;,]*NOT NULL",
    re.IGNORECASE,
)
SAYS_SO = re.compile(r"UPDATE schema_window SET oldest = '(\d{4})'")


def is_honest(sql: str, revision: str) -> bool:
    found = SAYS_SO.search(sql)
    return found is not None and found[1] == revision if TAKES_AWAY.search(sql) else True


def test_every_migration_that_takes_something_away_says_so() -> None:
    assert [each.revision for each in load_migrations() if not is_honest(each.up, each.revision)] == []


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE domains DROP COLUMN seed_rank;",
        "ALTER TABLE pages RENAME COLUMN url TO address;",
        "ALTER TABLE pages ADD COLUMN mood text NOT NULL;",
        "ALTER TABLE pages ALTER COLUMN url SET NOT NULL;",
        "CREATE UNIQUE INDEX one ON pages (url);",
        "DROP TABLE page_cache_namespace; UPDATE schema_window SET oldest = '0019';",
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
