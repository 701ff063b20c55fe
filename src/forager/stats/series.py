"""One short function per statement of `series.sql`. Opens no transactions: the caller does."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from forager.db import statements
from forager.db.types import Connection
from forager.stats.counters import CounterMap

SQL = statements.load("forager.stats", "series.sql")


@dataclass(frozen=True, slots=True)
class Number:
    metric: str
    label: str
    amount: float


@dataclass(frozen=True, slots=True)
class Step:
    """One metric with one label over one step of time."""

    at: datetime
    metric: str
    label: str
    amount: float
    samples: int
    most: float | None

    @property
    def mean(self) -> float:
        return self.amount / self.samples if self.samples else self.amount


@dataclass(frozen=True, slots=True)
class JobTimes:
    name: str
    every_s: float
    age_s: float | None
    """None: it never ran."""
    has_failed: bool
    late_s: float
    """Negative: not due yet."""


async def add(conn: Connection, worker: int, tally: CounterMap) -> None:
    if tally:
        metrics, labels, amounts = zip(*tally.rows(), strict=True)
        await conn.execute(SQL["add_parts"], worker, metrics, labels, amounts)


async def fold(conn: Connection, *, older_s: float) -> int:
    """Folds the rows of workers into the common series; returns how many rows were folded."""
    folded: int = await conn.fetchval(SQL["fold_parts"], older_s)
    return folded


async def add_samples(conn: Connection, numbers: Iterable[Number]) -> None:
    rows = [(each.metric, each.label, each.amount) for each in numbers]
    if rows:
        await conn.execute(SQL["add_samples"], *map(list, zip(*rows, strict=True)))


async def old_days(conn: Connection, *, after_days: int) -> list[date]:
    """Returns the days whose minutes `roll_up` would add up."""
    return [row["day"] for row in await conn.fetch(SQL["old_days"], after_days)]


async def list_minute_rows(conn: Connection, day: date) -> list[dict[str, Any]]:
    return [dict(row) for row in await conn.fetch(SQL["minutes_of_day"], day)]


async def list_rolled_days(conn: Connection) -> list[date]:
    """Returns the days that `roll_up` created from minutes."""
    return [row["day"] for row in await conn.fetch(SQL["list_rolled_days"])]


async def roll_up(conn: Connection, *, after_days: int) -> int:
    """Rolls old minutes up into days; returns how many minutes were added up."""
    rolled: int = await conn.fetchval(SQL["roll_up_days"], after_days)
    return rolled


async def read_totals(conn: Connection) -> list[Number]:
    return [Number(*row) for row in await conn.fetch(SQL["read_totals"])]


async def read_recent(conn: Connection, metrics: Sequence[str], *, since_s: float) -> tuple[list[Number], float]:
    """Returns what was counted, and in how many seconds: whole minutes, so slightly more than requested."""
    rows = await conn.fetch(SQL["read_recent"], list(metrics), since_s)
    return [Number(row["metric"], row["label"], row["amount"]) for row in rows], rows[0]["seconds"] if rows else since_s


async def read_series(
    conn: Connection, metrics: Sequence[str], *, since: datetime, until: datetime, step_s: float
) -> list[Step]:
    rows = await conn.fetch(SQL["read_series"], list(metrics), since, until, step_s)
    return [Step(*row) for row in rows]


async def read_state(conn: Connection, *, dead_after_s: float) -> list[Number]:
    return [Number(*row) for row in await conn.fetch(SQL["read_state"], dead_after_s)]


async def list_job_times(conn: Connection) -> list[JobTimes]:
    return [JobTimes(*row) for row in await conn.fetch(SQL["list_job_times"])]


async def list_top_domains(conn: Connection, *, limit: int) -> list[dict[str, Any]]:
    return [dict(row) for row in await conn.fetch(SQL["list_top_domains"], limit)]
