"""Images of pages that are purged. One short function per statement of `purge.sql`."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from forager.db import statements
from forager.db.types import Connection

SQL = statements.load("forager.images", "purge.sql")


@dataclass(slots=True)
class Dropped:
    images: int = 0
    shown: int = 0
    """Deleted sightings of the pages' domain."""
    stored: Counter[int] = field(default_factory=Counter)
    """Domain → stored images that it no longer counts; negative: it counts more."""
    keys: list[str] = field(default_factory=list)
    """Files that no image refers to any more."""


async def drop_images(conn: Connection, domain_id: int, page_ids: Sequence[int]) -> Dropped:
    """Deletes the images of these pages, except those that other pages show."""
    rows = await conn.fetch(SQL["drop_sightings"], domain_id, page_ids)
    dropped = await _delete_unused(conn, [row["image_id"] for row in rows])
    dropped.shown = sum(row["times"] for row in rows)
    return dropped


async def leave_domain(conn: Connection, domain_id: int) -> Dropped:
    """Runs before a domain is deleted, after its pages: images that other domains show are moved to them, the rest is
    deleted."""
    await conn.execute(SQL["forget_moves"], domain_id)
    dropped = await _delete_unused(conn, [row["id"] for row in await conn.fetch(SQL["images_of"], domain_id)])
    heirs = Counter(row["domain_id"] for row in await conn.fetch(SQL["give_away"], domain_id) if row["is_stored"])
    dropped.stored.subtract(heirs)
    return dropped


async def _delete_unused(conn: Connection, image_ids: Sequence[int]) -> Dropped:
    rows = await conn.fetch(SQL["drop_unseen"], image_ids) if image_ids else []
    stored = Counter(row["domain_id"] for row in rows if row["is_stored"])
    return Dropped(len(rows), 0, stored, [key for row in rows for key in row["keys"]])


async def present(conn: Connection, images: Collection[int]) -> set[int]:
    """Returns those of these images that still exist."""
    return {row["id"] for row in await conn.fetch(SQL["present_images"], list(images))}
