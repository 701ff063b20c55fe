"""Read-only queries on records and on how well extractors do."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forager.db import statements
from forager.db.rows import START, Key, Row
from forager.db.types import Connection
from forager.domains.lookup import known_name
from forager.errors import NotFoundError
from forager.records.conditions import Condition
from forager.records.store import unpack_evidence

SQL = statements.load("forager.records", "list.sql")
DROP = 0.2
"""A coverage that fell by this much is reported."""
WORTH_A_LOOK = 5
"""Records tried; a rate over fewer is not meaningful."""
DAYS = 14
MOST_DAYS = 366
MOST_CHANGES = 1_000


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """Which records; None is all."""

    domain: str | None = None
    kind: str | None = None
    extractor: str | None = None
    page: int | None = None
    since: datetime | None = None
    """Only those that were added, changed or lost since."""
    is_present: bool | None = None
    is_complete: bool | None = None
    where: Sequence[Condition] = ()


EVERYTHING = RecordFilter()


async def list_records(
    conn: Connection, wanted: RecordFilter = EVERYTHING, after: Key = START, *, limit: int | None = None
) -> list[Row]:
    """Returns records, those found last first."""
    name = await known_name(conn, wanted.domain)
    conditions = [[each[at] for each in wanted.where] for at in range(3)]
    filters = (name, wanted.kind, wanted.extractor, wanted.page, wanted.since, wanted.is_present, wanted.is_complete)
    rows = await conn.fetch(SQL["list_records"], *after, *filters, *conditions, limit)
    return [_with_fields(dict(row)) for row in rows]


def _with_fields(row: Mapping[str, Any]) -> Row:
    fields = json.loads(row["fields"])
    return dict(row) | {"fields": fields, "is_complete": not row["problems"]}


async def find_record(conn: Connection, record: int) -> Row:
    """Returns one record with its evidence; raises NotFoundError."""
    row = await conn.fetchrow(SQL["find_record"], record)
    if row is None:
        raise NotFoundError(f"There is no record {record}; `forager records` lists them.")
    return _with_fields(dict(row)) | {"evidence": unpack_evidence(row["evidence"])}


async def list_history(conn: Connection, record: int, after: Key = START, *, limit: int = MOST_CHANGES) -> list[Row]:
    """Returns what became of a record, oldest first; raises NotFoundError for an unknown one."""
    await find_record(conn, record)
    rows = await conn.fetch(SQL["record_history"], record, *after, limit)
    return [dict(row) | {name: _loaded(row[name]) for name in ("old_value", "new_value")} for row in rows]


def _loaded(value: str | None) -> Any:
    return None if value is None else json.loads(value)


async def list_coverage(
    conn: Connection,
    *,
    domain: str | None = None,
    extractor: str | None = None,
    days: int = DAYS,
    limit: int | None = None,
) -> list[Row]:
    """Returns how often each field was found, by domain and day, newest day first."""
    name = await known_name(conn, domain)
    return [dict(row) for row in await conn.fetch(SQL["list_coverage"], name, extractor, days, limit)]


async def list_dropped_fields(conn: Connection, *, domain: str | None = None, limit: int | None = None) -> list[Row]:
    """Returns fields found less often than in the week before, largest drop first."""
    name = await known_name(conn, domain)
    rows = await conn.fetch(SQL["list_dropped_fields"], WORTH_A_LOOK, DROP, name, limit)
    return [dict(row) for row in rows]


async def count_by_extractor(conn: Connection) -> dict[str, Row]:
    """Returns the numbers of each extractor that ever found a record."""
    return {row["extractor"]: dict(row) for row in await conn.fetch(SQL["count_by_extractor"])}
