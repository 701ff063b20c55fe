"""Reports how much space everything takes, how fast it grows, and what the tables need. Reads only."""

import asyncio
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import with_config

from forager.db import statements
from forager.db.query import fetch_one
from forager.db.rows import RECORD
from forager.db.types import Connection, Row
from forager.domains import retention
from forager.storage.files import size_of

SQL = statements.load("forager.storage", "usage.sql")
FEW_ROWS = 1000
"""Smaller tables get no hints."""
DEAD_SHARE = 0.2
CHANGED_SHARE = 0.3
REMEDY = "`forager schedule run --once vacuum` puts it right"
COUNTED = {"crawl_tasks": "task_counts", "pages": "page_counts", "images": "image_counts"}


class Rule(NamedTuple):
    """How long something is kept, and what happens to it then."""

    table: str
    """The table, or the folder for files."""
    what: str
    kept_s: float
    then: str
    setting: str
    due: int | None = None
    """Rows whose retention period has ended; None if another command counts them."""


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class States:
    """Rows by status."""

    pending: int
    completed: int
    failed: int


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class Table:
    name: str
    size_bytes: int
    index_bytes: int
    rows: int
    """Approximate; exact if `states` is known."""
    dead_rows: int
    vacuumed_at: datetime | None
    analysed_at: datetime | None
    changed_rows: int
    """Since the last ANALYZE."""
    growth_bytes: float | None
    """Per day, over the last week; None if there is no earlier measurement."""
    month_growth_bytes: int | None = None
    """In the last 30 days; None if nothing was measured about then."""
    states: States | None = None


@dataclass(frozen=True, slots=True)
class Folder:
    name: str
    path: Path
    files: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Report:
    database_bytes: int
    tables: Sequence[Table]
    folders: Sequence[Folder]
    cold_rows: int
    free_bytes: int | None
    advice: Sequence[str]
    rules: Sequence[Rule] = ()

    @property
    def growth_bytes(self) -> float | None:
        """Of all tables together."""
        known = [table.growth_bytes for table in self.tables if table.growth_bytes is not None]
        return sum(known) if known else None

    @property
    def month_growth_bytes(self) -> int | None:
        """Of all tables that were measured about 30 days ago."""
        known = [table.month_growth_bytes for table in self.tables if table.month_growth_bytes is not None]
        return sum(known) if known else None

    def as_document(self) -> dict[str, Any]:
        """Returns the report as commands and routes show it."""
        return {
            "database_bytes": self.database_bytes,
            "growth_bytes_per_day": self.growth_bytes,
            "month_growth_bytes": self.month_growth_bytes,
            "free_bytes": self.free_bytes,
            "cold_rows": self.cold_rows,
            "tables": [asdict(table) for table in self.tables],
            "folders": [asdict(folder) for folder in self.folders],
            "advice": self.advice,
            "rules": [rule._asdict() for rule in self.rules],
        }


async def report(
    conn: Connection,
    folders: Mapping[str, Path],
    home: Path,
    rules: Sequence[Rule] = (),
    *,
    refresh_every_s: float = 0.0,
) -> Report:
    states = {name: await conn.fetchrow(SQL[statement]) for name, statement in COUNTED.items()}
    tables = [_table(row, states.get(row["name"])) for row in await conn.fetch(SQL["table_sizes"])]
    cold = await fetch_one(conn, SQL["cold_counts"])
    total = await conn.fetchval(SQL["database_size"])
    sizes = await asyncio.to_thread(_folders, folders)
    advice = [line for table in tables for line in list_hints(table)]
    counted = await _counted(conn, rules, refresh_every_s)
    return Report(total, tables, sizes, cold["rows"], _free(home), advice, counted)


async def _counted(conn: Connection, rules: Sequence[Rule], refresh_every_s: float) -> list[Rule]:
    """Adds how many rows of robots.txt requests and of state changes the next run of their job deletes."""
    kept_s = {rule.table: rule.kept_s for rule in rules}
    if not {"robots_requests", "domain_history"} <= kept_s.keys():
        return list(rules)
    due = await retention.count_old(
        conn,
        robots_s=kept_s["robots_requests"],
        moves_s=kept_s["domain_history"],
        refresh_every_s=refresh_every_s,
    )
    return [rule._replace(due=due.get(rule.table, rule.due)) for rule in rules]


def _table(row: Row, states: Any) -> Table:
    known = dict(row)
    if states is not None:
        known["rows"] = states["rows"]
        known["states"] = States(states["pending"], states["completed"], states["failed"])
    return Table(**known)


def list_hints(table: Table) -> Iterator[str]:
    """Yields what a table needs, in plain words; autovacuum does most of it by itself."""
    if table.rows + table.dead_rows < FEW_ROWS:
        return
    share = table.dead_rows / (table.rows + table.dead_rows)
    if share > DEAD_SHARE:
        since = f"cleaned last on {table.vacuumed_at:%Y-%m-%d}" if table.vacuumed_at else "never cleaned"
        yield f"{table.name}: {share:.0%} of its rows are dead and take room ({since}); {REMEDY}."
    if table.analysed_at is None:
        yield f"{table.name}: the planner knows nothing of its {table.rows:,} rows; {REMEDY}."
    elif table.changed_rows > CHANGED_SHARE * table.rows:
        yield f"{table.name}: {table.changed_rows:,} rows changed since the planner looked at it; {REMEDY}."


def _folders(folders: Mapping[str, Path]) -> list[Folder]:
    return [Folder(name, path, *size_of(path)) for name, path in folders.items()]


def _free(home: Path) -> int | None:
    try:
        return shutil.disk_usage(home).free
    except OSError:
        return None
