"""Rows as a Parquet file, group by group: memory stays the same. pyarrow is the extra `[parquet]`, loaded here only."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

from forager.cli.output import as_json
from forager.config.extras import install_hint
from forager.errors import ConfigurationError
from forager.export.streams import OnRows, Rows

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_AT_ONCE = 2_000
"""Of these Python objects are held; what is gathered for a group is packed by Arrow."""
ROWS_OF_GROUP = 50_000
BYTES_OF_GROUP = 32 * 1024 * 1024
MISSING = f"Parquet needs pyarrow, which is not installed: {install_hint('parquet', 'pyarrow')}"


def require_parquet() -> None:
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise ConfigurationError(f"{MISSING}.") from None


async def write_parquet(target: BinaryIO, rows: Rows, types: Mapping[str, str], on_rows: OnRows) -> int:
    """Writes rows in groups as they come; answers how many there were."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = schema_of(types)
    gathered: list[dict[str, Any]] = []
    group: list[pa.RecordBatch] = []
    count = 0

    def close_batch() -> None:
        group.append(pa.RecordBatch.from_pylist(gathered, schema))
        gathered.clear()
        on_rows(count)

    def close_group() -> None:
        writer.write_table(pa.Table.from_batches(group, schema))
        group.clear()
        pa.default_memory_pool().release_unused()

    with parquet.ParquetWriter(target, schema, compression="zstd") as writer:
        async for row in rows:
            gathered.append(plain_row(row, types))
            count += 1
            if len(gathered) == ROWS_AT_ONCE:
                close_batch()
                held = sum(batch.nbytes for batch in group)
                if len(group) * ROWS_AT_ONCE >= ROWS_OF_GROUP or held >= BYTES_OF_GROUP:
                    close_group()
        close_batch()
        close_group()
    return count


def schema_of(types: Mapping[str, str]) -> "pa.Schema":
    """What PostgreSQL calls a type, as Arrow knows it. JSON is text."""
    import pyarrow as pa

    known = {
        "text": pa.string(),
        "varchar": pa.string(),
        "jsonb": pa.string(),
        "bool": pa.bool_(),
        "int2": pa.int16(),
        "int4": pa.int32(),
        "int8": pa.int64(),
        "float8": pa.float64(),
        "numeric": pa.decimal128(20, 4),
        "date": pa.date32(),
        "timestamptz": pa.timestamp("us", tz="UTC"),
        "text[]": pa.list_(pa.string()),
    }
    return pa.schema([(name, known[kind]) for name, kind in types.items()])


def plain_row(row: dict[str, Any], types: Mapping[str, str]) -> dict[str, Any]:
    """Documents become JSON again."""
    return {name: as_json(value) if types[name] == "jsonb" else value for name, value in row.items()}
