"""`forager export --since last` and `--partition-by`: what changed since the last export, and files by day or month."""

import os
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from forager.cli.progress import open_progress
from forager.cli.root import hint
from forager.cli.start import run_query
from forager.errors import UsageError
from forager.export.commands.compression import Packing
from forager.export.commands.partitions import PartitionBy, partition_column, write_partitions
from forager.export.commands.target import check_target, is_in_bucket, open_target
from forager.export.commands.writers import check_writable, write_file
from forager.export.formats import Chosen, Format

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.export.folders import Folder
    from forager.export.increments import Increment
    from forager.export.rows import Filters, Kind

LAST = "last"
NUMBER = "{n}"
"""In the name of a file: the number of the export."""


class Order(NamedTuple):
    """What the command line said."""

    kind: "Kind"
    filters: "Filters"
    target: str
    is_since_last: bool
    by: PartitionBy | None
    chosen: Chosen
    packed: Packing
    has_texts: bool
    is_quiet: bool


class Done(NamedTuple):
    rows: int
    partitions: int | None
    target: str
    is_everything: bool


def check_order(order: Order) -> None:
    if order.target == "-":
        raise UsageError(
            "Name a target with -o: it is remembered what it has." if order.is_since_last else "Name a folder with -o."
        )
    if order.by is not None:
        partition_column(order.kind)
        if order.chosen is not Format.PARQUET or order.packed:
            raise UsageError("Partitions are Parquet files; choose --format parquet, without --compress.")
        if Path(order.target).is_file():
            raise UsageError(f"{order.target} is a file; name a folder for partitions.")
    check_writable(None, order.chosen, order.packed)


def export_changing(settings: "Settings", order: Order) -> Done:
    """Exports in a transaction, and remembers afterwards where it ended."""
    check_order(order)
    return run_query(settings, "export", partial(_export, settings, order))


async def _export(settings: "Settings", order: Order, conn: Any) -> Done:
    from forager.export import increments, rows
    from forager.export.texts import COLUMN, add_texts
    from forager.storage.factory import open_readonly_store

    folder, name = _place(settings, order)
    await increments.hold_target(conn, target_identity(order.target))
    increment: Increment | None = None
    filters = order.filters
    if order.is_since_last:
        last = increments.load_last(folder, name)
        increment = await increments.begin(conn, order.kind, filters, last)
        filters = increment.filters
    number = increment.number if increment else 0
    expected = await rows.estimate(conn, order.kind, filters)
    types = await rows.column_types(conn, order.kind)
    stream = rows.stream(conn, order.kind, filters)
    if order.has_texts:
        stream, types = add_texts(conn, stream, open_readonly_store(settings)), {**types, COLUMN: "text"}
    target = order.target.replace(NUMBER, f"{number:06}")
    with open_progress(f"exporting {order.kind}", expected, is_quiet=order.is_quiet) as show:
        partitions: int | None = None
        if order.by is not None:
            column = partition_column(order.kind)
            count, partitions = await write_partitions(
                folder, stream, types, column=column, by=order.by, number=number, on_rows=show
            )
        else:
            check_target(settings, target)
            opener = partial(open_target, settings)
            count = await write_file(
                target, stream, types, chosen=order.chosen, packed=order.packed, on_rows=show, opener=opener
            )
    if increment is not None:
        increments.save_last(folder, name, order.kind, increment, count)
    return Done(count, partitions, target, number == 0)


def _place(settings: "Settings", order: Order) -> "tuple[Folder, str]":
    """Returns the folder of the target, and the name under which it is remembered what it has."""
    from forager.export.folders import LocalFolder, ObjectFolder
    from forager.storage.factory import bucket_at

    if order.by is None:
        return place_of_file(settings, order.target)
    if is_in_bucket(order.target):
        check_target(settings, order.target.rstrip("/") + "/-")
        return ObjectFolder(bucket_at(settings, order.target.rstrip("/"))), order.kind
    return LocalFolder(Path(order.target)), order.kind


def place_of_file(settings: "Settings", target: str) -> "tuple[Folder, str]":
    from forager.export.commands.target import parse_target
    from forager.export.folders import LocalFolder, ObjectFolder

    check_target(settings, target)
    if is_in_bucket(target):
        bucket, name = parse_target(settings, target)
        return ObjectFolder(bucket), _plain_name(name)
    path = Path(target)
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"{path.parent} cannot be written, where it is remembered what the export has.{hint()}")
    return LocalFolder(path.parent), _plain_name(path.name)


def _plain_name(name: str) -> str:
    return name.replace(NUMBER, "n")


def target_identity(target: str) -> str:
    return target.rstrip("/") if is_in_bucket(target) else os.path.realpath(target)


def since_of(text: str | None, now: datetime) -> tuple[datetime | None, bool]:
    """Returns the moment, or that it is the last export."""
    from forager.cli.durations import parse_past_time

    if text is None or text == LAST:
        return None, text == LAST
    return parse_past_time(text, now), False
