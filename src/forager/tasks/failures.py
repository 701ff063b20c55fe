"""Groups failures by problem. All interfaces (CLI, API) call these functions.

A failure has a code and a message. Messages of one problem differ in a URL, a name or a number; without these they have
one shape, and code and shape make a fingerprint: 312 failures are one line. For a bug of ours the position in the code
counts, not the message.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from forager.db import statements
from forager.db.types import Connection
from forager.errors import NotFoundError, UsageError
from forager.stats.store import read_clock
from forager.tasks import bulk as tasks_many
from forager.webhooks import store as webhooks

SQL = statements.load("forager.tasks", "failures.sql")
Row = dict[str, Any]
DAY = timedelta(days=1)
ALL_TIME = timedelta(days=3650)
DAYS_SHOWN = 30
DOMAINS_SHOWN = 20
MOST_REDRIVEN = 10_000
SHORTEST_PREFIX = 4


class Category(StrEnum):
    NETWORK = "network"
    """No usable response was received."""
    SITE = "site"
    """The server responded, but not with a page for us."""
    ROBOTS = "robots"
    """A robots.txt forbids it: not a failure, and shown only on request."""
    PARSE = "parse"
    """The response could not be parsed."""
    VALIDATION = "validation"
    """The content, or the request itself, violates a rule."""
    US = "us"
    """A fault of ours."""


CATEGORIES: Mapping[str, Category] = {
    "network_error": Category.NETWORK,
    "dns_error": Category.NETWORK,
    "connect_error": Category.NETWORK,
    "connection_lost": Category.NETWORK,
    "timeout": Category.NETWORK,
    "visit_error": Category.SITE,
    "refused": Category.SITE,
    "robots_denied": Category.ROBOTS,
    "robots_unreachable": Category.SITE,
    "tls_error": Category.SITE,
    "https_unavailable": Category.SITE,
    "session_url": Category.SITE,
    "bad_answer": Category.SITE,
    "bad_response": Category.SITE,
    "too_large": Category.SITE,
    "too_many_redirects": Category.SITE,
    "http_status": Category.SITE,
    "challenge": Category.SITE,
    "captcha": Category.SITE,
    "consent_wall": Category.SITE,
    "decode_error": Category.PARSE,
    "parser_crash": Category.PARSE,
    "parser_limit": Category.PARSE,
    "address_refused": Category.VALIDATION,
    "invalid_product": Category.VALIDATION,
    "proxy_error": Category.US,
    "exhausted": Category.US,
    "lease_lost": Category.US,
    "called_off": Category.US,
    "unavailable": Category.US,
    "network_down": Category.US,
    "no_parser": Category.US,
    "store_unavailable": Category.US,
    "broken": Category.US,
}
"""All error codes; a test compares them."""


MAY_PASS = ("network_error", "dns_error", "connect_error", "connection_lost", "timeout", "robots_unreachable")
"""Codes of errors of sites and networks that are retried. A page whose last retry ended so was given up, unlike one
that has a definite answer, such as 404. A test compares them with the errors."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Failures that have the same cause."""

    fingerprint: str
    category: Category
    code: str
    blame: str
    shape: str
    """The message without the parts that differ."""
    failures: int
    domains: int
    first_at: datetime
    last_at: datetime
    sample: str
    sample_task: int | None


@dataclass(frozen=True, slots=True)
class RedriveResult:
    fingerprint: str | None
    tasks: Sequence[int]
    """New tasks; for a dry run, those that would be tried again."""
    webhooks: int
    """Number of abandoned webhook calls that are retried."""
    is_dry: bool


def category_of(code: str) -> Category:
    """Returns the category of a code. A code of a newer Forager counts as a fault of ours."""
    return CATEGORIES.get(code, Category.US)


async def patterns(
    conn: Connection,
    *,
    since: timedelta = DAY,
    until: datetime | None = None,
    category: str | None = None,
    after: tuple[int | None, str | None] = (None, None),
    limit: int | None = 50,
) -> list[Pattern]:
    """Returns the largest problems first, up to `until`; None: now. All pages of one list use the same moment:
    growing counts would move problems from page to page. `after`: the number of failures and the fingerprint of the
    last row."""
    codes = _codes_of(category)
    since_at = (until or await read_clock(conn)) - since
    rows = await conn.fetch(SQL["patterns"], since_at, until, codes, None, *after, limit)
    return [_pattern(row) for row in rows]


async def describe(conn: Connection, fingerprint: str, *, since: timedelta = DAY) -> Row:
    """Returns one problem: what, since when, where, day by day, with the traceback of one failure where it is a bug."""
    found = await find(conn, fingerprint, since=since)
    since_at = await read_clock(conn) - since
    days = await conn.fetch(SQL["days_of_pattern"], found.fingerprint, DAYS_SHOWN)
    where = await conn.fetch(SQL["domains_of_pattern"], since_at, found.code, found.shape, DOMAINS_SHOWN)
    example = await conn.fetchrow(SQL["stack_of_task"], found.sample_task)
    return {
        "pattern": found,
        "days": [dict(row) for row in days],
        "domains": [dict(row) for row in where],
        "sample_url": example["url"] if example else None,
        "stack": example["stack"] if example else None,
    }


