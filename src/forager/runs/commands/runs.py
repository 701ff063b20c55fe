"""`forager runs`: the crawls that were run, newest first."""

from typing import Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home, Limit
from forager.cli.help import Command
from forager.cli.start import begin, run_query
from forager.cli.table import color_cell, number, say_more, wrap_column

Row = dict[str, Any]


def register(app: typer.Typer) -> None:
    app.command("runs", cls=Command, rich_help_panel="Look")(runs)


def runs(limit: Limit = 20, as_json: AsJson = False, home: Home = None) -> None:
    """List the crawls that were run, newest first."""
    from forager.runs import queries as run_queries

    rows = run_query(begin(home=home), "runs", lambda connection: run_queries.list_runs(connection, limit=limit))
    if as_json:
        return output.write_json_list(rows)
    now = clock.now()
    table.write(
        (
            number("run"),
            "status",
            "started",
            number("took"),
            number("pages"),
            number("ok"),
            number("read"),
            wrap_column("seeds"),
        ),
        [
            (
                str(row["id"]),
                color_cell(row["status"]),
                words.format_relative(row["started_at"], now),
                words.duration(((row["ended_at"] or now) - row["started_at"]).total_seconds()),
                words.count(row["pages_done"]),
                words.count(row["pages_ok"]),
                words.size(row["bytes"]),
                words.clean(_seeds(row["spec"])),
            )
            for row in rows
        ],
    )
    return say_more(rows, limit, "runs", "Nothing was crawled yet. Try: forager crawl https://example.com")


def _seeds(spec: Row) -> str:
    seeds: list[str] = spec.get("seeds", [])
    if not seeds:
        return spec.get("seeds_digest") or ""
    more = (spec.get("seeds_total") or len(seeds)) - 3
    return ", ".join(seeds[:3]) + (f" and {words.count(more)} more" if more > 0 else "")
