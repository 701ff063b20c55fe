"""`forager export`: everything as JSON lines, CSV or Parquet, streamed. A file appears when it is whole."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output
from forager.cli.flags import DomainName, Home, Output, PageStatus, TaskStatus
from forager.cli.help import Command
from forager.cli.progress import open_progress
from forager.cli.start import begin, run_action, run_query
from forager.errors import PluginFailedError, UsageError
from forager.export.commands import compression as packing
from forager.export.commands.bodies import ENDINGS, BodiesOrder, check_options, export_bodies
from forager.export.commands.changing import Done, Order, export_changing, since_of
from forager.export.commands.compression import Packing
from forager.export.commands.partitions import PartitionBy
from forager.export.commands.target import check_target, is_in_bucket, open_target
from forager.export.commands.writers import check_writable, choose_format, write_file
from forager.export.formats import Chosen, Format
from forager.images.models import ImageStatus

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.export.rows import Filters, Kind


T = TypeVar("T")


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
    WACZ = "wacz"


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
    format: Annotated[
        str | None,
        typer.Option(
            help="jsonl, csv, parquet, or one of a plug-in; by default from the file name, else jsonl.",
            metavar="FORMAT",
            autocompletion=lambda: list(Format),
        ),
    ] = None,
    file: Output = None,
    compress: Annotated[
        bool, typer.Option("--compress", help="Compress with gzip; file names that end in .gz and .zst imply it.")
    ] = False,
    domain: DomainName = None,
    status: Annotated[
        str | None, typer.Option(help="Only pages, tasks or images in this state.", metavar="STATUS")
    ] = None,
    run: Annotated[int | None, typer.Option(help="Only what this run visited.", metavar="N")] = None,
    since: Annotated[
        str | None,
        typer.Option(
            help="Only since: 2026-01-31, or 7d, 12h ago; `last`: new or changed since the last export to the target.",
            metavar="WHEN",
        ),
    ] = None,
    partition_by: Annotated[
        PartitionBy | None, typer.Option(help="Parquet files in folders by day or month; -o names the folder.")
    ] = None,
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
    if what in ENDINGS:
        check_options(what.value, file, is_formed=format is not None or compress or partition_by is not None)
        moment, is_since_last = since_of(since, clock.now())
        bodies = BodiesOrder(what.value, Filters(domain, None, run, moment), str(file), is_since_last)
        export_bodies(begin(home=home), bodies, is_quiet=quiet)
        return
    settings = begin(home=home)
    chosen = choose_format(Format.PARQUET if partition_by and format is None else format, file)
    packed = packing.of(file) or (Packing.GZIP if compress else Packing.NONE)
    moment, is_since_last = since_of(since, clock.now())
    filters = Filters(domain, status, run, moment)
    if is_since_last or partition_by is not None:
        kind = cast("Kind", what.value)
        order = Order(kind, filters, file or "-", is_since_last, partition_by, chosen, packed, add is not None, quiet)
        _report(_noting_failures(settings, lambda: export_changing(settings, order)), what, is_quiet=quiet)
        return
    if not is_in_bucket(file):
        check_writable(file, chosen, packed)
    reject_terminal_output(file, chosen, packed)
    check_target(settings, file)
    check_writable(None, chosen, packed)
    target = _Target(file, chosen, packed, is_quiet=quiet)

    async def write(connection: Any) -> int:
        return await _write(connection, what, filters, target, settings, has_texts=add is not None)

    rows = _noting_failures(settings, lambda: run_query(settings, "export", write))
    if file not in {None, "-"} and not quiet:
        _report(Done(rows, None, str(file), True), what, is_quiet=quiet)


def _noting_failures(settings: "Settings", work: Callable[[], T]) -> T:
    """Does the work; what a plug-in did wrong is recorded, for `forager plugins`."""
    try:
        return work()
    except PluginFailedError:
        from forager.plugins import registry, store

        errors = registry.current().take_errors()
        run_action(settings, "export", lambda conn: store.add_errors(conn, errors), noted=None)
        raise


def _report(done: Done, what: ExportKind, *, is_quiet: bool) -> None:
    if is_quiet:
        return
    one = "page" if what is ExportKind.STRUCTURED_DATA else what.value.removesuffix("s")
    new = "" if done.is_everything else " that are new or changed"
    files = f", {words.things(done.partitions, 'partition')}" if done.partitions is not None else ""
    output.say(f"{words.things(done.rows, one)}{new} written to {done.target}{files}.")


def reject_invalid(what: ExportKind, status: str | None) -> None:
    """Before anything is opened: a state this kind of thing cannot be in is a typing error, not an empty file."""
    if status is None:
        return
    if what not in STATES:
        raise UsageError(f"{what.capitalize()} have no status; filter them with --domain, --run or --since.")
    states = [state.value for state in STATES[what]]
    if status not in states:
        raise UsageError(f"{status!r} is no status of {what.value}; it is one of {', '.join(states)}.")


def reject_terminal_output(file: str | None, chosen: Chosen, packed: Packing) -> None:
    if file in {None, "-"} and (chosen is Format.PARQUET or packed) and sys.stdout.isatty():
        raise UsageError("This is nothing to read on a screen; name a file with -o, or pipe it on.")


@dataclass(frozen=True, slots=True)
class _Target:
    """Where rows are written, and how."""

    file: str | None
    chosen: Chosen
    packed: Packing
    is_quiet: bool


async def _write(
    connection: Any,
    what: ExportKind,
    filters: "Filters",
    target: _Target,
    settings: "Settings",
    *,
    has_texts: bool,
) -> int:
    """Writes all rows, with texts from the store if they are wanted."""
    from forager.export import rows as control
    from forager.export.texts import COLUMN, add_texts
    from forager.storage.factory import open_readonly_store

    kind = cast("control.Kind", what.value)
    expected = await control.estimate(connection, kind, filters)
    types = await control.column_types(connection, kind)
    rows = control.stream(connection, kind, filters)
    if has_texts:
        rows, types = add_texts(connection, rows, open_readonly_store(settings)), {**types, COLUMN: "text"}
    opener = partial(open_target, settings)
    with open_progress(f"exporting {what.value}", expected, is_quiet=target.is_quiet) as show:
        return await write_file(
            target.file, rows, types, chosen=target.chosen, packed=target.packed, on_rows=show, opener=opener
        )
