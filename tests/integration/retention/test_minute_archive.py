"""Minutes become days, and are in a file before: whatever is killed, late or full, none is lost."""

import gzip
import json
from pathlib import Path

import asyncpg
import pytest
from tests.integration.scheduler.stage import a_context

from forager.errors import StoreError
from forager.retention import minute_archive as cold_stats
from forager.stats.jobs.series import SeriesJob

OLD = "date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - interval '9 days'"


async def a_minute(conn: asyncpg.Connection, after: str, amount: float, label: str = "") -> None:
    await conn.execute(
        f"INSERT INTO series (minute, metric, label, amount, samples, most)"
        f" VALUES ({OLD} + $1::text::interval, 'visits', $2, $3, 0, NULL)",
        after,
        label,
        amount,
    )


async def round_of(conn: asyncpg.Connection, folder: Path) -> str:
    return await SeriesJob().run(a_context(conn, archive_folder=folder))


def files(folder: Path) -> list[Path]:
    return sorted((folder / "stats").rglob("*.json.gz"))


def amounts(path: Path) -> list[float]:
    document = json.loads(gzip.decompress(path.read_bytes()))
    assert path.name.startswith(f"stats-{document['day']}")
    return [each["amount"] for each in document["series"]]


async def test_old_minutes_are_in_a_file_when_they_become_a_day(conn: asyncpg.Connection, tmp_path: Path) -> None:
    await a_minute(conn, "1 minute", 3.0, "success")
    await a_minute(conn, "2 minutes", 4.0, "success")
    await a_minute(conn, "8 days 12 hours", 9.0)
    assert "2 minutes became days" in await round_of(conn, tmp_path)
    (path,) = files(tmp_path)
    assert amounts(path) == [3.0, 4.0]
    assert path.parent.name == path.name.removeprefix("stats-")[:7]
    assert await conn.fetchval("SELECT sum(amount) FROM series_days") == 7.0
    assert "became days" not in await round_of(conn, tmp_path)
    assert files(tmp_path) == [path]


async def test_minutes_that_come_late_have_a_file_of_their_own(conn: asyncpg.Connection, tmp_path: Path) -> None:
    for amount in (3.0, 5.0):
        await a_minute(conn, "1 minute", amount)
        await round_of(conn, tmp_path)
    assert sorted(amounts(path) for path in files(tmp_path)) == [[3.0], [5.0]]
    assert await conn.fetchval("SELECT sum(amount) FROM series_days") == 8.0


async def test_a_kill_behind_the_file_counts_nothing_twice(conn: asyncpg.Connection, tmp_path: Path) -> None:
    await a_minute(conn, "1 minute", 3.0)
    await cold_stats.archive_minute_stats(conn, tmp_path, after_days=7)  # and then the process is gone
    await a_minute(conn, "2 minutes", 4.0)
    await round_of(conn, tmp_path)
    (path,) = files(tmp_path)
    assert amounts(path) == [3.0, 4.0]
    assert await conn.fetchval("SELECT sum(amount) FROM series_days") == 7.0


async def test_what_cannot_be_written_stays_in_the_database(conn: asyncpg.Connection, tmp_path: Path) -> None:
    await a_minute(conn, "1 minute", 3.0)
    (tmp_path / "stats").write_text("in the way")
    with pytest.raises(StoreError, match="Nothing is lost"):
        await round_of(conn, tmp_path)
    assert await conn.fetchval("SELECT count(*) FROM series WHERE metric = 'visits'") == 1
    assert await conn.fetchval("SELECT count(*) FROM series_days") == 0
    (tmp_path / "stats").unlink()
    await round_of(conn, tmp_path)
    assert [amounts(path) for path in files(tmp_path)] == [[3.0]]


async def test_a_damaged_file_is_left_alone(conn: asyncpg.Connection, tmp_path: Path) -> None:
    await a_minute(conn, "1 minute", 3.0)
    await cold_stats.archive_minute_stats(conn, tmp_path, after_days=7)
    (first,) = files(tmp_path)
    first.write_bytes(b"\x1f\x8b broken")
    await round_of(conn, tmp_path)
    assert first.read_bytes() == b"\x1f\x8b broken"
    assert amounts(first.with_name(first.name.replace(".json", "-2.json"))) == [3.0]
