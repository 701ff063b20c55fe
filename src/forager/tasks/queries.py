"""Reads tasks for commands and routes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from forager import clock
from forager.db import scans, statements
from forager.db.rows import START, Key, Row, as_dicts
from forager.db.types import Connection
from forager.domains.lookup import known_name
from forager.domains.url_lookup import locate_url
from forager.errors import NotFoundError
from forager.fetch.status_codes import StatusCodes, parse_status_codes
from forager.runs.queries import check_run_exists

SQL = statements.load("forager.tasks")
COMMON_AUTHORS = frozenset({"system", "revisit"})
"""Authors of most tasks; the index of authors leaves them out."""


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Which tasks a list shows; None: all."""

    domain: str | None = None
    url: str | None = None
    """Only visits to this page."""
    page: int | None = None
    status: str | None = None
    outcome: str | None = None
    error_code: str | None = None
    run: int | None = None
    is_open: bool | None = None
    is_image: bool | None = None
    batch: int | None = None
    worker: int | None = None
    """Only those that this worker works on now."""
    status_code: str | None = None
    """Such as `404` or `5xx`."""
    created_by: str | None = None
    created_since: datetime | None = None
    created_until: datetime | None = None
    completed_since: datetime | None = None
    completed_until: datetime | None = None
    priority: int | None = None
    url_part: str | None = None
    source: str | None = None
    """Where their domains were found, such as `link` or `seed`."""
    parser: str | None = None
    """The parser that their domains are set to."""


class TaskList(NamedTuple):
    rows: list[Row]
    resume_at: int | None
    """Set where reading stopped before the limit was reached: the next page continues after this id."""


async def list_tasks(
    conn: Connection,
    wanted: TaskFilter | None = None,
    after: Key = START,
    *,
    limit: int | None = None,
    within_s: float | None = None,
) -> TaskList:
    """Returns tasks, newest first: open ones are the queue, closed ones the history. Filters without an index are
    applied to the rows that the others find, a portion at a time; after `within_s` seconds no further one is read.
    None: to the end."""
    wanted = wanted or TaskFilter()
    name = await known_name(conn, wanted.domain)
    await check_run_exists(conn, wanted.run)
    page = wanted.page
    if wanted.url is not None:
        named = await locate_url(conn, wanted.url)
        page = await conn.fetchval(SQL["page_of_url"], named.domain, named.key)
        if page is None:
            return TaskList([], None)
    if wanted.is_open and wanted.status_code is not None:
        return TaskList([], None)  # no response yet
    search = _Search(wanted, name, page, parse_status_codes(wanted.status_code) if wanted.status_code else None)
    first, last = await _bounds(conn, wanted)
    before: int | None = min((each for each in (*after, last) if each is not None), default=None)
    found: list[Row] = []
    started = clock.monotonic()
    while True:
        portion = scans.SCANNED if search.leaves_out else limit
        ids = await search.choose(conn, before, first, portion)
        rows = as_dicts(await conn.fetch(SQL["task_rows"], ids, *search.remaining))
        found += rows if limit is None else rows[: limit - len(found)]
        if not search.leaves_out or len(ids) < scans.SCANNED or len(found) == limit:
            return TaskList(found, None)
        before = ids[-1]
        if within_s is not None and clock.monotonic() - started >= within_s:
            return TaskList(found, before)


@dataclass(frozen=True, slots=True)
class _Search:
    """The statement that finds the tasks of a filter by an index, and what of the filter remains to be applied."""

    wanted: TaskFilter
    domain: str | None
    page: int | None
    codes: StatusCodes | None

    @property
    def is_of_domain(self) -> bool:
        return (
            self.domain is not None and self.page is None and self.wanted.batch is None and self.wanted.worker is None
        )

    @property
    def is_by_codes(self) -> bool:
        """Whether the codes of a class are the best way to the tasks: no index has them in order, but that of each
        code does."""
        if self.codes is None or self.codes.low == self.codes.high or self.codes.low <= 200 <= self.codes.high:
            return False
        narrower = (self.domain, self.page, self.wanted.batch, self.wanted.run, self.wanted.worker)
        return all(each is None for each in narrower)

    @property
    def remaining(self) -> tuple[object, ...]:
        """Arguments of `task_rows` after the ids."""
        w = self.wanted
        is_by_id = not self.is_of_domain and not self.is_by_codes
        is_indexed = is_by_id and w.created_by not in COMMON_AUTHORS
        low, high = self.codes if self.codes and self.is_of_domain else (None, None)
        times = (w.created_since, w.created_until, w.completed_since, w.completed_until)
        rare = (w.status, w.outcome, w.error_code, w.is_image)
        return (
            *(w.url_part, w.priority, w.source, w.parser, None if is_indexed else w.created_by),
            *(low, high),
            *((None,) * 4 if is_by_id else times),
            *(rare if self.is_by_codes else (None,) * 4),
        )

    @property
    def leaves_out(self) -> bool:
        return any(each is not None for each in self.remaining)

    async def choose(self, conn: Connection, before: int | None, first: int | None, limit: int | None) -> Sequence[int]:
        """Returns ids, newest first."""
        w = self.wanted
        low, high = self.codes or (None, None)
        common = (self.domain, w.status, w.outcome, w.error_code, w.run, w.is_open, w.is_image)
        if self.is_of_domain:
            rows = await conn.fetch(SQL["tasks_of_domain"], before, *common, first, limit)
        elif self.is_by_codes:
            rows = await conn.fetch(SQL["tasks_by_codes"], before, low, high, first, limit)
        else:
            author = None if w.created_by in COMMON_AUTHORS else w.created_by
            times = (w.created_since, w.created_until, w.completed_since, w.completed_until)
            others = (w.batch, self.page, first, w.worker, low, high, author, *times)
            rows = await conn.fetch(SQL["tasks_by_id"], before, *common, *others, limit)
        return [row["id"] for row in rows]


async def _bounds(conn: Connection, wanted: TaskFilter) -> tuple[int | None, int | None]:
    """Returns the first id that may have been created in the wanted time, and the first that was created after it. A
    task is not completed before it is created."""
    first = last = None
    if wanted.created_since is not None:
        since = wanted.created_since - scans.LONGEST_TRANSACTION
        first = await conn.fetchval(SQL["task_id_at"], since, scans.SMALL_TABLE)
    ends = [each for each in (wanted.created_until, wanted.completed_until) if each is not None]
    if ends:
        last = await conn.fetchval(SQL["task_id_at"], min(ends) + scans.LONGEST_TRANSACTION, scans.SMALL_TABLE)
    return first, last


async def check_task_exists(conn: Connection, task_id: int) -> None:
    if await conn.fetchval(SQL["find_task"], task_id) is None:
        raise NotFoundError(f"There is no task {task_id}.")