async def find(conn: Connection, fingerprint: str, *, since: timedelta = DAY) -> Pattern:
    """Finds a problem by its fingerprint or a prefix of it: among the failures since then, else in the daily
    statistics."""
    wanted = fingerprint.strip().lower()
    if len(wanted) < SHORTEST_PREFIX:
        raise UsageError(
            f"A fingerprint is at least {SHORTEST_PREFIX} characters long, such as 3f9a.", field="fingerprint"
        )
    since_at = await read_clock(conn) - since
    rows = await conn.fetch(SQL["patterns"], since_at, None, None, wanted, None, None, 2)
    rows = rows or await conn.fetch(SQL["find_fingerprint"], wanted)
    if not rows:
        raise NotFoundError(f"No failure has the fingerprint {fingerprint!r}. `forager errors` lists them.")
    if len(rows) > 1:
        raise UsageError(f"Several problems begin with {fingerprint!r}: write more of it.", field="fingerprint")
    return _pattern(rows[0])


async def count_categories(conn: Connection, *, since: timedelta = DAY) -> dict[str, int]:
    """Returns the number of failures by category."""
    counts = dict.fromkeys(Category, 0)
    for row in await conn.fetch(SQL["failures_by_code"], await read_clock(conn) - since):
        counts[category_of(row["code"])] += row["failures"]
    return {category.value: number for category, number in counts.items()}


# What failed for good -------------------------------------------------------------------------------------------------


async def list_dead(
    conn: Connection,
    *,
    since: timedelta = ALL_TIME,
    fingerprint: str | None = None,
    category: str | None = None,
    before: tuple[int | None, int | None] = (None, None),
    limit: int = 100,
) -> Row:
    """Returns visits that were given up, by our own fault or after all retries, and webhook calls that were not
    accepted; of each up to `limit`, newest first. `category`: only visits with this cause, and no calls. `before`: only
    those older than this visit and this call."""
    since_at = await read_clock(conn) - since
    codes = _codes_of(category)
    dead = await conn.fetch(SQL["dead_tasks"], since_at, fingerprint, before[0], limit, MAY_PASS, codes)
    calls = await conn.fetch(SQL["dead_webhooks"], before[1], limit) if category is None else []
    tasks = [dict(row) | {"category": category_of(row["code"]).value} for row in dead]
    return {"tasks": tasks, "webhooks": [dict(row) for row in calls]}


async def redrive(
    conn: Connection,
    *,
    by: str,
    fingerprint: str | None = None,
    category: str | None = None,
    since: timedelta = ALL_TIME,
    limit: int = MOST_REDRIVEN,
    dry_run: bool = False,
) -> RedriveResult:
    """Retries what was given up: all dead letters including webhooks, those of one category, or every visit that failed
    with one problem; of each kind at most `limit`, the newest."""
    since_at = await read_clock(conn) - since
    if fingerprint is None:
        codes = _codes_of(category)
        rows = await conn.fetch(SQL["dead_tasks"], since_at, None, None, limit, MAY_PASS, codes)
        chosen = [row["task_id"] for row in rows]
    else:
        found = await find(conn, fingerprint, since=since)
        fingerprint = found.fingerprint
        rows = await conn.fetch(SQL["failed_of_pattern"], since_at, found.code, found.shape, limit)
        chosen = [row["id"] for row in rows]
    reason = f"errors {fingerprint}" if fingerprint else "dead letters" + (f", {category}" if category else "")
    done = await tasks_many.restart_tasks(conn, chosen, by=by, reason=reason, dry_run=dry_run)
    is_all = fingerprint is None and category is None
    calls = await _redrive_calls(conn, limit, dry_run=dry_run) if is_all else 0
    return RedriveResult(fingerprint, [task.task_id for task in done.tasks], calls, dry_run)


async def _redrive_calls(conn: Connection, limit: int, *, dry_run: bool) -> int:
    if dry_run:
        number: int = await conn.fetchval(SQL["count_dead_calls"], limit)
        return number
    return await webhooks.retry_calls(conn, [row["id"] for row in await conn.fetch(SQL["dead_calls"], limit)])


def _codes_of(category: str | None) -> list[str] | None:
    if category is None:
        return None
    if category not in set(Category):
        raise UsageError(f"There is no category {category!r}; there are {', '.join(Category)}.", field="category")
    return [code for code, belongs in CATEGORIES.items() if belongs == category]


def _pattern(row: Any) -> Pattern:
    return Pattern(category=category_of(row["code"]), **dict(row))
