"""Deletes image files whose retention period has ended, and those that no image refers to any more.

First the database rows drop their files, then unreferenced files are deleted; either step may be interrupted and
repeated. A file that was stored or confirmed in the last day is kept: a visit may be about to refer to it. Images that
pages show again after their file was deleted are fetched again.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from forager import clock
from forager.db.types import Connection
from forager.domains import admin
from forager.domains.store import find_domains
from forager.frontier.images import revisit_images
from forager.images import retention
from forager.images.retention import BEGINNING
from forager.storage.location import Location, Stored
from forager.urls.domain import domain_of

FOLDERS = ("images", "thumbnails")
AT_ONCE = 1000
FRESH = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class ImageRule:
    keep_s: float | None
    """How long image files are kept after they were last seen, for domains without a setting; None: forever."""
    by_default: bool
    """Whether domains without a setting want image files at all."""
    refresh_every_s: float | None


@dataclass(slots=True)
class CleanupResult:
    dropped: int = 0
    """Images whose retention period had ended."""
    files: int = 0
    """Deleted files: those of these images, and those that no image referred to."""
    size_bytes: int = 0
    asked_again: int = 0
    """Images that are shown again after their file was deleted."""


@dataclass(frozen=True, slots=True)
class CleanupPreview:
    """What the next cleanup would do."""

    old_images: int
    old_bytes: int
    unused_files: int
    """Files that no image refers to: left by a kill, or replaced by newer ones."""
    unused_bytes: int

    @property
    def is_any(self) -> bool:
        return bool(self.old_images or self.unused_files)


async def prune(conn: Connection, place: Location, rule: ImageRule, *, by: str) -> CleanupResult:
    """Runs each step in short transactions of its own."""
    swept = CleanupResult()
    if rule.keep_s is not None or await retention.has_rule(conn):
        swept.dropped = await _drop_old(conn, rule)
    until = clock.now() - FRESH
    async for portion in _batches(place, until):
        unused = await _unused(conn, portion)
        gone = set(await asyncio.to_thread(place.delete, [each.key for each in unused], unless_since=until))
        swept.files += len(gone)
        swept.size_bytes += sum(each.size_bytes for each in unused if each.key in gone)
    swept.asked_again = await _requeue_images(conn, rule, by=by)
    return swept


async def look(conn: Connection, place: Location, rule: ImageRule) -> CleanupPreview:
    """Dry run: counts, and changes nothing."""
    is_ruled = rule.keep_s is not None or await retention.has_rule(conn)
    old = await retention.count_old(conn, keep_s=rule.keep_s) if is_ruled else retention.Old(0, 0)
    files, size_bytes = 0, 0
    async for portion in _batches(place, clock.now() - FRESH):
        unused = await _unused(conn, portion)
        files += len(unused)
        size_bytes += sum(each.size_bytes for each in unused)
    return CleanupPreview(old.images, old.size_bytes, files, size_bytes)


async def _drop_old(conn: Connection, rule: ImageRule) -> int:
    dropped, after = 0, BEGINNING
    while True:
        last, given_up = await retention.drop_old(conn, after=after, limit=AT_ONCE, keep_s=rule.keep_s)
        dropped += given_up
        if last is None:
            return dropped
        after = last


async def _batches(place: Location, until: datetime) -> AsyncIterator[list[Stored]]:
    """Yields files that are not fresh, in batches."""
    files = (each for folder in FOLDERS for each in place.list(folder) if each.modified_at < until)
    while portion := await asyncio.to_thread(lambda: list(itertools.islice(files, AT_ONCE))):
        yield portion


async def _unused(conn: Connection, files: Sequence[Stored]) -> list[Stored]:
    contents = {content for each in files if (content := content_of(each.key)) is not None}
    live = await retention.live_files(conn, list(contents))
    return [each for each in files if each.key not in live and content_of(each.key) is not None]


def content_of(key: str) -> bytes | None:
    """Returns the hash that names a file of ours; None for any other file, which is ignored."""
    try:
        content = bytes.fromhex(key.rpartition("/")[2].partition(".")[0])
    except ValueError:
        return None
    return content if len(content) == 32 else None


async def _requeue_images(conn: Connection, rule: ImageRule, *, by: str) -> int:
    asked, after = 0, 0
    while found := await retention.list_seen_expired(conn, after=after, limit=AT_ONCE, by_default=rule.by_default):
        after = found[-1][0]
        async with conn.transaction():
            hosts = await find_domains(conn, {domain_of(url) for _, url, _ in found})
            wanted = [(hosts[domain_of(url)], key) for _, url, key in found if domain_of(url) in hosts]
            visited = await revisit_images(conn, wanted, by=by)
            for host in visited:
                await admin.set_cooldown(conn, host, refresh_every_s=rule.refresh_every_s)
        asked += sum(visited.values())
    return asked
