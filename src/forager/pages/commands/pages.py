"""`forager pages`: pages with their latest visit."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.durations import parse_past_time
from forager.cli.flags import AsJson, DomainName, Home, Limit, PageStatus, Parser, Source, StatusCode, UrlPart
from forager.cli.format import short_url, visit_result
from forager.cli.help import Command
from forager.cli.start import begin, run_query
from forager.cli.table import color_cell, extra, number, say_more, text_column, wrap_column
from forager.frontier.outcome_kind import OutcomeKind

Row = dict[str, Any]


class By(StrEnum):
    FOUND = "found"
    NEWEST = "newest"
    READ = "read"
    CHANGED = "changed"
    DEPTH = "depth"
    PRIORITY = "priority"


ORDERS = {
    By.FOUND: "found",
    By.NEWEST: "-found",
    By.READ: "-fetched_at",
    By.CHANGED: "-changed_at",
    By.DEPTH: "depth",
    By.PRIORITY: "priority",
}


def register(app: typer.Typer) -> None:
    app.command("pages", cls=Command, rich_help_panel="Look")(pages)


def pages(
    *,
    domain: DomainName = None,
    status: Annotated[PageStatus | None, typer.Option(help="Only pages in this state.")] = None,
    outcome: Annotated[OutcomeKind | None, typer.Option(help="Only pages whose latest visit ended so.")] = None,
    code: StatusCode = None,
    error: Annotated[str | None, typer.Option(help="Only whose latest visit ended with it.", metavar="CODE")] = None,
    run: Annotated[int | None, typer.Option(help="Only whose latest visit was of this run.", metavar="N")] = None,
    contains: UrlPart = None,
    language: Annotated[str | None, typer.Option(help="Only in this language.", metavar="LANG")] = None,
    seeds: Annotated[bool | None, typer.Option("--seeds/--no-seeds", help="Only seeds, or only others.")] = None,
    depth: Annotated[int | None, typer.Option(min=0, max=32_767, help="Only so deep.", metavar="N")] = None,
    priority: Annotated[int | None, typer.Option(min=1, max=10, help="Only with this priority.", metavar="N")] = None,
    source: Source = None,
    parser: Parser = None,
    since: Annotated[str | None, typer.Option(help="Only read since: 2026-01-31, or 12h.", metavar="WHEN")] = None,
    until: Annotated[str | None, typer.Option(help="Only read before.", metavar="WHEN")] = None,
    found_since: Annotated[str | None, typer.Option(help="Only found since.", metavar="WHEN")] = None,
    found_until: Annotated[str | None, typer.Option(help="Only found before.", metavar="WHEN")] = None,
    changed_since: Annotated[str | None, typer.Option(help="Only changed since.", metavar="WHEN")] = None,
    changed_until: Annotated[str | None, typer.Option(help="Only changed before.", metavar="WHEN")] = None,
    sort: Annotated[By | None, typer.Option(help="The order; depth and priority need --domain.")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List pages with their latest visit."""
    from forager.pages import queries as page_queries

    now = clock.now()
    wanted = page_queries.PageFilter(
        domain=domain,
        status=status,
        language=language,
        is_seed=seeds,
        outcome=outcome,
        status_code=code,
        error_code=error,
        run=run,
        url_part=contains,
        depth=depth,
        priority=priority,
        source=source,
        parser=parser,
        discovered_since=_past(found_since, now),
        discovered_until=_past(found_until, now),
        fetched_since=_past(since, now),
        fetched_until=_past(until, now),
        changed_since=_past(changed_since, now),
        changed_until=_past(changed_until, now),
    )

    async def found(connection: Any) -> list[Row]:
        order = ORDERS[sort] if sort is not None else None
        rows = (await page_queries.list_pages(connection, wanted, sort=order, limit=limit)).rows
        shown = [{name: value for name, value in row.items() if name != "url_hash"} for row in rows]
        return await page_queries.add_latest_visits(connection, shown)

    rows = run_query(begin(home=home), "pages", found)
    if as_json:
        return output.write_json_list(rows)
    now = clock.now()
    table.write(
        (
            *("status", number("code"), extra(number("depth")), extra("lang"), extra(number("links"))),
            *(extra(number("time")), extra("visited"), wrap_column("url"), text_column("title")),
        ),
        [
            (
                color_cell(row["status"]),
                visit_result(row),
                str(row["depth"]),
                row["language"] or "–",
                "–" if row["links_count"] is None else words.count(row["links_count"]),
                "–" if row["response_time_ms"] is None else f"{words.count(row['response_time_ms'])} ms",
                words.format_relative(row["completed_at"], now),
                short_url(row["url"], domain),
                words.clean(row["title"]),
            )
            for row in rows
        ],
    )
    return say_more(rows, limit, "pages", "No page matches. `forager pages` without filters shows what is known.")


def _past(text: str | None, now: datetime) -> datetime | None:
    return parse_past_time(text, now) if text is not None else None
