"""`forager storage`: how much room tables and files take, how fast they grow, and what the tables need."""

from dataclasses import astuple
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command
from forager.cli.start import begin, require_bucket, run_query
from forager.cli.table import number, text_column

if TYPE_CHECKING:
    from forager.storage.usage import Report, Table

SMALL_BYTES = 1_000_000
All = Annotated[bool, typer.Option("--all", help="Small tables too.")]


def register(app: typer.Typer) -> None:
    app.command("storage", cls=Command, rich_help_panel="Look after it")(storage)


def storage(every: All = False, as_json: AsJson = False, home: Home = None) -> None:
    """Show the space that tables and files use, and which tables need maintenance."""
    from forager.backup.service import stored_folders
    from forager.images.service import image_rules
    from forager.retention.service import rules_of
    from forager.storage.usage import report

    settings = begin(home=home)
    require_bucket(settings)
    folders, every_s = stored_folders(settings), settings.refresh.interval

    async def look(conn: Any) -> "Report":
        rules = [*rules_of(settings), *await image_rules(conn, settings)]
        return await report(conn, folders, settings.home, rules, refresh_every_s=every_s)

    found = run_query(settings, "storage", look)
    if as_json:
        output.write_json(found.as_document())
        return
    _write_tables(found, every=every)
    output.console().print()
    rows = [(each.name, words.count(each.files), words.size(each.size_bytes), str(each.path)) for each in found.folders]
    table.write(("files", number("count"), number("size"), text_column("where")), rows)
    output.console().print()
    _write_rules(found)
    for line in found.advice:
        output.say(line)
    if settings.storage.bucket:
        output.say(f"New bodies and images go to {settings.storage.bucket}; those are not in the sizes above.")
    _sum_up(found)


def _write_tables(found: "Report", *, every: bool) -> None:
    shown = [each for each in found.tables if every or each.states or each.size_bytes >= SMALL_BYTES]
    numbers = ("size", "rows", "pending", "completed", "failed", "growth a day", "in 30 d")
    table.write(["table", *[number(title) for title in numbers]], [_row(each) for each in shown])
    if rest := [each for each in found.tables if each not in shown]:
        size = words.size(sum(each.size_bytes for each in rest))
        output.say(f"And {words.things(len(rest), 'smaller table')} ({size}); --all shows them.")


def _row(each: "Table") -> tuple[str, ...]:
    states = [words.count(value) for value in astuple(each.states)] if each.states else ["", "", ""]
    rows = words.count(each.rows) if each.states else f"~{words.count(each.rows)}"
    return (
        each.name,
        words.size(each.size_bytes),
        rows,
        *states,
        _format_growth(each.growth_bytes),
        _format_growth(each.month_growth_bytes),
    )


def _write_rules(found: "Report") -> None:
    """`forager archive --dry-run` counts what would leave for cold files; that takes a while."""
    table.write(
        (text_column("what stays"), number("for"), "then", number("due now"), "setting"),
        [
            (
                rule.what,
                words.duration(rule.kept_s) if rule.kept_s else "for good",
                rule.then,
                "" if rule.due is None else words.count(rule.due),
                rule.setting,
            )
            for rule in found.rules
        ],
    )


def _format_growth(growth_bytes: float | None) -> str:
    if growth_bytes is None:
        return "–"
    return f"{'-' if growth_bytes < 0 else ''}{words.size(abs(growth_bytes))}"


def _sum_up(found: "Report") -> None:
    parts = [f"The database takes {words.size(found.database_bytes)}"]
    if found.growth_bytes is not None:
        parts.append(f"grows {_format_growth(found.growth_bytes)} a day")
    if found.month_growth_bytes is not None:
        parts.append(f"grew {_format_growth(found.month_growth_bytes)} in 30 days")
    if found.cold_rows:
        parts.append(f"{words.things(found.cold_rows, 'visit')} in archive files")
    if found.free_bytes is not None:
        parts.append(f"{words.size(found.free_bytes)} free on the disk")
    output.say("; ".join(parts) + ".")
