"""`forager captures`: every stored capture of a URL, a prefix, a host or a domain, as CDX servers list them."""

import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home, Limit
from forager.cli.help import Command
from forager.cli.start import begin, run_query
from forager.cli.table import number, text_column, wrap_column
from forager.errors import UsageError

AT_ONCE = 500
Row = dict[str, Any]


class Match(StrEnum):
    """Spelled out here because `--help` must not load the feature."""

    EXACT = "exact"
    PREFIX = "prefix"
    HOST = "host"
    DOMAIN = "domain"


def register(app: typer.Typer) -> None:
    app.command("captures", cls=Command, rich_help_panel="Look")(captures)


def captures(
    url: Annotated[str, typer.Argument(metavar="URL", help="A URL, `example.org/docs/*`, or `*.example.org`.")],
    *,
    match: Annotated[Match, typer.Option(help="What the URL stands for.")] = Match.EXACT,
    since: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Only since: 20260131, or 2026-01-31T12:00.")
    ] = None,
    until: Annotated[str | None, typer.Option("--to", metavar="TIME", help="Only up to and with it.")] = None,
    limit: Limit = 100,
    as_json: AsJson = False,
    as_cdx: Annotated[bool, typer.Option("--cdx", help="Print lines of a CDX index.")] = False,
    home: Home = None,
) -> None:
    """List the stored captures of a URL, a prefix, a host or a domain."""
    from forager.captures import cdx
    from forager.captures.models import MatchType
    from forager.captures.queries import CaptureFilter

    if as_json and as_cdx:
        raise UsageError("Choose one of --json and --cdx.")
    times = []
    for name, text in (("--from", since), ("--to", until)):
        try:
            times.append(cdx.parse_time(text, is_end=name == "--to") if text is not None else None)
        except ValueError:
            raise UsageError(f"{name} {text!r} is no time; write it like 20260131 or 2026-01-31T12:00.") from None
    wanted = CaptureFilter(url, MatchType(match), *times)
    settings = begin(home=home)
    rows, is_more = run_query(settings, "captures", lambda conn: _read(settings, conn, wanted, limit))
    if as_cdx:
        sys.stdout.writelines(f"{row['line']}\n" for row in rows)
    elif as_json:
        output.write_json_list([{name: value for name, value in row.items() if name != "line"} for row in rows])
    elif rows:
        _write(rows)
    if is_more:
        output.say(f"There are more than {words.count(limit)}; --limit shows more of them.")
    elif not rows:
        output.say("Nothing of it is stored. `forager domain NAME set --keep snapshot` keeps bodies from now on.")


async def _read(settings: Any, conn: Any, wanted: Any, limit: int) -> tuple[list[Row], bool]:
    from forager.captures import cdx, queries, service
    from forager.storage.body_reader import BodyReader
    from forager.storage.factory import get_location

    reader, after = BodyReader(get_location(settings)), None
    rows: list[Row] = []
    while True:
        found = await queries.list_captures(conn, wanted, after, limit=min(AT_ONCE, limit + 1 - len(rows)))
        for each in await service.describe(reader, found.rows):
            row = cdx.to_row(each)
            rows.append({**row.document(), "task_id": each.capture.task_id, "line": row.line()})
        after = found.resume_at
        if after is None or len(rows) > limit:
            return rows[:limit], len(rows) > limit


def _write(rows: list[Row]) -> None:
    from forager.captures.cdx import parse_time

    shown = [
        (
            f"{parse_time(row['timestamp']):%Y-%m-%d %H:%M:%S}",
            str(row["task_id"]),
            str(row["statuscode"] or ""),
            row["mimetype"],
            words.size(row["length"]) if row["length"] is not None else "",
            (row["digest"] or "").removeprefix("sha256:")[:12],
            words.clean(row["original"]),
        )
        for row in rows
    ]
    columns = (
        *(text_column("fetched"), number("task"), number("code"), text_column("type"), number("stored")),
        *(text_column("hash"), wrap_column("url")),
    )
    table.write(columns, shown)
