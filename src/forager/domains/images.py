"""One short function per statement of `images.sql`: domain updates caused by images. Opens no transactions."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from forager.db import statements
from forager.db.types import Connection
from forager.urls.domain import registrable

SQL = statements.load("forager.domains", "images.sql")
BEGUN = -1
"""Before the first page, like 0, but 0 means that the backfill has not started."""


async def add_image_hosts(
    conn: Connection, bases: Mapping[str, str], *, run: int | None, source: str = "image"
) -> None:
    """Adds domains by name with the URL they were discovered at; known ones are unchanged."""
    names = sorted(bases)
    parents = [registrable(name) for name in names]
    await conn.execute(SQL["add_image_hosts"], names, parents, [bases[name] for name in names], run, source)


async def count_waiting(conn: Connection, images: Mapping[int, int], *, run: int | None) -> None:
    if images:
        await conn.execute(SQL["count_waiting"], list(images), list(images.values()), run)


async def count_stored(conn: Connection, images: Mapping[int, int]) -> None:
    if images:
        await conn.execute(SQL["count_stored"], list(images), list(images.values()))


async def hold_showing(conn: Connection, domain_ids: Sequence[int]) -> None:
    await conn.fetch(SQL["hold_showing"], domain_ids)


async def count_found(conn: Connection, images: Mapping[int, int]) -> None:
    if images:
        await conn.execute(SQL["count_found"], list(images), list(images.values()))


async def mark_image_backfill(conn: Connection, domain_ids: Sequence[int]) -> None:
    if domain_ids:
        await conn.execute(SQL["mark_image_backfill"], domain_ids)


class ImageBackfill(NamedTuple):
    """A domain with images that were found and never requested."""

    id: int
    name: str
    run_id: int | None
    after_page: int
    """The images of pages after this one are not in a frontier yet."""


async def next_image_backfill(
    conn: Connection, *, by_default: bool, run: int | None = None, name: str | None = None, since: int = 0
) -> ImageBackfill | None:
    """Returns the first domain that wants its images now; `by_default`: also those without a setting. Marks the
    backfill as started, so that images found from now on are distinguishable from those it covers."""
    row = await conn.fetchrow(SQL["next_image_backfill"], by_default, run, name, since)
    if row is None:
        return None
    owing = ImageBackfill(*row)
    if owing.after_page:
        return owing
    await update_image_backfill(conn, owing, BEGUN)
    return owing._replace(after_page=BEGUN)


async def update_image_backfill(conn: Connection, owing: ImageBackfill, upto: int | None) -> None:
    """Stores the progress; None: the backfill is complete."""
    await conn.execute(SQL["update_image_backfill"], owing.id, owing.after_page, upto)


async def count_converted(conn: Connection, turned: Sequence[tuple[int, int, int, int, int]]) -> None:
    """Takes domain, new pages, how many of them wait, and their successful and failed visits."""
    if turned:
        await conn.execute(SQL["count_converted"], *map(list, zip(*turned, strict=True)))
