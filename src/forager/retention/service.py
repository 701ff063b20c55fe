"""Builds what retention needs from Settings: the archive folder, how long visits are kept, and the roll-up before."""

from pathlib import Path

from forager.config.settings import Settings
from forager.db.types import Connection
from forager.frontier.history import Retention
from forager.retention import archive as cold
from forager.retention import archive_file as cold_file
from forager.retention import minute_archive as cold_stats
from forager.retention.archive import Moved, OnMoved
from forager.scheduler.job import ACTOR
from forager.scheduler.text import things
from forager.stats.days import roll_up_new_days
from forager.storage.bucket_folder import BucketFolder
from forager.storage.factory import bucket_at
from forager.storage.usage import Rule


def cold_folder(settings: Settings) -> Path:
    return settings.archive.folder or settings.home / cold_file.FOLDER


def get_cold_bucket(settings: Settings) -> BucketFolder | None:
    """Returns where copies of archive files go."""
    return BucketFolder(bucket_at(settings, settings.archive.bucket)) if settings.archive.bucket is not None else None


def retention_of(settings: Settings) -> Retention:
    return Retention(settings.retention.visits, settings.retention.failed_visits, settings.retention.pages)


def rules_of(settings: Settings) -> list[Rule]:
    """Returns how long data is kept, one rule for each setting about it."""
    cold_files, gone = "cold files", "deleted"
    kept = settings.retention
    return [
        Rule("crawl_tasks", "visits that went well", kept.visits, cold_files, "retention.visits"),
        Rule("crawl_tasks", "visits that failed", kept.failed_visits, cold_files, "retention.failed_visits"),
        Rule("pages", "signals of pages that are gone", kept.pages, cold_files, "retention.pages"),
        Rule("robots_requests", "requests for robots.txt", kept.robots_requests, gone, "retention.robots_requests"),
        Rule("domain_history", "moves of domains", kept.domain_history, gone, "retention.domain_history"),
        Rule("bodies", "snapshots and texts no visit confirmed", kept.bodies, gone, "retention.bodies"),
        Rule("backups", "backups", settings.backup.retention, gone, "backup.retention"),
    ]


async def archive(conn: Connection, settings: Settings, *, by: str, on_moved: OnMoved = lambda _moved: None) -> Moved:
    """Rolls up days first: visits that are not rolled up are archived later."""
    await roll_up_new_days(conn)
    return await cold.move(
        conn, cold_folder(settings), retention_of(settings), by=by, copies=get_cold_bucket(settings), on_moved=on_moved
    )


async def move_old(conn: Connection, settings: Settings) -> str:
    """Moves old visits to archive files, and returns a one-line summary."""
    moved = await archive(conn, settings, by=ACTOR)
    finished = f"; {things(moved.finished, 'slice')} of an earlier night finished" if moved.finished else ""
    copied = f"; {things(moved.copied, 'earlier file')} copied to {settings.archive.bucket}" if moved.copied else ""
    return f"{things(moved.rows, 'row')} moved to {things(moved.slices, 'cold file')}{finished}{copied}"


async def archive_minute_stats(conn: Connection, after_days: int, *, settings: Settings) -> int:
    return await cold_stats.archive_minute_stats(conn, cold_folder(settings), after_days=after_days)
