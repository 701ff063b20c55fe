"""Detects a stalled crawl: work is due, nothing happens, and nothing explains it.

Pauses, cooldowns, maintenance windows, budgets, pace and open breakers explain why a domain waits; such a domain does
not count as due here. If all workers are paused for a fault of our own, /health and a separate alert report it. What is
left is a stall in one of three ways: no worker is alive, no worker may claim the domains of a run, or workers are alive
and no visit has ended for a while.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection

SQL = statements.load("forager.stats", "idle_detection.sql")
GRACE_S = 60.0
"""A domain that has been due for less time waits for the next claim, or for a worker that is starting."""
MOST = 1000
"""Maximum number of domains counted; the message then says "1,000 or more"."""
Kind = Literal["no_worker", "unserved", "no_progress"]


@dataclass(frozen=True, slots=True)
class Stall:
    kind: Kind
    domains: int
    """Up to MOST."""
    due_s: float
    """How long the first of them has been due."""
    message: str


class Workforce(NamedTuple):
    alive: int
    paused: int
    silent_s: float | None
    """Seconds since the last heartbeat of any worker; None: there never was one."""


class DueDomains(NamedTuple):
    domains: int
    due_s: float | None


READ_WORKFORCE = Query(SQL["read_workforce"], Workforce)
DUE_ANYWHERE = Query(SQL["due_anywhere"], DueDomains)
DUE_OF = Query(SQL["due_of"], DueDomains)
HELD_WITHOUT_PROGRESS = Query(SQL["held_without_progress"], DueDomains)


async def detect_idle_crawl(conn: Connection, *, dead_after_s: float, stall_s: float) -> Stall | None:
    """Returns the current stall, or None. Costs two short statements while the crawl makes progress."""
    alive, paused, silent_s = await READ_WORKFORCE.one(conn, dead_after_s)
    if not alive:
        if silent_s is not None and silent_s < GRACE_S:
            return None
        found = await DUE_ANYWHERE.one(conn, GRACE_S, MOST, False)
        return _build_stall("no_worker", found, "no worker is alive")
    for run, label in await conn.fetch(SQL["unserved"], dead_after_s):
        found = await DUE_OF.one(conn, run, label, GRACE_S, MOST)
        wanted = f"no worker of run {run} with the label {label}" if label else f"no worker of run {run}"
        if stall := _build_stall("unserved", found, f"{wanted} is alive"):
            return stall
    if paused == alive or await conn.fetchval(SQL["ended_lately"], stall_s):
        return None
    waiting = await DUE_ANYWHERE.one(conn, stall_s, MOST, True)
    held = await HELD_WITHOUT_PROGRESS.one(conn, stall_s, MOST)
    found = max(waiting, held, key=lambda due: due.due_s or 0.0)
    workers = "1 worker is alive" if alive == 1 else f"{alive} workers are alive"
    return _build_stall("no_progress", found, f"{workers} and no visit has ended for {_span(stall_s)}")


def _build_stall(kind: Kind, found: DueDomains, because: str) -> Stall | None:
    domains, due_s = found
    if not domains or due_s is None:
        return None
    number = f"{MOST:,} or more" if domains >= MOST else f"{domains:,}"
    have = "domain has" if domains == 1 else "domains have"
    return Stall(kind, domains, due_s, f"{number} {have} been due for {_span(due_s)}: {because}")


def _span(seconds: float) -> str:
    for unit_s, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * unit_s:
            return f"{seconds / unit_s:,.0f} {unit}"
    return f"{seconds:,.0f} s"
