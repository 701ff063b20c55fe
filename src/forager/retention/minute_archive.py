"""Archives per-minute stats before they are rolled up into days: a gzipped JSON file for each day, below the archive.

    stats/2026-01/stats-2026-01-31.json.gz

The file is durable and was read back before a minute leaves the database. A kill in between leaves a file whose minutes
are still in the database: the next run writes it again. Minutes that come late, after their day was written and rolled
up, go to a separate file (`…-2.json.gz`): no file ever loses a row.
"""

import asyncio
import gzip
import json
import re
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from forager import __version__
from forager.db.types import Connection
from forager.errors import StoreError
from forager.retention.purge_record import SQL as PURGES
from forager.stats import series
from forager.storage.files import make_folder, sync_folder, translate_errors, write_atomic

KIND = "stats"
ADVICE = "Nothing is lost: minutes that are not in a file stay in the database."
NAME = re.compile(r"stats-(\d{4}-\d{2}-\d{2})(?:-\d+)?\.json\.gz")
Minutes = list[dict[str, Any]]


class StatsFile(NamedTuple):
    """The stats of one day, or of its minutes that came late."""

    day: date
    file: str
    """Path below the archive folder."""
    stored_bytes: int


def name_of(day: date, number: int = 1) -> str:
    ending = "" if number == 1 else f"-{number}"
    return f"{KIND}/{day:%Y-%m}/{KIND}-{day}{ending}.json.gz"


async def archive_minute_stats(conn: Connection, folder: Path, *, after_days: int) -> int:
    """Writes all that `series.roll_up` would process now; call both in one snapshot. Returns the number of days."""
    days = await series.old_days(conn, after_days=after_days)
    for day in days:
        minutes = await series.list_minute_rows(conn, day)
        await asyncio.to_thread(write, folder, day, minutes)
    return len(days)


def write(folder: Path, day: date, minutes: Minutes) -> Path:
    path = _find_path(folder, day, minutes)
    document = {"day": day.isoformat(), "forager": __version__, "series": minutes}
    with translate_errors(path, ADVICE):
        make_folder(path.parent)
        write_atomic(path, gzip.compress(json.dumps(document).encode(), mtime=0))
        sync_folder(path.parent)
    if read(path) != minutes:
        raise StoreError(f"{path} is not what was written to it: look at the disk. {ADVICE}")
    return path


def read(path: Path) -> Minutes | None:
    """Returns the minutes of a file; None if it cannot be read."""
    try:
        found: Minutes = json.loads(gzip.decompress(path.read_bytes()))["series"]
    except (OSError, EOFError, ValueError, KeyError, TypeError):
        return None
    return found


def find(folder: Path, month: date | None = None) -> list[StatsFile]:
    """Returns existing files, of one month or all, in order."""
    months = f"{month:%Y-%m}" if month else "*"
    found = [(NAME.fullmatch(path.name), path) for path in folder.glob(f"{KIND}/{months}/*")]
    return sorted(
        StatsFile(date.fromisoformat(match[1]), path.relative_to(folder).as_posix(), path.stat().st_size)
        for match, path in found
        if match
    )


async def missing_days(conn: Connection, folder: Path, month: date | None = None) -> list[date]:
    """Returns days whose minutes left the database and that have no file, except those of purged months."""
    there = {each.day for each in await asyncio.to_thread(find, folder, month)}
    purged = {row["month"] for row in await conn.fetch(PURGES["purged_months"])}
    days = [day for day in await series.list_rolled_days(conn) if month in {None, day.replace(day=1)}]
    return [day for day in days if day not in there and f"{day:%Y-%m}" not in purged]


def _find_path(folder: Path, day: date, minutes: Minutes) -> Path:
    """Returns the first path of that day that does not exist, or whose file has only these minutes."""
    number = 1
    while True:
        path = folder / name_of(day, number)
        if not path.exists():
            return path
        held = read(path)
        if held is not None and _keys(held) <= _keys(minutes):
            return path
        number += 1


def _keys(minutes: Minutes) -> set[tuple[Any, ...]]:
    return {(each["minute"], each["metric"], each["label"], each["amount"]) for each in minutes}
