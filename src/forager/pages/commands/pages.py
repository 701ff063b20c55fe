"""`forager pages`: pages with their latest visit."""

from typing import Annotated, Any

import typer

from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, DomainName, Home, Limit, PageStatus
from forager.cli.format import short_url, visit_result
from forager.cli.help import Command
from forager.cli.start import begin, run_query
from forager.cli.table import color_cell, number, say_more, text_column, wrap_column
from forager.frontier.models import OutcomeKind

Row = dict[str, Any]


def register(app: typer.Typer) -> None:
    app.command("pages", cls=Command, rich_help_panel="Look")(pages)


def pages(
    *,
    domain: DomainName = None,
    status: Annotated[PageStatus | None, typer.Option(help="Only pages in this state.")] = None,
    outcome: Annotated[OutcomeKind | None, typer.Option(help="Only pages whose latest visit ended so.")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List pages with their latest visit."""
    from forager.pages import queries as page_queries

    async def found(connection: Any) -> list[Row]:
        rows = await page_queries.list_pages(connection, domain=domain, status=status, outcome=outcome, limit=limit)
        return await page_queries.add_latest_visits(connection, rows)

    rows = run_query(begin(home=home), "pages", found)
    if as_json:
        return output.write_json_list(rows)
    table.write(
        ("status", number("code"), number("depth"), "lang", number("links"), wrap_column("url"), text_column("title")),
        [
            (
                color_cell(row["status"]),
                visit_result(row),
                str(row["depth"]),
                row["language"] or "–",
                "–" if row["links_count"] is None else words.count(row["links_count"]),
                short_url(row["url"], domain),
                words.clean(row["title"]),
            )
            for row in rows
        ],
    )
    return say_more(rows, limit, "pages", "No page fits. `forager pages` without filters shows what is known.")
