"""`pages`, `tasks`, `runs`: looking at what is known. Reads only; what several commands look like is here too."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from forager import clock
from forager.cli import output, table, words
from forager.cli.flags import AsJson, DomainName, Home, Limit, PageStatus
from forager.cli.help import Command
from forager.cli.start import ask, begin
from forager.cli.table import Cell, number, prose, wide
from forager.errors import BadUrlError, UsageError
from forager.records import OutcomeKind

Row = dict[str, Any]
COLOURS = {
    **dict.fromkeys(("active", "fetched", "success", "completed", "finished", "crawling", "running"), "green"),
    **dict.fromkeys(("blocked", "blocked_robots", "blocked_4xx", "gone", "stopped", "paused"), "yellow"),
    **dict.fromkeys(("unreachable", "failed", "timeout", "blocked_5xx"), "red"),
    **dict.fromkeys(("exhausted", "cancelled"), "dim"),
}


def register(app: typer.Typer) -> None:
    for name, function in (
        ("pages", pages),
        ("runs", runs),
    ):
        app.command(name, cls=Command, rich_help_panel="Look")(function)


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
    from forager.control import look

    rows = ask(
        begin(home=home),
        "pages",
        lambda connection: look.list_pages(connection, domain=domain, status=status, outcome=outcome, limit=limit),
    )
    if as_json:
        return output.write_json_list(rows)
    table.write(
        ("status", number("code"), number("depth"), "lang", number("links"), wide("url"), prose("title")),
        [
            (
                color_cell(row["status"]),
                _ending(row),
                str(row["depth"]),
                row["language"] or "–",
                "–" if row["links_count"] is None else words.count(row["links_count"]),
                _shown(row["url"], domain),
                words.clean(row["title"]),
            )
            for row in rows
        ],
    )
    return say_more(rows, limit, "pages", "No page fits. `forager pages` without filters shows what is known.")


class TaskFilter(NamedTuple):
    """What `forager tasks` was asked for; None: whatever it is."""

    domain: str | None = None
    url: str | None = None
    run: int | None = None
    is_open: bool | None = None
    status: str | None = None
    batch: str | None = None
    kind: str | None = None
    error: str | None = None


def tasks(wanted: TaskFilter, *, limit: int, as_json: bool, home: Path | None) -> None:
    """The command is in `tasks.py`, with its verbs."""
    from forager.control import look
    from forager.control.batches import find_batch

    domain, url = wanted.domain, wanted.url
    filters = wanted._asdict() | {"url": _normal(url) if url is not None else None}

    async def found(connection: Any) -> list[Row]:
        batch = (await find_batch(connection, wanted.batch))["id"] if wanted.batch is not None else None
        return await look.list_tasks(connection, **filters | {"batch": batch}, limit=limit)

    rows = ask(begin(home=home), "tasks", found)
    if as_json:
        return output.write_json_list(rows)
    now = clock.now()
    through = any(row["proxy_id"] for row in rows)
    table.write(
        (
            *(number("task"), number("run"), "outcome", number("code"), number("try"), number("time"), "when"),
            *((number("proxy"),) if through else ()),
            wide("url"),
        ),
        [
            (
                str(row["id"]),
                str(row["run_id"] or "–"),
                color_cell(row["outcome"] or row["status"]),
                _ending(row),
                str(row["retry_count"] + 1),
                "–" if row["response_time_ms"] is None else f"{words.count(row['response_time_ms'])} ms",
                words.age(row["completed_at"] or row["locked_at"] or row["scheduled_for"], now),
                *((str(row["proxy_id"] or "–"),) if through else ()),
                _shown(row["url"], domain or url),
            )
            for row in rows
        ],
    )
    return say_more(rows, limit, "tasks", "No task fits. `forager tasks` without filters shows them all.")


def runs(limit: Limit = 20, as_json: AsJson = False, home: Home = None) -> None:
    """List the crawls that were run, newest first."""
    from forager.control import look

    rows = ask(begin(home=home), "runs", lambda connection: look.list_runs(connection, limit=limit))
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
            wide("seeds"),
        ),
        [
            (
                str(row["id"]),
                color_cell(row["status"]),
                words.age(row["started_at"], now),
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


def _ending(row: Row) -> str:
    """The status code, or the error where there was no answer."""
    return str(row["status_code"]) if row["status_code"] is not None else words.plain_reason(row["error_code"]) or "–"


def _shown(url: str, domain: str | None) -> str:
    """Without scheme and host where all rows share them."""
    return words.clean(url if domain is None else "/" + url.split("/", 3)[3])


def _seeds(spec: Row) -> str:
    seeds: list[str] = spec.get("seeds", [])
    if not seeds:
        return spec.get("seeds_digest") or ""
    more = (spec.get("seeds_total") or len(seeds)) - 3
    return ", ".join(seeds[:3]) + (f" and {words.count(more)} more" if more > 0 else "")


def _normal(url: str) -> str:
    from forager.urls import normalize

    try:
        return normalize(url)
    except BadUrlError as error:
        raise UsageError(str(error)) from None


def color_cell(word: str) -> Cell:
    return Cell(word, COLOURS.get(word, "cyan"))


def say_more(rows: Sequence[Row], limit: int, things: str, when_none: str) -> None:
    if not rows:
        output.say(when_none)
    elif len(rows) == limit:
        output.say(f"The first {words.things(limit, things.removesuffix('s'))}; --limit shows more.")
