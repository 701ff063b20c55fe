"""The report of a site: as JSON, as one HTML file, and all findings as CSV."""

import contextlib
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from starlette.responses import StreamingResponse

from forager.api.access import User
from forager.api.database import exclusive_request, snapshot
from forager.api.errors import responses
from forager.api.reply import Stream, reply
from forager.api.types import Moment, PathName
from forager.errors import UsageError
from forager.export.csv_rows import line
from forager.site_audit import schemas as models
from forager.site_audit.checks import BY_NAME, CHECKS
from forager.site_audit.html import render_report
from forager.site_audit.rows import COLUMNS, as_document, list_rows
from forager.site_audit.service import MOST_EXAMPLES, find_site, list_findings, report_site

router = APIRouter(tags=["domains"])
REPORT_S = 300.0
WITHIN_S = 900.0
ROWS_AT_ONCE = 200
Since = Annotated[Moment | None, Query(description="Compare with what the visits until this moment found.")]
Examples = Annotated[int, Query(ge=1, le=1000, description="Of each finding.")]
CheckName = Annotated[str | None, Query(description="Only this finding.", examples=["broken_links"])]
HTML: dict[int | str, dict[str, Any]] = {200: {"description": "The report", "content": {"text/html": {}}}}
CSV: dict[int | str, dict[str, Any]] = {200: {"description": "The findings", "content": {"text/csv": {}}}}
SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"


@router.get("/api/domains/{domain}/report", response_model=models.SiteReport, responses=responses(404))
async def show_report(
    request: Request, _who: User, domain: PathName, compare: Since = None, examples: Examples = MOST_EXAMPLES
) -> Response:
    """What the owner of a site would want to repair: broken links, redirects, titles, canonicals, orphans and more."""
    async with exclusive_request(request), snapshot(request, REPORT_S) as conn:
        return reply(as_document(await report_site(conn, domain, since=compare, examples=examples)))


@router.get("/api/domains/{domain}/report.html", response_class=Response, responses={**HTML, **responses(404)})
async def download_report(
    request: Request, _who: User, domain: PathName, compare: Since = None, examples: Examples = MOST_EXAMPLES
) -> Response:
    """The report as one HTML file to pass on."""
    async with exclusive_request(request), snapshot(request, REPORT_S) as conn:
        found = await report_site(conn, domain, since=compare, examples=examples)
    name = "".join(letter if letter.isalnum() or letter in ".-" else "_" for letter in found.site)
    headers = {
        "Content-Disposition": f'attachment; filename="report-{name}.html"',
        "Content-Security-Policy": SANDBOX,
    }
    return Response(render_report(found), 200, headers, "text/html; charset=utf-8")


@router.get("/api/domains/{domain}/report.csv", response_class=StreamingResponse, responses={**CSV, **responses(404)})
async def download_findings(request: Request, _who: User, domain: PathName, finding: CheckName = None) -> Response:
    """All findings, a line for each URL that belongs to one."""
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(exclusive_request(request))
        conn = await stack.enter_async_context(snapshot(request, WITHIN_S))
        site = await find_site(conn, domain)
        if finding is not None and finding not in BY_NAME:
            raise UsageError(f"The findings are {', '.join(BY_NAME)}.", field="finding")
        close = stack.pop_all().aclose
    headers = {"Content-Disposition": 'attachment; filename="report.csv"'}
    return Stream(_lines(conn, site.id, finding), "text/csv; charset=utf-8; header=present", headers, close, WITHIN_S)


async def _lines(conn: Any, site_id: int, finding: str | None) -> AsyncIterator[bytes]:
    lines = [line(COLUMNS)]
    for check in CHECKS if finding is None else (BY_NAME[finding],):
        async for example in list_findings(conn, site_id, check):
            lines.extend(line(row) for row in list_rows(check, example))
            if len(lines) >= ROWS_AT_ONCE:
                yield ("\n".join(lines) + "\n").encode()
                lines.clear()
    yield "\n".join([*lines, ""]).encode()
