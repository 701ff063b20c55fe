"""Builds what retention needs from Settings: where cold files are, how long visits stay, and the roll-up before."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from forager.app.bodies import bucket_at
from forager.control import cold, cold_file, cold_stats
from forager.control.cold import Moved, OnMoved
from forager.control.storage import Rule
from forager.frontier.history import Retention
from forager.scheduler import rollup
from forager.scheduler.config import BY
from forager.scheduler.words import things
from forager.settings import Settings
from forager.storage.bucket_folder import BucketFolder

if TYPE_CHECKING:
    from forager.scheduler.config import SchedulerConfig


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


async def archive(
    conn: Any, settings: Settings, order: "SchedulerConfig", *, by: str, on_moved: OnMoved = lambda _moved: None
) -> Moved:
    """Days are rolled up first: what was not leaves later."""
    await rollup.run_once(conn, order)
    return await cold.move(
        conn, cold_folder(settings), retention_of(settings), by=by, copies=get_cold_bucket(settings), on_moved=on_moved
    )


async def move_old(conn: Any, settings: Settings, order: "SchedulerConfig") -> str:
    """The duty: in one line what was done."""
    moved = await archive(conn, settings, order, by=BY)
    finished = f"; {things(moved.finished, 'slice')} of an earlier night finished" if moved.finished else ""
    copied = f"; {things(moved.copied, 'earlier file')} copied to {settings.cold_bucket}" if moved.copied else ""
    return f"{things(moved.rows, 'row')} moved to {things(moved.slices, 'cold file')}{finished}{copied}"


async def keep_minutes(conn: Any, after_days: int, *, settings: Settings) -> int:
    return await cold_stats.keep_minutes(conn, cold_folder(settings), after_days=after_days)
