"""`forager records`: lists what extractors found, and what became of one record."""

from datetime import datetime
from typing import Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.durations import parse_past_time
from forager.cli.flags import AsJson, DomainName, Home, Limit
from forager.cli.help import Command
from forager.cli.start import begin, run_query
from forager.cli.table import Cell, number, say_more, text_column, wrap_column
from forager.errors import UsageError
from forager.records.commands.extract import shown

Row = dict[str, Any]
MOST_FIELDS = 6
LONGEST_FIELD = 60
Where = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="FIELD=VALUE", help="Also !=, ~ (contains), > and <; repeatable, all must hold."),
]


def register(app: typer.Typer) -> None:
    app.command("records", cls=Command, rich_help_panel="Look")(records)


def records(
    *,
    domain: DomainName = None,
    kind: Annotated[str | None, typer.Option(metavar="KIND", help="Only of this kind: recipe.")] = None,
    extractor: Annotated[str | None, typer.Option(metavar="NAME", help="Only of this extractor.")] = None,
    where: Where = None,
    since: Annotated[
        str | None, typer.Option(metavar="WHEN", help="Added, changed or lost since: 2026-01-31, or 7d, 12h ago.")
    ] = None,
    gone: Annotated[bool | None, typer.Option("--gone/--present", help="Only those that are gone, or are not.")] = None,
    problems: Annotated[bool, typer.Option("--problems", help="Only with missing or unreadable fields.")] = False,
    history: Annotated[
        int | None, typer.Option("--history", metavar="ID", min=1, help="Show one record and what became of it.")
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List what extractors found; show one record's history."""
    from forager.records import queries
    from forager.records.conditions import parse_conditions

    if history is not None:
        if domain or kind or extractor or where or since or gone is not None or problems:
            raise UsageError("--history names its record already; leave out the filters.")
        return _show_history(history, as_json=as_json, home=home)
    now = clock.now()
    wanted = queries.RecordFilter(
        domain=domain,
        kind=kind,
        extractor=extractor,
        since=parse_past_time(since, now) if since else None,
        is_present=None if gone is None else not gone,
        is_complete=False if problems else None,
        where=parse_conditions(where or []),
    )
    rows = run_query(begin(home=home), "records", lambda conn: queries.list_records(conn, wanted, limit=limit))
    if as_json:
        return output.write_json_list(rows)
    table.write(
        (number("id"), "kind", wrap_column("domain"), text_column("fields"), "changed", wrap_column("url")),
        [_listed(row, now) for row in rows],
    )
    return say_more(rows, limit, "records", "No record matches. `forager extractors` shows what is looked for.")


def _listed(row: Row, now: datetime) -> tuple[str | Cell, ...]:
    fields = [f"{name}: {shown(value)[:LONGEST_FIELD]}" for name, value in row["fields"].items() if value is not None]
    told = "; ".join(fields[:MOST_FIELDS])
    state = "gone " if row["gone_at"] else ""
    return (
        str(row["id"]),
        row["kind"],
        words.clean(row["domain"]),
        Cell(words.clean(told), "yellow" if row["problems"] else ""),
        Cell(state + words.format_relative(row["changed_at"], now), "dim" if row["gone_at"] else ""),
        words.clean(row["url"]),
    )


def _show_history(record: int, *, as_json: bool, home: Any) -> None:
    from forager.records import queries

    async def both(conn: Any) -> tuple[Row, list[Row]]:
        return await queries.find_record(conn, record), await queries.list_history(conn, record)

    found, changes = run_query(begin(home=home), "records", both)
    if as_json:
        return output.write_json(found | {"changes": changes})
    screen = output.console()
    key = f"  key {found['key']}" if found["key"] else ""
    screen.print(words.clean(f"{found['kind']} by {found['extractor']}{key}  {found['url']}"), markup=False)
    table.write(
        (text_column("field"), wrap_column("value"), text_column("where")),
        [
            (name, words.clean(shown(value)), words.clean(found["evidence"].get(name, "")))
            for name, value in found["fields"].items()
        ],
    )
    table.write(
        ("when", "what", "field", wrap_column("was"), wrap_column("is"), number("task")),
        [
            (
                f"{row['seen_at']:%Y-%m-%d %H:%M}",
                "read again" if row["is_correction"] else row["event"],
                row["field"] or "",
                words.clean(shown(row["old_value"])) if row["field"] else "",
                words.clean(shown(row["new_value"])) if row["field"] else "",
                str(row["task_id"] or "–"),
            )
            for row in changes
        ],
    )
    return None
