"""Builds what retention needs from Settings: where cold files are, how long visits stay, and the roll-up before."""

from pathlib import Path
from typing import Any

from forager.frontier.history import Retention
from forager.retention import archive as cold
from forager.retention import archive_file as cold_file
from forager.retention import minute_archive as cold_stats
from forager.retention.archive import Moved, OnMoved
from forager.scheduler.job import ACTOR
from forager.scheduler.text import things
from forager.settings import Settings
from forager.stats.days import roll_up_new_days
from forager.storage.bucket_folder import BucketFolder
from forager.storage.factory import bucket_at
from forager.storage.usage import Rule


def cold_folder(settings: Settings) -> Path:
    return settings.cold_folder or settings.home / cold_file.FOLDER


def get_cold_bucket(settings: Settings) -> BucketFolder | None:
    """Where copies of cold files go."""
    return BucketFolder(bucket_at(settings, settings.cold_bucket)) if settings.cold_bucket is not None else None


def retention_of(settings: Settings) -> Retention:
    return Retention(settings.visit_retention_s, settings.failure_retention_s, settings.page_retention_s)


def rules_of(settings: Settings) -> list[Rule]:
    """What stays for how long, one line for each setting about it."""
    cold_files, gone = "cold files", "deleted"
    return [
        Rule("crawl_tasks", "visits that went well", settings.visit_retention_s, cold_files, "visit_retention_s"),
        Rule("crawl_tasks", "visits that failed", settings.failure_retention_s, cold_files, "failure_retention_s"),
        Rule("pages", "signals of pages that are gone", settings.page_retention_s, cold_files, "page_retention_s"),
        Rule("robots_requests", "requests for robots.txt", settings.robots_retention_s, gone, "robots_retention_s"),
        Rule("domain_history", "moves of domains", settings.moves_retention_s, gone, "moves_retention_s"),
        Rule("bodies", "snapshots no visit confirmed", settings.body_retention_s, gone, "body_retention_s"),
        Rule("backups", "backups", settings.backup_retention_s, gone, "backup_retention_s"),
    ]


async def archive(conn: Any, settings: Settings, *, by: str, on_moved: OnMoved = lambda _moved: None) -> Moved:
    """Days are rolled up first: what was not leaves later."""
    await roll_up_new_days(conn)
    return await cold.move(
        conn, cold_folder(settings), retention_of(settings), by=by, copies=get_cold_bucket(settings), on_moved=on_moved
    )


async def move_old(conn: Any, settings: Settings) -> str:
    """Moves old visits to archive files, and returns a summary in one line."""
    moved = await archive(conn, settings, by=ACTOR)
    finished = f"; {things(moved.finished, 'slice')} of an earlier night finished" if moved.finished else ""
    copied = f"; {things(moved.copied, 'earlier file')} copied to {settings.cold_bucket}" if moved.copied else ""
    return f"{things(moved.rows, 'row')} moved to {things(moved.slices, 'cold file')}{finished}{copied}"


async def keep_minutes(conn: Any, after_days: int, *, settings: Settings) -> int:
    return await cold_stats.keep_minutes(conn, cold_folder(settings), after_days=after_days)
