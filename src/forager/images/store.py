"""One short function per statement of `queries.sql`. Opens no transactions: the caller does."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import asyncpg

from forager.db import statements
from forager.db.query import BulkQuery
from forager.db.types import Connection
from forager.images.models import ImageFile
from forager.images.rows import DomainImages, SettledColumns
from forager.links.models import Sighting

SQL = statements.load("forager.images")
SETTLE_IMAGES = BulkQuery(SQL["save_results"], SettledColumns, DomainImages)

ALTS_BETWEEN = "\x1f"
"""The unit separator counts as white space, which parsing collapses to single spaces: no alt text contains it."""

MANY = 50
"""The number of rows from which COPY is cheaper than a statement: half the cost per row."""
IMAGE_COLUMNS = ("id", "domain_id", "url", "url_hash")
SIGHTING_COLUMNS = (
    *("domain_id", "page_id", "image_id", "position"),
    *("discovery_type", "image_type", "alt_text", "width", "height"),
)
"""The columns after `position` are the fields of an image after its address."""


class PageImages(NamedTuple):
    """The images of one page, from its newest parse."""

    domain_id: int
    page_id: int
    sightings: Sequence[Sighting]


@dataclass(frozen=True, slots=True)
class ImageResult:
    """The result of one image request."""

    key: bytes
    status: str | None
    """None: unchanged."""
    file: ImageFile | None = None
    reason: str | None = None
    moved_to: int | None = None


async def find_images(conn: Connection, keys: Iterable[bytes]) -> dict[bytes, int]:
    return {row["url_hash"]: row["id"] for row in await conn.fetch(SQL["find_images"], list(keys))}


async def add_images(conn: Connection, images: Mapping[bytes, tuple[int, str]]) -> dict[bytes, int]:
    """Adds images by key, each with the domain that shows it and its URL. Returns the ids of all, new or known."""
    ids = await find_images(conn, images)
    strangers = {key: image for key, image in images.items() if key not in ids}
    if not strangers:
        return ids
    if len(strangers) >= MANY:
        try:
            async with conn.transaction():
                return ids | await _copy_images(conn, strangers)
        except asyncpg.UniqueViolationError:
            pass  # another worker has just added one of them
    domains, urls = [domain for domain, _ in strangers.values()], [url for _, url in strangers.values()]
    rows = await conn.fetch(SQL["add_images"], domains, urls, list(strangers))
    ids |= {row["url_hash"]: row["id"] for row in rows}
    if raced := [key for key in strangers if key not in ids]:
        ids |= await find_images(conn, raced)
    return ids


async def _copy_images(conn: Connection, strangers: Mapping[bytes, tuple[int, str]]) -> dict[bytes, int]:
    """Copies in key order, as `add_images` writes them; fails if one is already known."""
    numbers = await conn.fetch(SQL["number_images"], len(strangers))
    ids = {key: number for key, (number,) in zip(sorted(strangers), numbers, strict=True)}
    rows = [(number, *strangers[key], key) for key, number in ids.items()]
    await conn.copy_records_to_table("images", records=rows, columns=IMAGE_COLUMNS)
    return ids


async def sources_of(conn: Connection, keys: Sequence[bytes]) -> dict[bytes, int]:
    return {row["url_hash"]: row["domain_id"] for row in await conn.fetch(SQL["sources_of"], keys)}


async def save_results(conn: Connection, settled: Sequence[ImageResult]) -> dict[int, int]:
    """Returns domain → how many of the images it counts were stored for the first time."""
    files = [each.file for each in settled]
    columns = SettledColumns(
        url_hash=[each.key for each in settled],
        status=[each.status for each in settled],
        reason=[each.reason for each in settled],
        format=[file.format if file else None for file in files],
        width=[file.width if file else None for file in files],
        height=[file.height if file else None for file in files],
        frames=[file.frames if file else None for file in files],
        file_size=[file.file_size if file and file.body_ref else None for file in files],
        content_hash=[file.content_hash if file and file.body_ref else None for file in files],
        perceptual_hash=[file.perceptual_hash if file and file.body_ref else None for file in files],
        body_ref=[file.body_ref if file else None for file in files],
        thumbnail_ref=[file.thumbnail_ref if file else None for file in files],
        moved_to=[each.moved_to for each in settled],
    )
    return dict(await SETTLE_IMAGES.fetch(conn, columns))


async def changed_pages(conn: Connection, shown: Sequence[PageImages], ids: Mapping[bytes, int]) -> set[int]:
    """Returns those of these previously visited pages whose images changed."""
    if not shown:
        return set()
    rows = await conn.fetch(
        SQL["changed_pages"],
        [page.domain_id for page in shown],
        [page.page_id for page in shown],
        [_joined(page, ids) for page in shown],
        [_alts(page) for page in shown],
    )
    return {row["page_id"] for row in rows}


async def end_sightings(conn: Connection, shown: Sequence[PageImages], ids: Mapping[bytes, int]) -> None:
    """Ends sightings on pages that were visited before; must run before their newest visit is recorded."""
    if shown:
        await conn.execute(
            SQL["end_sightings"],
            [page.domain_id for page in shown],
            [page.page_id for page in shown],
            [_joined(page, ids) for page in shown],
        )


async def record_sightings(conn: Connection, shown: Sequence[PageImages], ids: Mapping[bytes, int]) -> dict[int, int]:
    """Returns domain → how many images were never seen on their page before. The caller holds the domains' leases: no
    other process writes the sightings of their pages."""
    shown = [page for page in shown if page.sightings]
    if sum(len(page.sightings) for page in shown) < MANY:
        return await _merge_sightings(conn, shown, ids)
    places = [page.domain_id for page in shown], [page.page_id for page in shown]
    known = {row["page_id"] for row in await conn.fetch(SQL["pages_with_sightings"], *places)}
    found = await _merge_sightings(conn, [page for page in shown if page.page_id in known], ids)
    fresh = [page for page in shown if page.page_id not in known]
    rows = [
        (page.domain_id, page.page_id, ids[sighting.key], position, *sighting.image[1:])
        for page in fresh
        for position, sighting in enumerate(page.sightings)
    ]
    if rows:
        await conn.copy_records_to_table("page_images", records=rows, columns=SIGHTING_COLUMNS)
    for page in fresh:
        found[page.domain_id] = found.get(page.domain_id, 0) + len(page.sightings)
    return found


async def _merge_sightings(conn: Connection, shown: Sequence[PageImages], ids: Mapping[bytes, int]) -> dict[int, int]:
    if not shown:
        return {}
    images = [[sighting.image for sighting in page.sightings] for page in shown]
    rows = await conn.fetch(
        SQL["record_sightings"],
        [page.domain_id for page in shown],
        [page.page_id for page in shown],
        [_joined(page, ids) for page in shown],
        [",".join([image.discovery_type for image in each]) for each in images],
        [",".join([image.image_type for image in each]) for each in images],
        [_alts(page) for page in shown],
        [",".join([str(image.width or "") for image in each]) for each in images],
        [",".join([str(image.height or "") for image in each]) for each in images],
    )
    return {row["domain_id"]: row["images"] for row in rows}


async def list_pending_images(
    conn: Connection, domain_id: int, *, after: int, pages: int
) -> tuple[int | None, list[tuple[str, bytes, int]]]:
    """Returns the last page of the batch, None after the last one; and URL, key and depth of images that they show and
    that were never requested."""
    rows = await conn.fetch(SQL["list_pending_images"], domain_id, after, pages)
    found = [(row["url"], row["url_hash"], row["depth"]) for row in rows if row["url"] is not None]
    return rows[0]["last"], found


async def date_sightings(conn: Connection, seen: Sequence[tuple[int, int, datetime]]) -> None:
    """Takes domain, page and visit time of pages whose sightings this transaction recorded."""
    if seen:
        columns = list(map(list, zip(*seen, strict=True)))
        await conn.execute(SQL["date_sightings"], *columns)
        await conn.execute(SQL["date_images"], *columns)


def _alts(page: PageImages) -> str:
    return ALTS_BETWEEN.join([sighting.image.alt for sighting in page.sightings])


def _joined(page: PageImages, ids: Mapping[bytes, int]) -> str:
    return ",".join([str(ids[sighting.key]) for sighting in page.sightings])


async def merge_domains(conn: Connection, elder: int, others: Sequence[int]) -> None:
    """Merges domains, before their pages are merged."""
    for statement in ("gather_sightings", "drop_gathered", "take_over_images"):
        await conn.execute(SQL[statement], elder, others)
