"""Reads pages for commands and routes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from forager import clock
from forager.db import scans, statements
from forager.db.rows import START, Key, Row, as_dicts, require_row
from forager.db.types import Connection
from forager.domains.lookup import known_name
from forager.domains.url_lookup import locate_url
from forager.errors import BadUrlError, NotFoundError, UsageError
from forager.fetch.status_codes import parse_status_codes
from forager.frontier.details import get_structured_data

SQL = statements.load("forager.pages")
NO_VISIT: Row = dict.fromkeys(
    ("status_code", "outcome", "completed_at", "error_code", "error_message", "response_time_ms")
)


@dataclass(frozen=True, slots=True)
class PageFilter:
    """Which pages a list shows; None: all."""

    domain: str | None = None
    status: str | None = None
    language: str | None = None
    is_seed: bool | None = None
    outcome: str | None = None
    """Of the latest visit; so are the next three."""
    status_code: str | None = None
    """Such as `404` or `5xx`."""
    error_code: str | None = None
    run: int | None = None
    url_part: str | None = None
    depth: int | None = None
    priority: int | None = None
    source: str | None = None
    """Where their domains were found, such as `link` or `seed`."""
    parser: str | None = None
    """The parser that their domains are set to."""
    discovered_since: datetime | None = None
    discovered_until: datetime | None = None
    fetched_since: datetime | None = None
    fetched_until: datetime | None = None
    changed_since: datetime | None = None
    changed_until: datetime | None = None

    @property
    def best_sort(self) -> str:
        """The order that an index has with the times asked for."""
        if self.changed_since or self.changed_until:
            return "-changed_at"
        return "-fetched_at" if self.fetched_since or self.fetched_until else "found"


class PageList(NamedTuple):
    rows: list[Row]
    resume_at: Row | None
    """Set where reading stopped before the limit was reached: the key after which the next page continues."""


SORTS: Mapping[str, tuple[str, ...]] = {
    "found": ("id",),
    "-found": ("id",),
    "-fetched_at": ("fetched_at", "id"),
    "-changed_at": ("changed_at", "id"),
    "depth": ("depth", "id"),
    "priority": ("priority", "id"),
    "hash": ("url_hash",),
}
"""Order of a list → the columns of its key. Depth, priority and hash order the pages of one domain; the last is that of
its index."""
OF_DOMAIN = frozenset({"depth", "priority", "hash"})


async def list_pages(
    conn: Connection,
    wanted: PageFilter | None = None,
    after: Key = START,
    *,
    sort: str | None = None,
    limit: int | None = None,
    within_s: float | None = None,
) -> PageList:
    """Returns pages, as a rule in the order they were found. Filters without an index are applied to the rows that the
    others find, a portion at a time; after `within_s` seconds no further one is read, None: to the end."""
    wanted = wanted or PageFilter()
    sort = sort or wanted.best_sort
    if sort in OF_DOMAIN and wanted.domain is None:
        raise UsageError(f"Pages are ordered by {sort} in one domain: name it.", field="domain")
    wanted = replace(wanted, domain=await known_name(conn, wanted.domain))
    bounds = await _bounds(conn, wanted)
    remaining = _remaining(wanted, sort)
    leaves_out = any(each is not None for each in remaining)
    key: Key = after if any(each is not None for each in after) else (None,) * len(SORTS[sort])
    found: list[Row] = []
    started = clock.monotonic()
    while True:
        chosen = await _choose(conn, wanted, sort, bounds=bounds, key=key, limit=scans.SCANNED if leaves_out else limit)
        rows = as_dicts(await conn.fetch(SQL["page_rows"], [row["id"] for row in chosen], *remaining))
        found += rows if limit is None else rows[: limit - len(found)]
        if not leaves_out or len(chosen) < scans.SCANNED or len(found) == limit:
            return PageList(found, None)
        last = chosen[-1] | {sort: chosen[-1].get("rank")}
        key = tuple(last[column] for column in SORTS[sort])
        if within_s is not None and clock.monotonic() - started >= within_s:
            return PageList(found, dict(zip(SORTS[sort], key, strict=True)))


async def _choose(
    conn: Connection,
    wanted: PageFilter,
    sort: str,
    *,
    bounds: tuple[int | None, int | None],
    key: Key,
    limit: int | None,
) -> list[Row]:
    """Returns ids and keys of pages in the order of the list."""
    common = (wanted.status, wanted.language, wanted.is_seed, wanted.domain)
    match sort:
        case "hash":
            rows = await conn.fetch(SQL["pages_of_domain"], *key, *common, limit)
        case "-fetched_at":
            times = (wanted.fetched_since, wanted.fetched_until)
            rows = await conn.fetch(SQL["pages_by_read"], *key, *common, *times, limit)
        case "-changed_at":
            times = (wanted.changed_since, wanted.changed_until)
            rows = await conn.fetch(SQL["pages_by_change"], *key, *common, *times, limit)
        case "depth" | "priority":
            rows = await conn.fetch(SQL["ranked_pages_of_domain"], *key, *common, sort, limit)
        case "-found":
            rows = await conn.fetch(SQL["newest_pages"], *key, *common, *bounds, limit)
        case _:
            rows = await conn.fetch(SQL["pages_by_id"], *key, *common, *bounds, limit)
    return as_dicts(rows)


def _remaining(wanted: PageFilter, sort: str) -> tuple[object, ...]:
    """Returns the arguments of `page_rows` after the ids: what the first statement did not filter by."""
    low, high = parse_status_codes(wanted.status_code) if wanted.status_code else (None, None)
    read = (None, None) if sort == "-fetched_at" else (wanted.fetched_since, wanted.fetched_until)
    changed = (None, None) if sort == "-changed_at" else (wanted.changed_since, wanted.changed_until)
    return (
        *(wanted.url_part, wanted.depth, wanted.priority, wanted.source, wanted.parser),
        *(wanted.outcome, low, high, wanted.error_code, wanted.run),
        *(wanted.discovered_since, wanted.discovered_until, *read, *changed),
    )


async def _bounds(conn: Connection, wanted: PageFilter) -> tuple[int | None, int | None]:
    """Returns the first id that may have been found in the wanted time, and the first that was found after it."""
    first = last = None
    if wanted.discovered_since is not None:
        since = wanted.discovered_since - scans.LONGEST_TRANSACTION
        first = await conn.fetchval(SQL["page_id_at"], since, scans.SMALL_TABLE)
    if wanted.discovered_until is not None:
        until = wanted.discovered_until + scans.LONGEST_TRANSACTION
        last = await conn.fetchval(SQL["page_id_at"], until, scans.SMALL_TABLE)
    return first, last


async def add_latest_visits(conn: Connection, pages: Sequence[Row]) -> list[Row]:
    """Returns the pages with the columns of their latest closed task; these are None for a page that has none."""
    visits = await conn.fetch(SQL["latest_visits"], [page["id"] for page in pages])
    by_page = {visit["id"]: dict(visit) for visit in visits}
    return [page | by_page.get(page["id"], NO_VISIT) for page in pages]


async def find_page(connection: Connection, url: str) -> Row:
    """Returns one page by any spelling of its URL; rejects one that is not known."""
    try:
        page = await locate_url(connection, url)
    except BadUrlError as error:
        raise UsageError(str(error)) from None
    found = await connection.fetchrow(SQL["find_page"], page.domain, page.key)
    if found is None:
        raise NotFoundError(f"There is no page {page.url}. `forager pages` lists those that are known.")
    return dict(found)


async def get_page(conn: Connection, page_id: int) -> Row:
    return require_row(await conn.fetchrow(SQL["find_page_by_id"], page_id), "page", page_id)


async def list_structured_data(conn: Connection, page_id: int) -> list[dict[str, Any]]:
    """Returns all items of one page. Raises if there is no such page."""
    items = await get_structured_data(conn, page_id)
    if not items:
        await get_page(conn, page_id)
    return items


async def list_snapshots(conn: Connection, page: int) -> list[str]:
    """Returns the references of the newest stored snapshots of a page, newest first."""
    return [row["body_ref"] for row in await conn.fetch(SQL["snapshots"], page)]
