"""Replay configs: what they cover, how far they came, where they resume. Sends no request.

Parsing and recording are in `replay/runner.py`; every interface (CLI, API) uses it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from forager.db import statements
from forager.db.query import Query, fetch_one
from forager.db.types import Connection
from forager.domains import admin as domains
from forager.domains.lookup import known_name
from forager.domains.store import find_domains
from forager.errors import NotFoundError, NotStoredError, UsageError
from forager.frontier import replay as reread
from forager.pages.queries import find_page
from forager.replay.diff import Fields, ReplayProgress

SQL = statements.load("forager.replay")
REQUEUED_AT_ONCE = 5000


class Into(StrEnum):
    LIVE = "live"
    """Signals, links, images and products of the pages."""
    SHADOW = "shadow"
    """Into separate tables, for comparison."""


@dataclass(frozen=True, slots=True)
class ReplayOrder:
    """Selects pages; all conditions hold together. The dates are those of the newest body."""

    domain: str | None = None
    url: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    parser: str | None = None
    """The parser for products; None: that of each domain."""
    into: Into = Into.LIVE
    at: datetime | None = None
    """Each page as it was then: its newest version that is not later."""
    is_all_versions: bool = False
    """Older versions too: what they say fills the history of prices, at the time of their visits."""
    extractor: str | None = None
    """Only the records of this extractor are read again and written; None: everything."""

    def document(self) -> str:
        return json.dumps(asdict(self), default=str, sort_keys=True)


class Matches(NamedTuple):
    """The config resolved to ids, as the statements take it."""

    domain_id: int | None
    page_id: int | None
    since: datetime | None
    until: datetime | None
    at: datetime | None = None

    def of_pages(self) -> dict[str, Any]:
        """Returns what selects pages, for visits of them."""
        return {name: value for name, value in self._asdict().items() if name != "at"}


class PastVersion(NamedTuple):
    """An older version of a page."""

    page_id: int
    task_id: int
    url: str
    domain: str
    completed_at: datetime
    body_ref: str
    is_deleted: bool
    crashes: int
    parser_name: str
    content_type: str | None


class Stored(NamedTuple):
    pages: int
    deleted: int
    """Pages whose body retention has deleted."""
    domains: int


class Replay(NamedTuple):
    id: int
    after_page: int
    tally: ReplayProgress
    is_resumed: bool
    died_reading: tuple[int, int] | None
    """Pid and start time of the process that was killed while running it."""


class State(NamedTuple):
    order: ReplayOrder
    is_finished: bool
    is_held: bool
    """A process is running it."""
    tally: ReplayProgress


class ReplayRunningError(UsageError):
    """Another process is running the same replay."""


async def resolve(conn: Connection, order: ReplayOrder) -> Matches:
    """Resolves names to ids. Raises if a name or URL is unknown."""
    if order.since and order.until and order.since >= order.until:
        raise UsageError("The span is empty: --since has to be before --until.")
    name = await known_name(conn, order.domain)
    domain = (await find_domains(conn, [name]))[name] if name else None
    page = (await find_page(conn, order.url))["id"] if order.url else None
    return Matches(domain, page, order.since, order.until, order.at)


async def count_stored(conn: Connection, order: ReplayOrder, matches: Matches, *, default_policy: str) -> Stored:
    """Counts stored bodies. Raises NotStoredError if there are none, with the content policy in its text."""
    found = Stored(*await fetch_one(conn, SQL["count_stored"], *matches))
    if not found.pages:
        raise NotStoredError(await _explain_empty(conn, order, matches, found, default_policy))
    return found


async def _explain_empty(
    conn: Connection, order: ReplayOrder, matches: Matches, found: Stored, default_policy: str
) -> str:
    what = order.url or order.domain or "any page"
    span = " in this span" if order.since or order.until else ""
    if found.deleted:
        return (
            f"The stored bodies of {what}{span} were deleted when their time was over; `--refetch` visits them again."
        )
    name = await known_name(conn, order.domain) if order.domain else None
    if order.url:
        name = (await find_page(conn, order.url))["domain"]
    policy = await conn.fetchval(SQL["policy_of"], name) if name else None
    policy, whose = (policy, f"of {name}") if policy else (default_policy, "of the settings")
    if await conn.fetchval(SQL["has_text"], matches.domain_id, matches.page_id):
        what = f"{what} but its text, which cannot be parsed again,"
    remedy = f"`forager domain {name} set --keep snapshot`" if name else "`forager crawl --keep snapshot`"
    return (
        f"No body of {what} is stored{span}: the content policy {whose} is {policy!r}. "
        f"{remedy} keeps bodies from the next visit on."
    )


OLDER_VERSIONS = Query(SQL["older_versions"], PastVersion)


async def next_stored(
    conn: Connection, matches: Matches, *, after: int, limit: int
) -> tuple[list[Mapping[str, Any]], int | None]:
    """Returns the pages of the next batch, and the last page it covered; None after the last one."""
    domain, page, since, until, at = matches
    last = await conn.fetchval(SQL["last_of_portion"], after, domain, page, limit, at)
    rows = await conn.fetch(SQL["next_stored"], after, domain, page, since, until, limit, at)
    return [dict(row) for row in rows], last


async def older_versions(conn: Connection, matches: Matches, *, after: int, last: int) -> list[PastVersion]:
    """Returns the versions of a batch's pages except the newest ones, oldest first."""
    domain, page, since, until, at = matches
    return await OLDER_VERSIONS.fetch(conn, after, last, domain, page, since, until, at)


