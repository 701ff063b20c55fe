"""`forager workers`: lists workers with host, labels, and what each works on. Read only."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home, Limit
from forager.cli.help import Command
from forager.cli.start import begin, run_query
from forager.cli.table import Cell, Note, extra, number, say_more, wrap_column
from forager.engine.models import describe_pause

Row = dict[str, Any]
URLS_SHOWN = 3


COLUMNS = (
    number("worker"),
    number("run"),
    "state",
    number("domains"),
    number("tasks"),
    extra("labels"),
    "heard from",
    wrap_column("host"),
    extra(number("pid")),
)


def register(app: typer.Typer) -> None:
    app.command("workers", cls=Command, rich_help_panel="Look")(workers)


def workers(
    *,
    everyone: Annotated[bool, typer.Option("--all", help="Also those that ended.")] = False,
    limit: Limit = 50,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List worker processes, with their labels and leases."""
    from forager.workers import queries as worker_queries

    settings = begin(home=home)
    rows = run_query(
        settings,
        "workers",
        lambda connection: worker_queries.list_workers(
            connection,
            dead_after_s=settings.worker.dead_after,
            status=None if everyone else "running",
            limit=limit,
        ),
    )
    if as_json:
        return output.write_json_list(rows)
    now = clock.now()
    table.write(COLUMNS, list(_lines(rows, now)))
    return say_more(
        rows, limit, "workers", "No worker runs; `forager up`, `forager crawl` and `forager worker` start some."
    )


def _lines(rows: list[Row], now: datetime) -> Iterator[tuple[str | Cell, ...] | Note]:
    """Each worker, with some of the URLs that it works on."""
    for row in rows:
        yield _line(row, now)
        for task in row["current"][:URLS_SHOWN]:
            yield Note(f"  └─ {words.clean(task['url'])} ({words.format_relative(task['locked_at'], now)})")
        if row["tasks"] > URLS_SHOWN:
            more = words.count(row["tasks"] - URLS_SHOWN)
            yield Note(f"     and {more} more: forager tasks --worker {row['id']}")


def _line(row: Row, now: datetime) -> tuple[str | Cell, ...]:
    return (
        str(row["id"]),
        str(row["run_id"] or "–"),
        state_of(row),
        words.count(row["domains"]),
        words.count(row["tasks"]),
        words.clean(", ".join(row["labels"])) or "–",
        words.format_relative(row["heartbeat_at"], now),
        words.clean(row["host"].partition("/")[0]),
        str(row["pid"]),
    )


def state_of(row: Row) -> Cell:
    """Who was sent away and is silent is silent: nobody knows whether it heard."""
    if row["status"] != "running":
        return Cell(row["status"], "dim" if row["status"] == "stopped" else "red")
    if row["is_silent"]:
        return Cell("silent", "red")
    if row["pause_reason"]:
        says = describe_pause(row["pause_reason"], row["pause_detail"])
        return Cell(f"paused: {words.clean(says)}", "red")
    return Cell("sent away", "yellow") if row["drain_asked_at"] else Cell("running", "green")
