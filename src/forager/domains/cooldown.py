"""One short function per statement of `cooldown.sql`. Opens no transactions: the caller does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forager.db import statements
from forager.db.types import Connection

SQL = statements.load("forager.domains", "cooldown.sql")


@dataclass(frozen=True, slots=True)
class DueDomain:
    """An exhausted domain that is due."""

    id: int
    pages: int
    is_refresh: bool
    """Whether all its pages are to be visited again, not only the due ones."""


@dataclass(frozen=True, slots=True)
class Adaptive:
    """A domain that schedules its revisits where changes are likely."""

    id: int
    pages: int
    revisit_every_s: float | None
    revisits_per_day: float | None
    price: float | None
    delay_s: float | None


async def sign_moves(conn: Connection, *, by: str, reason_code: str, reason: str) -> None:
    await conn.execute(SQL["sign_moves"], by, reason_code, reason)


async def lock_expired_cooldowns(conn: Connection, limit: int) -> list[int]:
    return [row["id"] for row in await conn.fetch(SQL["lock_expired_cooldowns"], limit)]


async def end_cooldowns(conn: Connection, reopened: Mapping[int, int]) -> None:
    """Takes domain → the number of its reopened pages."""
    await conn.execute(SQL["end_cooldowns"], list(reopened), list(reopened.values()))


async def find_due_exhausted(conn: Connection, *, limit: int, refresh_every_s: float) -> list[DueDomain]:
    rows = await conn.fetch(SQL["find_due_exhausted"], limit, refresh_every_s)
    return [DueDomain(row["id"], row["pages"], row["is_refresh"]) for row in rows]


async def find_dated(conn: Connection, *, limit: int, refresh_every_s: float | None, is_refreshing: bool) -> list[int]:
    """Returns exhausted domains whose first task is due."""
    return [row["id"] for row in await conn.fetch(SQL["find_dated"], limit, refresh_every_s, is_refreshing)]


async def reset_ready(conn: Connection, domain_ids: Sequence[int]) -> None:
    await conn.execute(SQL["reset_ready"], domain_ids)


async def wake_exhausted(conn: Connection, domain_ids: Sequence[int], *, is_scored: bool) -> int:
    """Returns how many had work and are pending now."""
    woken: int = await conn.fetchval(SQL["wake_exhausted"], domain_ids, is_scored)
    return woken


async def put_off(conn: Connection, domain_ids: Sequence[int], *, refresh_every_s: float) -> None:
    await conn.execute(SQL["put_off"], domain_ids, refresh_every_s)


async def close_windows(conn: Connection, limit: int) -> int:
    closed: int = await conn.fetchval(SQL["close_windows"], limit)
    return closed


async def find_adaptive(conn: Connection, *, after: int, limit: int) -> list[Adaptive]:
    return [Adaptive(*row) for row in await conn.fetch(SQL["find_adaptive"], after, limit)]


async def set_prices(conn: Connection, prices: Mapping[int, float]) -> None:
    await conn.execute(SQL["set_prices"], list(prices), list(prices.values()))


async def refresh_now(conn: Connection, names: Sequence[str] | None) -> None:
    await conn.execute(SQL["refresh_now"], names)
    await conn.execute(SQL["hasten_tries"], names)


async def count_due_revisits(conn: Connection, names: Sequence[str] | None) -> dict[int, int]:
    """Returns finished run → the number of its domains with due revisits."""
    return {row["run_id"]: row["domains"] for row in await conn.fetch(SQL["find_revisitable"], names)}


async def assign_due_revisits(conn: Connection, run: int, *, before: int, names: Sequence[str] | None) -> None:
    await conn.execute(SQL["assign_due_revisits"], run, before, names)


async def next_revisit_s(conn: Connection, names: Sequence[str] | None) -> float | None:
    wait_s: float | None = await conn.fetchval(SQL["next_revisit"], names)
    return wait_s
