"""Builds the report of a site. Every function expects a transaction that sees one snapshot, and changes nothing."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from itertools import groupby

from forager import clock
from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection
from forager.domains.lookup import known_name
from forager.errors import NotFoundError
from forager.site_audit.checks import CHECKS, COMPARED, NOT_COMPARABLE
from forager.site_audit.models import (
    LIMITS,
    Check,
    ComparedRow,
    Comparison,
    DepthRow,
    Difference,
    Example,
    Finding,
    FindingRow,
    SinceRow,
    SiteReport,
    SiteRow,
)

SQL = statements.load("forager.site_audit")
MOST_EXAMPLES, MOST_OTHERS = 20, 5
FIND_SITE = Query(SQL["find_site"], SiteRow)
STATUS_BY_DEPTH = Query(SQL["status_by_depth"], DepthRow)
COMPARE_VISITS = Query(SQL["compare_visits"], ComparedRow)
PAGES_SINCE = Query(SQL["pages_since"], SinceRow)
FIND = {check.name: Query(SQL[check.name], FindingRow) for check in CHECKS}
ROWS_AT_ONCE = 500


async def report_site(
    conn: Connection, name: str, *, since: datetime | None = None, examples: int = MOST_EXAMPLES
) -> SiteReport:
    """Returns the findings of every check about one site, with up to `examples` of each; with `since` also what changed
    since this moment."""
    await conn.execute(SQL["no_time_limit"])
    site = await find_site(conn, name)
    found = [await _run_check(conn, site.id, check, examples) for check in CHECKS]
    return SiteReport(
        site=site.name,
        base_url=site.base_url,
        created_at=clock.now(),
        pages=site.pages,
        visited=site.visited,
        html=site.html,
        first_visit_at=site.first_visit_at,
        last_visit_at=site.last_visit_at,
        findings=found,
        status_by_depth=await STATUS_BY_DEPTH.fetch(conn, site.id),
        notes=_list_gaps(site),
        comparison=None if since is None else await _compare(conn, site.id, since, examples),
    )


async def find_site(conn: Connection, name: str) -> SiteRow:
    """Returns a site by name or URL."""
    site = await FIND_SITE.first(conn, await known_name(conn, name))
    if site is None:
        raise NotFoundError(f"There is no domain {name!r}.")
    return site


async def list_findings(conn: Connection, site_id: int, check: Check) -> AsyncIterator[Example]:
    """Yields all findings of one check with all their URLs, row by row."""
    await conn.execute(SQL["no_time_limit"])
    async for row in conn.cursor(SQL[check.name], *_arguments(check, site_id, None, None), prefetch=ROWS_AT_ONCE):
        yield _read_example(FindingRow(*row))


def _arguments(check: Check, site_id: int, rows: int | None, others: int | None) -> list[int | None]:
    """Returns the parameters of a check's statement: a limit, the number of other URLs, or neither follows."""
    if check.limit:
        return [site_id, rows, getattr(LIMITS, check.limit)]
    return [site_id, rows, others] if "$3" in SQL[check.name] else [site_id, rows]


async def _run_check(conn: Connection, site_id: int, check: Check, examples: int) -> Finding:
    rows = await FIND[check.name].fetch(conn, *_arguments(check, site_id, examples, MOST_OTHERS))
    return Finding(
        name=check.name,
        title=check.title,
        severity=check.severity,
        advice=check.advice,
        others=check.others,
        total=rows[0].total if rows else 0,
        examples=[_read_example(row) for row in rows],
    )


def _read_example(row: FindingRow) -> Example:
    return Example(row.url, row.value, row.others or (), row.others_total)


def _list_gaps(site: SiteRow) -> list[str]:
    """Returns what the report of a site cannot say, in sentences."""
    found = []
    if site.visited < site.pages:
        found.append(f"{site.pages - site.visited:,} of {site.pages:,} known pages were not visited yet.")
    if not site.stores_links:
        found.append("Links of this site are not stored, so nothing is said of who links to what.")
    elif site.links_since is not None:
        found.append(f"Links are stored since {site.links_since:%Y-%m-%d}: pages read before may have none.")
    if not site.sitemaps:
        found.append("No sitemap of this site was read, so nothing is compared with one.")
    if not site.is_indexed:
        found.append("The search index has no page of this site, so texts are not compared.")
    return found


async def _compare(conn: Connection, site_id: int, since: datetime, examples: int) -> Comparison:
    rows = await COMPARE_VISITS.fetch(conn, site_id, since, examples, LIMITS.response_ms, LIMITS.bytes)
    others = await PAGES_SINCE.one(conn, site_id, since)
    notes = list(NOT_COMPARABLE)
    if others.first_visit_at is None or others.first_visit_at > since:
        notes.insert(0, "No visit to this site is recorded before that moment: all that is found is new.")
    by_kind = {kind: list(group) for kind, group in groupby(rows, key=lambda row: row.kind)}
    differences = [_difference(kind, by_kind.get(kind, [])) for kind in COMPARED]
    return Comparison(since, others.new_pages, others.changed_pages, differences, notes)


def _difference(kind: str, rows: Sequence[ComparedRow]) -> Difference:
    totals = {row.state: row.total for row in rows}
    new, fixed, still = (totals.get(state, 0) for state in ("new", "fixed", "still"))
    return Difference(
        kind,
        before=still + fixed,
        now=still + new,
        new=new,
        fixed=fixed,
        new_examples=[row for row in rows if row.state == "new"],
        fixed_examples=[row for row in rows if row.state == "fixed"],
    )
