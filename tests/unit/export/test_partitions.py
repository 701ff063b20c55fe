"""Files by day or month: which row goes where, with a bounded number of open files, and what a later export leaves."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from forager.errors import UsageError
from forager.export.commands import partitions
from forager.export.commands.partitions import PartitionBy, partition_column, partition_of, write_partitions
from forager.export.folders import LocalFolder

pytest.importorskip("pyarrow")
TYPES = {"id": "int8", "seen_at": "timestamptz"}
START = datetime(2026, 1, 30, 12, tzinfo=UTC)


def test_days_are_those_of_utc() -> None:
    late = datetime(2026, 1, 31, 23, 30, tzinfo=timezone(timedelta(hours=-2)))
    assert partition_of(late, PartitionBy.DAY) == "date=2026-02-01"
    assert partition_of(late, PartitionBy.MONTH) == "month=2026-02"
    assert partition_of(None, PartitionBy.DAY) == "date=__HIVE_DEFAULT_PARTITION__"


def test_what_has_no_date_has_no_partitions() -> None:
    with pytest.raises(UsageError, match="no date"):
        partition_column("links")


def write(folder: Path, days: list[int | None], number: int = 0, fails: bool = False) -> tuple[int, int]:
    async def rows() -> AsyncIterator[dict[str, Any]]:
        for at, day in enumerate(days):
            yield {"id": at, "seen_at": None if day is None else START + timedelta(days=day)}
        if fails:
            raise OSError(28, "No space left on device")

    return asyncio.run(
        write_partitions(
            LocalFolder(folder),
            rows(),
            TYPES,
            column="seen_at",
            by=PartitionBy.DAY,
            number=number,
            on_rows=lambda _rows: None,
        )
    )


def read(folder: Path) -> list[tuple[int, str]]:
    from pyarrow import dataset

    table = dataset.dataset(folder, partitioning="hive", exclude_invalid_files=True).to_table()
    return sorted(zip(table["id"].to_pylist(), map(str, table["date"].to_pylist()), strict=True))


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_rows_are_found_by_their_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "MOST_OPEN", 2)
    monkeypatch.setattr(partitions, "ROWS_AT_ONCE", 2)
    days = [0, 1, 2, 3] * 5 + [None]
    assert write(tmp_path / "lake", days) == (21, 5)
    found = read(tmp_path / "lake")
    assert [number for number, _ in found] == list(range(21))
    assert found[1] == (1, "2026-01-31")
    assert found[-1] == (20, "None")


def test_everything_replaces_what_was_there_and_an_increment_adds(tmp_path: Path) -> None:
    write(tmp_path, [0, 1])
    (tmp_path / "README").write_text("mine")
    write(tmp_path, [1], number=1)
    write(tmp_path, [1], number=1)
    first, second = "date=2026-01-30/part-0.parquet", "date=2026-01-31/part-0.parquet"
    assert names(tmp_path) == ["README", first, second, "date=2026-01-31/part-1.parquet"]
    write(tmp_path, [0, 0])
    assert names(tmp_path) == ["README", first]


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    write(tmp_path, [0])
    before = (tmp_path / "date=2026-01-30/part-0.parquet").read_bytes()
    with pytest.raises(OSError, match="No space"):
        write(tmp_path, [0, 0, 1], fails=True)
    assert names(tmp_path) == ["date=2026-01-30/part-0.parquet"]
    assert (tmp_path / "date=2026-01-30/part-0.parquet").read_bytes() == before


def test_what_a_killed_export_left_is_removed_by_the_next(tmp_path: Path) -> None:
    left = LocalFolder(tmp_path).make_spool()
    (left / "part").write_bytes(b"half")
    write(tmp_path, [0])
    assert names(tmp_path) == ["date=2026-01-30/part-0.parquet"]
