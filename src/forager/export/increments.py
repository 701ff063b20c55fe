"""What changed since the last export to the same target, without gaps and doubles.

The boundary is no moment: rows carry the time their transaction began, and one that commits late would fall between two
exports. It is a transaction id below which every transaction has ended (subtransactions too, which get higher ids than
their parents): a row belongs to the export whose interval its writer's id is in. What is under way is left to the next
export, however late it commits.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from forager import clock
from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection
from forager.errors import StoreError, UsageError
from forager.export.rows import ChangedRows, Filters

SQL = statements.load("forager.export", "increments.sql")
SUFFIX = ".last.json"


class Boundary(NamedTuple):
    """Up to where an export went."""

    database: str
    """Which one counts these transactions; another after a restore."""
    xid: int


BOUNDARY = Query(SQL["settled_boundary"], Boundary)
AGES = Query(SQL["ages"], ChangedRows)


@dataclass(frozen=True, slots=True)
class LastExport:
    """What is remembered beside the target."""

    kind: str
    filters: Mapping[str, Any]
    database: str
    xid: int
    number: int
    """How many exports went to the target before this one, from 0 on."""
    rows: int
    exported_at: str


class TargetFolder(Protocol):
    """The folder of a target: local, or in a bucket."""

    def read(self, name: str) -> bytes: ...
    def write(self, name: str, content: bytes) -> None: ...


class Increment(NamedTuple):
    """One export under way."""

    filters: Filters
    boundary: Boundary
    number: int


async def hold_target(conn: Connection, target: str) -> None:
    """Keeps other exports from the target until the connection closes."""
    if not await conn.fetchval(SQL["hold_target"], target):
        raise UsageError(f"Another export to {target} is under way; wait for it, or choose another target.")


def load_last(folder: TargetFolder, name: str) -> LastExport | None:
    """Returns what is remembered; None before the first export. Raises UsageError if it cannot be understood."""
    try:
        content = folder.read(name + SUFFIX)
    except FileNotFoundError:
        return None
    except StoreError as error:
        if error.reason == "missing":
            return None
        raise
    try:
        return LastExport(**json.loads(content))
    except (ValueError, TypeError):
        raise UsageError(
            f"{name + SUFFIX} does not say where the last export ended: delete it, and the next export has everything."
        ) from None


async def begin(conn: Connection, kind: str, filters: Filters, last: LastExport | None) -> Increment:
    """Returns what the next export has: everything the first time. Needs the transaction of the export."""
    boundary = await BOUNDARY.one(conn)
    if last is None:
        changed = await AGES.one(conn, boundary.xid, None)
        return Increment(replace(filters, changed=changed), boundary, 0)
    if last.kind != kind or dict(last.filters) != _described(filters):
        raise UsageError(
            f"The last export to this target was of {last.kind} with other filters ({_words(last.filters)}): use"
            " another target, or the same filters."
        )
    if last.database != boundary.database or last.xid > boundary.xid:
        raise UsageError(
            "The last export to this target was from another database, or this one was restored since: export"
            " everything to another target."
        )
    changed = await AGES.one(conn, boundary.xid, last.xid)
    return Increment(replace(filters, changed=changed), boundary, last.number + 1)


def save_last(folder: TargetFolder, name: str, kind: str, increment: Increment, rows: int) -> None:
    """Remembers where this export ended, once its files are in place: a kill in between repeats it under the same
    names."""
    done = LastExport(
        kind,
        _described(increment.filters),
        increment.boundary.database,
        increment.boundary.xid,
        increment.number,
        rows,
        clock.now().isoformat(),
    )
    folder.write(name + SUFFIX, json.dumps(asdict(done), indent=1).encode())


def _described(filters: Filters) -> dict[str, Any]:
    found = {"domain": filters.domain, "status": filters.status, "run": filters.run, "since": filters.since}
    return {name: _plain(value) for name, value in found.items() if value is not None}


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


def _words(filters: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in filters.items()) or "none"
