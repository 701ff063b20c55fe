"""`domains`, `domain`, `pages`, `tasks`, `runs`: looking at what is known. Reads only."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from forager import clock
from forager.cli import output, table, words
from forager.cli.flags import AsJson, DomainName, DomainStatus, Home, Limit, PageStatus
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
        ("domains", domains),
        ("domain", domain),
        ("pages", pages),
        ("tasks", tasks),
        ("runs", runs),
    ):
        app.command(name, cls=Command, rich_help_panel="Look")(function)


def domains(
    status: Annotated[DomainStatus | None, typer.Option(help="Only domains in this state.")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List the domains: state, pages, what is left, errors."""
    from forager.control import look

    rows = ask(
        begin(home=home), "domains", lambda connection: look.list_domains(connection, status=status, limit=limit)
    )
    if as_json:
        return output.write_json_list(rows)
    now = clock.now()
    table.write(
        (
            wide("domain"),
            "status",
            number("crawled"),
            number("known"),
            number("waiting"),
            number("errors"),
            "last",
            "why",
        ),
        [
            (
                words.clean(row["name"]),
                _coloured("leased" if row["is_leased"] else row["status"]),
                words.count(row["pages_crawled"]),
                words.count(row["pages_discovered"]),
                words.count(row["frontier_size"]),
                Cell(words.count(row["total_error_count"]), "red" if row["total_error_count"] else "dim"),
                words.age(row["last_crawled_at"], now),
                words.plain_reason(row["block_reason_code"]),
            )
            for row in rows
        ],
    )
    return _say_more(rows, limit, "domains", "Nothing is known yet. Try: forager crawl https://example.com")


def domain(
    name: Annotated[str, typer.Argument(help="A name or a URL.")], as_json: AsJson = False, home: Home = None
) -> None:
    """Show one domain and how the visits to it ended."""
    from forager.cli.domain_card import write_card
    from forager.control import look

    card = ask(begin(home=home), "domain", lambda connection: look.describe_domain(connection, name))
    if as_json:
        output.write_json(card)
    else:
        write_card(card, clock.now())


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
                _coloured(row["status"]),
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
    return _say_more(rows, limit, "pages", "No page fits. `forager pages` without filters shows what is known.")


def tasks(
    *,
    domain: DomainName = None,
    url: Annotated[str | None, typer.Option(help="Only visits to this page.", metavar="URL")] = None,
    run: Annotated[int | None, typer.Option(help="Only of this run.", metavar="N")] = None,
    is_open: Annotated[
        bool | None, typer.Option("--open/--closed", help="Only the queue, or only the history.")
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List visits, newest first: the queue and the history."""
    from forager.control import look

    wanted = _normal(url) if url is not None else None
    rows = ask(
        begin(home=home),
        "tasks",
        lambda connection: look.list_tasks(
            connection, domain=domain, url=wanted, run=run, is_open=is_open, limit=limit
        ),
    )
    if as_json:
        return output.write_json_list(rows)
    now = clock.now()
    table.write(
        (number("task"), number("run"), "outcome", number("code"), number("try"), number("time"), "when", wide("url")),
        [
            (
                str(row["id"]),
                str(row["run_id"] or "–"),
                _coloured(row["outcome"] or row["status"]),
                _ending(row),
                str(row["retry_count"] + 1),
                "–" if row["response_time_ms"] is None else f"{words.count(row['response_time_ms'])} ms",
                words.age(row["completed_at"] or row["locked_at"] or row["scheduled_for"], now),
                _shown(row["url"], domain or url),
            )
            for row in rows
        ],
    )
    return _say_more(rows, limit, "tasks", "No task fits. `forager tasks` without filters shows them all.")


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
                _coloured(row["status"]),
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
    return _say_more(rows, limit, "runs", "Nothing was crawled yet. Try: forager crawl https://example.com")


def _ending(row: Row) -> str:
    """The status code, or the error where there was no answer."""
    return str(row["status_code"]) if row["status_code"] is not None else words.plain_reason(row["error_code"]) or "–"


def _shown(url: str, domain: str | None) -> str:
    """Without scheme and host where all rows share them."""
    return words.clean(url if domain is None else "/" + url.split("/", 3)[3])


def _seeds(spec: Row) -> str:
    seeds: list[str] = spec.get("seeds", [])
    return ", ".join(seeds[:3]) + (f" and {words.count(len(seeds) - 3)} more" if len(seeds) > 3 else "")


def _normal(url: str) -> str:
    from forager.urls import normalize

    try:
        return normalize(url)
    except BadUrlError as error:
        raise UsageError(str(error)) from None


def _coloured(word: str) -> Cell:
    return Cell(word, COLOURS.get(word, "cyan"))


def _say_more(rows: Sequence[Row], limit: int, things: str, when_none: str) -> None:
    if not rows:
        output.say(when_none)
    elif len(rows) == limit:
        output.say(f"The first {words.things(limit, things.removesuffix('s'))}; --limit shows more.")
