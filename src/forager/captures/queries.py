"""Finds stored versions of pages for commands and routes."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import NamedTuple

from forager import clock
from forager.captures.models import Capture, MatchType
from forager.db import statements
from forager.db.query import Query
from forager.db.scans import SCANNED
from forager.db.types import Connection
from forager.domains.lookup import canonical_name, known_name
from forager.domains.store import find_domains
from forager.domains.url_lookup import locate_url
from forager.errors import BadUrlError, BodyGoneError, NotFoundError, UsageError
from forager.storage.cdxj import surt
from forager.urls.domain import registrable
from forager.urls.normalize import normalize

SQL = statements.load("forager.captures")
VERSIONS = Query(SQL["versions_of_page"], Capture)
VERSION_AT = Query(SQL["version_at"], Capture)
BODY_OF_TASK = Query(SQL["body_of_task"], Capture)
OF_PAGE = Query(SQL["captures_of_page"], Capture)
OF_DOMAINS = Query(SQL["captures_of_domains"], Capture)
DOMAINS_BELOW = Query(SQL["domains_below"], int)
NO_BODY = "`forager domain NAME set --keep snapshot` keeps bodies from the next visit on."


@dataclass(frozen=True, slots=True)
class CaptureFilter:
    """Which captures; None is all."""

    url: str
    match: MatchType = MatchType.EXACT
    since: datetime | None = None
    until: datetime | None = None
    """Not later than this moment."""


class CaptureKey(NamedTuple):
    """The position of a capture in the list."""

    domain_id: int
    page_id: int
    task_id: int


class CaptureList(NamedTuple):
    rows: list[Capture]
    resume_at: CaptureKey | None
    """Set where there may be more: the key after which they continue."""


async def find_page_id(conn: Connection, url: str) -> int:
    """Returns the page that a URL means, in any spelling; rejects one that is not known."""
    try:
        page = await locate_url(conn, url)
    except BadUrlError as error:
        raise UsageError(str(error), field="url") from None
    found: int | None = await conn.fetchval(SQL["find_page_id"], page.domain, page.key)
    if found is None:
        raise NotFoundError(f"There is no page {page.url}. `forager pages` lists those that are known.")
    return found


async def list_versions(conn: Connection, page_id: int, *, before: int | None = None, limit: int) -> list[Capture]:
    """Returns versions of a page, newest first, among them those whose bodies were deleted since."""
    return await VERSIONS.fetch(conn, page_id, before, limit)


async def find_version(conn: Connection, page_id: int, *, at: datetime | None = None) -> Capture:
    """Returns the newest version that is not later than a moment. Raises NotFoundError, and BodyGoneError if its body
    was deleted."""
    found = await VERSION_AT.first(conn, page_id, at)
    if found is None:
        oldest: datetime | None = await conn.fetchval(SQL["oldest_version"], page_id)
        if oldest is None:
            raise NotFoundError(f"No body of this page is stored. {NO_BODY}")
        raise NotFoundError(f"No version of this page is that old: the oldest is of {oldest:%Y-%m-%d %H:%M:%S} UTC.")
    return require_stored(found)


async def find_body(conn: Connection, task_id: int) -> Capture:
    """Returns the version that a visit stored or confirmed. Raises NotFoundError and BodyGoneError."""
    found = await BODY_OF_TASK.first(conn, task_id)
    if found is None:
        raise NotFoundError(f"There is no task {task_id}; `forager tasks` lists them.")
    if not found.body_ref:
        raise NotFoundError(f"Task {task_id} stored no body. {NO_BODY}")
    return require_stored(found)


def require_stored(found: Capture) -> Capture:
    if found.is_pruned:
        raise BodyGoneError(
            f"The body of task {found.task_id} was deleted when its time was over; `forager captures {found.url}`"
            " lists the versions that are left."
        )
    return found


async def list_captures(
    conn: Connection,
    wanted: CaptureFilter,
    after: CaptureKey | None = None,
    *,
    limit: int,
    within_s: float | None = None,
) -> CaptureList:
    """Returns stored captures page by page, each page's oldest first. Filters are applied to portions of the index;
    after `within_s` seconds no further portion is read."""
    if wanted.since and wanted.until and wanted.since > wanted.until:
        raise UsageError("The span is empty: `from` has to be before `to`.", field="from")
    wanted = _read_wildcard(wanted)
    fetch = await _reader(conn, wanted)
    prefix = _surt(wanted.url) if wanted.match is MatchType.PREFIX else None
    found: list[Capture] = []
    started = clock.monotonic()
    portion = limit if _is_unfiltered(wanted) else max(limit, SCANNED)
    while True:
        rows = await fetch(after, portion)
        for row in rows:
            after = CaptureKey(row.domain_id, row.page_id, row.task_id)
            if not row.is_pruned and _matches(row, wanted, prefix):
                found.append(row)
                if len(found) == limit:
                    return CaptureList(found, after)
        if len(rows) < portion:
            return CaptureList(found, None)
        if within_s is not None and clock.monotonic() - started >= within_s:
            return CaptureList(found, after)


def _is_unfiltered(wanted: CaptureFilter) -> bool:
    return wanted.match is not MatchType.PREFIX and wanted.since is None and wanted.until is None


def _matches(row: Capture, wanted: CaptureFilter, prefix: str | None) -> bool:
    return (
        row.kind != "text"
        and (prefix is None or surt(row.url).startswith(prefix))
        and (wanted.since is None or row.fetched_at >= wanted.since)
        and (wanted.until is None or row.fetched_at <= wanted.until)
    )


def _read_wildcard(wanted: CaptureFilter) -> CaptureFilter:
    """`example.org/docs/*` is a prefix, and `*.example.org` a domain, as CDX servers have it."""
    if wanted.match is not MatchType.EXACT:
        return wanted
    if wanted.url.startswith("*."):
        return replace(wanted, url=wanted.url[2:], match=MatchType.DOMAIN)
    if wanted.url.endswith("*"):
        return replace(wanted, url=wanted.url[:-1], match=MatchType.PREFIX)
    return wanted


async def _reader(
    conn: Connection, wanted: CaptureFilter
) -> Callable[[CaptureKey | None, int], Awaitable[list[Capture]]]:
    """Returns the function that reads the next portion."""
    if wanted.match is MatchType.EXACT:
        return partial(_read_page, conn, await find_page_id(conn, with_scheme(wanted.url)))
    name = canonical_name(wanted.url)
    if wanted.match is MatchType.DOMAIN:
        domains = await DOMAINS_BELOW.fetch(conn, registrable(name))
        if not domains:
            raise NotFoundError(f"There is no domain {registrable(name)!r}. `forager domains` lists them all.")
    else:
        known = await known_name(conn, name)
        domains = list((await find_domains(conn, [known] if known else [])).values())
    return partial(_read_domains, conn, domains)


async def _read_page(conn: Connection, page_id: int, after: CaptureKey | None, limit: int) -> list[Capture]:
    return await OF_PAGE.fetch(conn, page_id, after.task_id if after else None, limit)


async def _read_domains(conn: Connection, domains: list[int], after: CaptureKey | None, limit: int) -> list[Capture]:
    left = domains if after is None else [domain for domain in domains if domain >= after.domain_id]
    return await OF_DOMAINS.fetch(conn, left, *(after or (None, None, None)), limit)


def with_scheme(url: str) -> str:
    return url if "://" in url else f"http://{url}"


def _surt(url: str) -> str:
    """Returns the key that all URLs below a prefix begin with."""
    try:
        return surt(normalize(with_scheme(url)))
    except BadUrlError as error:
        raise UsageError(str(error), field="url") from None
