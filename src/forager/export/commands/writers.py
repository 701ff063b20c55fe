"""Rows as JSON lines, CSV, Parquet or in a plug-in's format, as they come; compressed where the file's ending or a flag
says so."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date
from decimal import Decimal
from typing import Any, BinaryIO

from forager.cli import output
from forager.export import csv_rows as cells
from forager.export.commands import compression as packing
from forager.export.commands.compression import Packing
from forager.export.formats import Chosen, Format, find_format, format_of
from forager.export.streams import OnRows, Rows

ROWS_AT_ONCE = 500
Opener = Callable[[str | None], AbstractContextManager[BinaryIO]]
"""Opens what an export writes to."""


def choose_format(name: str | None, path: str | None) -> Chosen:
    """Returns the format of this name, or by the ending of the file, whatever it is packed in. Raises UsageError."""
    return find_format(name) if name else format_of(packing.without_ending(path or ""))


def check_writable(path: str | None, chosen: Chosen | None = None, packed: Packing | None = None) -> None:
    """Called before anything starts: neither a folder nor a library may be missed at the end of a crawl of hours."""
    if path is not None:
        output.check_writable(path)
    if (chosen or choose_format(None, path)) is Format.PARQUET:
        from forager.export.commands.parquet import require_parquet

        require_parquet()
        packing.reject_compression(packed or packing.of(path))


async def write_file(
    path: str | None,
    rows: Rows,
    types: Mapping[str, str],
    *,
    chosen: Chosen | None = None,
    packed: Packing | None = None,
    on_rows: OnRows = lambda _rows: None,
    opener: Opener = output.open_output,
) -> int:
    """All rows to a file that appears when it is whole, or to standard output; answers how many there were. `types`
    are the columns in their order, with what PostgreSQL calls their types."""
    chosen, packed = chosen or choose_format(None, path), packed or packing.of(path)
    with opener(path) as target, packing.pack(target, packed) as stream:
        if chosen is Format.PARQUET:
            from forager.export.commands.parquet import write_parquet

            return await write_parquet(stream, rows, types, on_rows)
        if not isinstance(chosen, Format):
            from forager.export.plugin_writer import write_with_plugin

            return await write_with_plugin(stream, rows, types, chosen, on_rows)
        return await write_lines(stream, rows, chosen, list(types), on_rows)


async def write_lines(
    target: BinaryIO, rows: Rows, chosen: Format, columns: Sequence[str], on_rows: OnRows = lambda _rows: None
) -> int:
    """Writes every row as it comes; answers how many there were."""
    as_line = json_line if chosen is Format.JSONL else (lambda row: cells.line([row[column] for column in columns]))
    count = 0
    if chosen is Format.CSV:
        target.write(cells.line(columns).encode() + b"\n")
    async for row in rows:
        target.write(as_line(row).encode() + b"\n")
        count += 1
        if count % ROWS_AT_ONCE == 0:
            on_rows(count)
    return count


def json_line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, default=_plain)


def _plain(value: object) -> str | float:
    match value:
        case date():
            return value.isoformat()
        case Decimal():
            return float(value)
        case _:
            return str(value)
