"""Rows of an instance: iterated as dictionaries, or taken whole as an Arrow, pandas or polars table.

Each iteration reads one snapshot of the database through a cursor: memory stays the same for ten rows or ten million,
and a batch that a crawl writes meanwhile is seen whole or not at all.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from forager.db.types import Connection
from forager.errors import ConfigurationError
from forager.export import texts
from forager.export.commands import compression as packing
from forager.export.commands.parquet import plain_row, require_parquet, schema_of
from forager.export.commands.target import check_target, open_target
from forager.export.commands.writers import check_writable, choose_format, write_file
from forager.export.rows import Filters, Kind, column_types, stream
from forager.instance import Forager
from forager.library.loop_thread import LoopThread
from forager.storage.factory import open_readonly_store

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Row = dict[str, Any]
ROWS_AT_ONCE = 1_000


class Rows:
    """Rows of one kind. Nothing is read before it is iterated, and each iteration reads anew."""

    def __init__(
        self, forager: Forager, loop: LoopThread, kind: Kind, filters: Filters, *, with_text: bool = False
    ) -> None:
        self._forager, self._loop = forager, loop
        self._source = _Source(forager, kind, filters, with_text)

    def __iter__(self) -> Iterator[Row]:
        for batch in self._batches():
            yield from batch

    def to_list(self) -> list[Row]:
        return list(self)

    def to_arrow(self) -> "pa.Table":
        """Returns a `pyarrow.Table`; JSON columns are text."""
        require_parquet()
        import pyarrow as pa

        types = self._loop.run(self._column_types())
        schema = schema_of(types)
        batches = [
            pa.RecordBatch.from_pylist([plain_row(row, types) for row in batch], schema) for batch in self._batches()
        ]
        return pa.Table.from_batches(batches, schema)

    def to_pandas(self) -> "pd.DataFrame":
        _require("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> "pl.DataFrame":
        _require("polars")
        import polars as pl

        table = pl.from_arrow(self.to_arrow())
        assert isinstance(table, pl.DataFrame)
        return table

    def write(self, file: str | Path, *, format: str | None = None) -> int:  # noqa: A002 (as the command line calls it)
        """Writes all rows to a file or an object of a bucket, as `forager export` does: the format follows the name of
        the file, also one of a plug-in. Returns how many there were."""
        return self._loop.run(self._write(str(file), format))

    async def _write(self, file: str, name: str | None) -> int:
        settings, chosen = self._forager.settings, choose_format(name, file)
        check_target(settings, file)
        check_writable(None, chosen, packing.of(file))
        opener = partial(open_target, settings)
        async with (
            self._forager.pool.acquire() as conn,
            conn.transaction(isolation="repeatable_read", readonly=True),
        ):
            types, rows = await self._source.column_types(conn), self._source.stream(conn)
            return await write_file(file, rows, types, chosen=chosen, opener=opener)

    async def _column_types(self) -> Mapping[str, str]:
        async with self._forager.pool.acquire() as connection:
            return await self._source.column_types(connection)

    def _batches(self) -> Iterator[list[Row]]:
        reader = _Reader(self._forager, self._source)
        try:
            self._loop.run(reader.open())
            while batch := self._loop.run(reader.read()):
                yield batch
        finally:
            self._loop.run(reader.close())


class _Source(NamedTuple):
    """What the rows are: their kind, their filters, and whether the texts of pages are read with them."""

    forager: Forager
    kind: Kind
    filters: Filters
    with_text: bool

    async def column_types(self, conn: Connection) -> Mapping[str, str]:
        types = await column_types(conn, self.kind)
        return {**types, texts.COLUMN: "text"} if self.with_text else types

    def stream(self, conn: Connection) -> AsyncIterator[Row]:
        rows = stream(conn, self.kind, self.filters)
        return texts.add_texts(conn, rows, open_readonly_store(self.forager.settings)) if self.with_text else rows


class _Reader:
    """A cursor that is opened, read and closed by separate calls: its caller is a plain generator."""

    def __init__(self, forager: Forager, source: _Source) -> None:
        self._forager, self._source = forager, source
        self._stack = AsyncExitStack()
        self._rows: AsyncIterator[Row]

    async def open(self) -> None:
        connection = await self._stack.enter_async_context(self._forager.pool.acquire())
        await self._stack.enter_async_context(connection.transaction(isolation="repeatable_read", readonly=True))
        self._rows = self._source.stream(connection)

    async def read(self) -> list[Row]:
        """Returns the next rows; none at the end."""
        batch: list[Row] = []
        async for row in self._rows:
            batch.append(row)
            if len(batch) == ROWS_AT_ONCE:
                break
        return batch

    async def close(self) -> None:
        await self._stack.aclose()


def _require(package: str) -> None:
    from importlib.util import find_spec

    if find_spec(package) is None:
        raise ConfigurationError(f"This needs {package}, which is not installed: run `pip install {package}`.")
