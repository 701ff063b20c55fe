"""Rows as Parquet files in folders by day or month, as Hive, DuckDB, Spark and Arrow read them:
`date=2026-11-18/part-0.parquet`.

Files are written aside and appear when all are complete, each in one step. An export of everything replaces the files
of the one before; one of what changed adds files of its own number, so that a repeated one replaces its own.
"""

import re
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forager.errors import UsageError
from forager.export.commands.parquet import plain_row, schema_of
from forager.export.streams import OnRows, Rows

if TYPE_CHECKING:
    from pyarrow import Schema
    from pyarrow.parquet import ParquetWriter

    from forager.export.folders import Folder

COLUMNS = {
    "pages": "fetched_at",
    "structured-data": "fetched_at",
    "products": "last_seen_at",
    "prices": "seen_at",
    "images": "checked_at",
    "tasks": "created_at",
    "records": "last_seen_at",
    "items": "fetched_at",
}
"""Kind → the time that decides the partition of a row."""
NONE = "__HIVE_DEFAULT_PARTITION__"
OURS = re.compile(r"(?:date|month)=[^/]+/part-[0-9]+(?:-[0-9]+)?\.parquet")
ROWS_AT_ONCE = 5_000
"""Of a partition; they become a group of rows in its file."""
ROWS_HELD = 50_000
"""Of all partitions."""
MOST_OPEN = 100
"""Files; a partition that comes again after its file was closed gets another."""


class PartitionBy(StrEnum):
    DAY = "day"
    MONTH = "month"


def partition_column(kind: str) -> str:
    if kind not in COLUMNS:
        raise UsageError(f"{kind.capitalize()} have no date to be partitioned by; leave --partition-by away.")
    return COLUMNS[kind]


def partition_of(moment: datetime | None, by: PartitionBy) -> str:
    """Returns the folder of a row; days are those of UTC."""
    name = "date" if by is PartitionBy.DAY else "month"
    if moment is None:
        return f"{name}={NONE}"
    moment = moment.astimezone(UTC)
    return f"{name}={moment:%Y-%m-%d}" if by is PartitionBy.DAY else f"{name}={moment:%Y-%m}"


class PartitionWriter:
    """Files of one export, written aside."""

    def __init__(self, spool: Path, types: Mapping[str, str], number: int) -> None:
        self._spool = spool
        self._types = types
        self._schema: Schema = schema_of(types)
        self._number = number
        self._rows: dict[str, list[dict[str, Any]]] = {}
        self._held = 0
        self._open: dict[str, ParquetWriter] = {}
        self._files: dict[str, int] = {}
        """Partition → how many files it has."""

    def add(self, partition: str, row: dict[str, Any]) -> None:
        rows = self._rows.setdefault(partition, [])
        rows.append(plain_row(row, self._types))
        self._held += 1
        if len(rows) >= ROWS_AT_ONCE:
            self._flush(partition)
        elif self._held >= ROWS_HELD:
            self._flush(max(self._rows, key=lambda each: len(self._rows[each])))

    def close(self) -> list[str]:
        """Completes all files; returns their names."""
        for partition in list(self._rows):
            self._flush(partition)
        for writer in self._open.values():
            writer.close()
        self._open.clear()
        return sorted(self._name(each, at) for each, files in self._files.items() for at in range(files))

    def abort(self) -> None:
        for writer in self._open.values():
            writer.close()

    def _flush(self, partition: str) -> None:
        import pyarrow as pa

        rows = self._rows.pop(partition)
        self._held -= len(rows)
        self._writer(partition).write_table(pa.Table.from_pylist(rows, self._schema))

    def _writer(self, partition: str) -> "ParquetWriter":
        from pyarrow import parquet

        writer = self._open.pop(partition, None)
        if writer is None:
            if len(self._open) >= MOST_OPEN:
                self._open.pop(next(iter(self._open))).close()
            at = self._files.get(partition, 0)
            self._files[partition] = at + 1
            path = self._spool / self._name(partition, at)
            path.parent.mkdir(exist_ok=True)
            writer = parquet.ParquetWriter(str(path), self._schema, compression="zstd")
        self._open[partition] = writer  # the last one used is closed last
        return writer

    def _name(self, partition: str, at: int) -> str:
        return f"{partition}/part-{self._number}{f'-{at}' if at else ''}.parquet"


async def write_partitions(
    folder: "Folder",
    rows: Rows,
    types: Mapping[str, str],
    *,
    column: str,
    by: PartitionBy,
    number: int,
    on_rows: OnRows,
) -> tuple[int, int]:
    """Writes the files of one export; returns the number of rows and of partitions."""
    spool = folder.make_spool()
    try:
        writer = PartitionWriter(spool, types, number)
        count = 0
        try:
            async for row in rows:
                writer.add(partition_of(row[column], by), row)
                count += 1
                if count % ROWS_AT_ONCE == 0:
                    on_rows(count)
            names = writer.close()
        except BaseException:
            writer.abort()
            raise
        for name in names:
            folder.publish(spool / name, name)
        if number == 0:
            folder.delete([name for name in folder.names() if OURS.fullmatch(name) and name not in names])
        return count, len({name.partition("/")[0] for name in names})
    finally:
        shutil.rmtree(spool, ignore_errors=True)
