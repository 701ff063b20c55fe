"""`forager export`: pages, links or tasks as JSON lines or CSV, streamed. A file appears only when it is whole."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from forager.cli import output, words
from forager.cli.flags import DomainName, Home, Output, PageStatus, TaskStatus
from forager.cli.help import Command
from forager.cli.start import ask, begin
from forager.cli.write import Format, write_rows
from forager.errors import UsageError


class What(StrEnum):
    PAGES = "pages"
    LINKS = "links"
    TASKS = "tasks"


def register(app: typer.Typer) -> None:
    app.command("export", cls=Command, rich_help_panel="Look")(export)


def export(
    what: What,
    *,
    format: Annotated[Format | None, typer.Option(help="By default from the file's ending, else jsonl.")] = None,
    file: Output = None,
    domain: DomainName = None,
    status: Annotated[str | None, typer.Option(help="Only pages or tasks in this state.", metavar="STATUS")] = None,
    run: Annotated[int | None, typer.Option(help="Only what this run visited.", metavar="N")] = None,
    home: Home = None,
) -> None:
    """Write all pages, links or tasks as JSON lines or CSV."""
    refuse_unfit(what, status, run)
    chosen = format or Format.of(file)
    if file is not None:
        output.refuse_unwritable(file)
    filters = {"domain": domain, "status": status, "run": run}
    rows = ask(begin(home=home), "export", lambda connection: _write(connection, what, chosen, file, filters))
    if file not in {None, "-"}:
        output.say(f"{words.things(rows, what.value.rstrip('s'))} written to {file}.")


def refuse_unfit(what: What, status: str | None, run: int | None) -> None:
    """Before anything is opened: a state this kind of thing cannot be in is a typing error, not an empty file."""
    if what is What.LINKS and (status is not None or run is not None):
        raise UsageError("Links have no status and no run; filter them with --domain.")
    states = [state.value for state in (PageStatus if what is What.PAGES else TaskStatus)]
    if status is not None and status not in states:
        raise UsageError(f"{status!r} is no status of {what.value}; it is one of {', '.join(states)}.")


async def _write(connection: Any, what: What, chosen: Format, file: str | None, filters: dict[str, Any]) -> int:
    from forager.control.export import COLUMNS, stream

    rows = stream(connection, what.value, **filters)
    with output.open_output(file) as target:
        return await write_rows(target, rows, chosen, COLUMNS[what.value])