async def known_products(conn: Connection, page_ids: Sequence[int]) -> dict[int, Mapping[str, Any]]:
    return {row["page_id"]: dict(row) for row in await conn.fetch(SQL["known_products"], page_ids)}


async def known_records(conn: Connection, page_ids: Sequence[int]) -> dict[int, list[Mapping[str, Any]]]:
    """Returns the records of each page that are not gone."""
    found: dict[int, list[Mapping[str, Any]]] = {}
    for row in await conn.fetch(SQL["known_records"], page_ids):
        found.setdefault(row["page_id"], []).append(dict(row))
    return found


async def known_images(conn: Connection, page_ids: Sequence[int]) -> dict[int, Mapping[str, Any]]:
    return {row["page_id"]: dict(row) for row in await conn.fetch(SQL["known_images"], page_ids)}


async def hold_pages(conn: Connection, pages: Mapping[int, datetime | None]) -> set[int]:
    """Locks and returns the pages that were not visited since they were read; they stay unchanged until the transaction
    ends."""
    rows = await conn.fetch(SQL["hold_pages"], list(pages), list(pages.values()))
    return {row["id"] for row in rows}


async def take(conn: Connection, order: ReplayOrder, *, by: str, pid: int, pid_started: int) -> Replay:
    """Resumes an unfinished replay with the same config, or creates one. The connection holds its lock."""
    found = await conn.fetchrow(SQL["find_replay"], order.document())
    number = found["id"] if found else await conn.fetchval(SQL["start_replay"], order.document(), by, pid, pid_started)
    if not await conn.fetchval(SQL["lock_replay"], number):
        raise ReplayRunningError(f"Replay {number} of the same order is under way; wait for it, or stop it.")
    if not found:
        return Replay(number, 0, ReplayProgress(), is_resumed=False, died_reading=None)
    await conn.execute(SQL["take_replay"], number, pid, pid_started)
    tally = ReplayProgress(**json.loads(found["tally"]))
    return Replay(number, found["after_page"], tally, True, (found["pid"], found["pid_started"]))


async def order_one(conn: Connection, order: ReplayOrder, *, by: str) -> int:
    """Returns a replay for another process to run: an unfinished one with the same config, or a new one."""
    found = await conn.fetchrow(SQL["find_replay"], order.document())
    number: int = found["id"] if found else await conn.fetchval(SQL["start_replay"], order.document(), by, 0, 0)
    return number


async def read_one(conn: Connection, replay: int) -> State:
    row = await conn.fetchrow(SQL["read_replay"], replay)
    if row is None:
        raise NotFoundError(f"There is no replay {replay}.")
    return State(
        _read_order(row["spec"]),
        row["status"] == "finished",
        row["is_held"],
        ReplayProgress(**json.loads(row["tally"])),
    )


def _read_order(document: str) -> ReplayOrder:
    given = json.loads(document)
    times = ("since", "until", "at")
    span = {name: datetime.fromisoformat(given[name]) if given.get(name) else None for name in times}
    return ReplayOrder(**given | span | {"into": Into(given["into"])})


async def note_progress(conn: Connection, replay: int, *, after: int, tally: ReplayProgress) -> None:
    await conn.execute(SQL["note_progress"], replay, after, json.dumps(tally.document()))


async def end(conn: Connection, replay: int, tally: ReplayProgress) -> None:
    await conn.execute(SQL["end_replay"], replay, json.dumps(tally.document()))


async def add_shadows(
    conn: Connection, replay: int, shadows: Sequence[tuple[int, int, list[str], Fields, Fields]]
) -> None:
    """Records page, task, fields that differ, and their old and new values."""
    if shadows:
        rows = [
            (
                page,
                task,
                ",".join(names),
                *(json.dumps({name: side.get(name) for name in names}) for side in (old, new)),
            )
            for page, task, names, old, new in shadows
        ]
        await conn.execute(SQL["add_shadows"], replay, *map(list, zip(*rows, strict=True)))


async def of_task(conn: Connection, task: int, *, default_policy: str) -> ReplayOrder:
    """`restart-parsing`: returns the config that replays the page of a task."""
    row = await conn.fetchrow(SQL["find_task"], task)
    if row is None:
        raise NotFoundError(f"There is no task {task}; `forager tasks` lists them.")
    if row["body_ref"] is None or row["body_ref"].startswith("text:"):
        policy = row["content_policy"] or default_policy
        kept = "no body" if row["body_ref"] is None else "only the text, which cannot be parsed,"
        raise NotStoredError(
            f"Task {task} cannot be read again: {kept} was kept of {row['url']}, and the content policy of "
            f"{row['domain']} is {policy!r} now. `forager domain {row['domain']} set --keep snapshot` keeps bodies "
            f"from the next visit on."
        )
    return ReplayOrder(url=row["url"])


async def requeue(conn: Connection, matches: Matches, *, by: str, refresh_every_s: float | None) -> int:
    """Schedules revisits instead: the pages get tasks of priority 2, and their domains become ready."""
    after: int | None = 0
    pages = 0
    domain_ids: set[int] = set()
    while after is not None:
        after, given, touched = await reread.requeue_pages(
            conn, after=after, **matches.of_pages(), limit=REQUEUED_AT_ONCE, by=by
        )
        pages += given
        domain_ids |= set(touched)
    for domain in sorted(domain_ids):
        await domains.set_cooldown(conn, domain, refresh_every_s=refresh_every_s)
    return pages
