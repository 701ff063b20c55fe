"""Builds image backfill and image file retention from Settings."""

from typing import TYPE_CHECKING

from forager.config.settings import Settings
from forager.db.types import Connection
from forager.engine.stop import StopRequest
from forager.images import files as image_files
from forager.images.backfill import backfill_images
from forager.images.files import CleanupPreview, ImageRule
from forager.images.models import ImagePolicy
from forager.scheduler.job import ACTOR
from forager.scheduler.text import things
from forager.storage.factory import get_location
from forager.storage.usage import Rule

if TYPE_CHECKING:
    from forager.instance import Forager


async def queue_wanted(
    forager: "Forager", *, run: int | None = None, name: str | None = None, stop: StopRequest | None = None
) -> int:
    """Enqueues images that were found before they were wanted; returns how many."""
    settings = forager.settings
    return await backfill_images(
        forager.database,
        by_default=settings.images.policy == ImagePolicy.DOWNLOAD,
        max_subdomains=settings.crawl.max_subdomains,
        run=run,
        name=name,
        is_stopped=lambda: stop is not None and stop.asked,
    )


def rule_of(settings: Settings) -> ImageRule:
    return ImageRule(
        keep_s=settings.retention.images or None,
        by_default=settings.images.policy == ImagePolicy.DOWNLOAD,
        refresh_every_s=settings.refresh.interval if settings.refresh.enabled else None,
    )


async def prune_images(conn: Connection, settings: Settings) -> str:
    """Deletes image files, and returns a one-line summary."""
    swept = await image_files.prune(conn, get_location(settings), rule_of(settings), by=ACTOR)
    asked = f", {things(swept.asked_again, 'image')} asked for again" if swept.asked_again else ""
    return f"{things(swept.dropped, 'image')} dropped, {things(swept.files, 'file')} of images deleted{asked}"


async def image_rules(conn: Connection, settings: Settings) -> list[Rule]:
    """Returns how long image files are kept, with what the next nightly run would delete."""
    spare = await look_at_files(conn, settings)
    kept_s, fresh_s = settings.retention.images, image_files.FRESH.total_seconds()
    return [
        Rule("images", "files of images last seen", kept_s, "deleted", "retention.images", spare.old_images),
        Rule("images", "files of images nobody refers to", fresh_s, "deleted", "", spare.unused_files),
    ]


async def look_at_files(conn: Connection, settings: Settings) -> CleanupPreview:
    """Returns what a cleanup would do now."""
    return await image_files.look(conn, get_location(settings), rule_of(settings))
