"""`forager export`: everything as JSON lines, CSV or Parquet, streamed. A file appears when it is whole."""

import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output
from forager.cli.durations import parse_past_time
from forager.cli.flags import DomainName, Home, Output, PageStatus, TaskStatus
from forager.cli.help import Command
from forager.cli.progress import open_progress
from forager.cli.start import begin, run_query
from forager.errors import UsageError
from forager.export.commands import compression as packing
from forager.export.commands.compression import Packing
from forager.export.commands.writers import Format, check_writable, write_file
from forager.images.models import ImageStatus

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.export.rows import Filters


class Extra(StrEnum):
    """Columns that are exported only where they are asked for."""

    TEXT = "text"


class ExportKind(StrEnum):
    PAGES = "pages"
    STRUCTURED_DATA = "structured-data"
    LINKS = "links"
    PRODUCTS = "products"
    PRICES = "prices"
    IMAGES = "images"
    TASKS = "tasks"
    RECORDS = "records"
    ITEMS = "items"
    WARC = "warc"


STATES: dict[ExportKind, type[StrEnum]] = {
    ExportKind.PAGES: PageStatus,
    ExportKind.TASKS: TaskStatus,
    ExportKind.IMAGES: ImageStatus,
}


def register(app: typer.Typer) -> None:
    app.command("export", cls=Command, rich_help_panel="Look")(export)


def export(
    what: ExportKind,
    *,
    format: Annotated[Format | None, typer.Option(help="By default from the file name, else jsonl.")] = None,
    file: Output = None,
    compress: Annotated[
        bool, typer.Option("--compress", help="Compress with gzip; file names that end in .gz and .zst imply it.")
    ] = False,
    domain: DomainName = None,
    status: Annotated[
        str | None, typer.Option(help="Only pages, tasks or images in this state.", metavar="STATUS")
    ] = None,
    run: Annotated[int | None, typer.Option(help="Only what this run visited.", metavar="N")] = None,
    since: Annotated[str | None, typer.Option(help="Only since: 2026-01-31, or 7d, 12h ago.", metavar="WHEN")] = None,
    add: Annotated[
        Extra | None, typer.Option("--with", help="Of pages: one more column, the main text as Markdown.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
    home: Home = None,
) -> None:
    """Export pages, links, products and more as JSON Lines, CSV or Parquet; stored bodies as one WARC file."""
    from forager.export.rows import Filters

    reject_invalid(what, status)
    if add is not None and what is not ExportKind.PAGES:
        raise UsageError(f"Only pages have a text: forager export pages --with {add}.")
    if what is ExportKind.WARC:
        check_warc_options(file, is_formed=format is not None or compress)
        filters = Filters(domain, None, run, parse_past_time(since, clock.now()) if since is not None else None)
        export_warc(begin(home=home), filters, file, is_quiet=quiet)
        return
    chosen = format or Format.of(file)
    packed = packing.of(file) or (Packing.GZIP if compress else Packing.NONE)
    check_writable(file, chosen, packed)
    reject_terminal_output(file, chosen, packed)
    filters = Filters(domain, status, run, parse_past_time(since, clock.now()) if since is not None else None)
    settings = begin(home=home)
    target = _Target(file, chosen, packed, is_quiet=quiet)
    rows = run_query(
        settings, "export", lambda connection: _write(connection, what, filters, target, settings if add else None)
    )
    if file not in {None, "-"} and not quiet:
        one = "page" if what is ExportKind.STRUCTURED_DATA else what.value.removesuffix("s")
        output.say(f"{words.things(rows, one)} written to {file}.")


def reject_invalid(what: ExportKind, status: str | None) -> None:
    """Before anything is opened: a state this kind of thing cannot be in is a typing error, not an empty file."""
    if status is None:
        return
    if what not in STATES:
        raise UsageError(f"{what.capitalize()} have no status; filter them with --domain, --run or --since.")
    states = [state.value for state in STATES[what]]
    if status not in states:
        raise UsageError(f"{status!r} is no status of {what.value}; it is one of {', '.join(states)}.")


def check_warc_options(file: str | None, *, is_formed: bool) -> None:
    if is_formed:
        raise UsageError("A WARC file is compressed as its format wants it; leave --format and --compress away.")
    if file is None or (file != "-" and not file.endswith(".warc.gz")):
        raise UsageError("Name a file that ends with .warc.gz, or - for standard output: forager export warc -o FILE.")
    output.check_writable(file)


def export_warc(settings: "Settings", filters: "Filters", file: str | None, *, is_quiet: bool) -> None:
    from pathlib import Path

    from forager.export.warc import Count, stream_warc
    from forager.storage.factory import open_readonly_store

    load, count = open_readonly_store(settings).load, Count()
    name = Path(file or "").name if file not in {None, "-"} else "forager.warc.gz"

    async def write(connection: Any) -> None:
        with output.open_output(file) as target, open_progress("exporting bodies", 0, is_quiet=is_quiet) as show:
            async for piece in stream_warc(connection, load, name, filters, count):
                target.write(piece)
                show(count.records)

    run_query(settings, "export", write)
    if count.missing:
        output.say(f"{words.things(count.missing, 'body', 'bodies')} could not be read from the store.")
    if file != "-" and not is_quiet:
        output.say(f"{words.things(count.records, 'record')} written to {file}.")


def reject_terminal_output(file: str | None, chosen: Format, packed: Packing) -> None:
    if file in {None, "-"} and (chosen is Format.PARQUET or packed) and sys.stdout.isatty():
        raise UsageError("This is nothing to read on a screen; name a file with -o, or pipe it on.")


@dataclass(frozen=True, slots=True)
class _Target:
    """Where rows are written, and how."""

    file: str | None
    chosen: Format
    packed: Packing
    is_quiet: bool


async def _write(
    connection: Any, what: ExportKind, filters: "Filters", target: _Target, with_texts: "Settings | None"
) -> int:
    """Writes all rows, with texts from the store of these settings if they are given."""
    from forager.export import rows as control
    from forager.export.texts import COLUMN, add_texts
    from forager.storage.factory import open_readonly_store

    kind = cast("control.Kind", what.value)
    expected = await control.estimate(connection, kind, filters)
    types = await control.column_types(connection, kind)
    rows = control.stream(connection, kind, filters)
    if with_texts is not None:
        rows, types = add_texts(connection, rows, open_readonly_store(with_texts)), {**types, COLUMN: "text"}
    with open_progress(f"exporting {what.value}", expected, is_quiet=target.is_quiet) as show:
        return await write_file(target.file, rows, types, chosen=target.chosen, packed=target.packed, on_rows=show)
