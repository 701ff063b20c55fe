"""One short function per statement of `images.sql`: what images do to domains. Opens no transactions."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from forager.db import statements
from forager.db.types import Connection
from forager.urls.domain import registrable

SQL = statements.load("forager.domains", "images.sql")
BEGUN = -1
"""Before the first page, as 0 is, which says that nobody looked yet."""


async def add_image_hosts(conn: Connection, bases: Mapping[str, str], *, run: int | None) -> None:
    """Domains by name with the URL they were met at; known ones stay as they are."""
    names = sorted(bases)
    parents = [registrable(name) for name in names]
    await conn.execute(SQL["add_image_hosts"], names, parents, [bases[name] for name in names], run)


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
    """A domain with images that were found and never asked for."""

    id: int
    name: str
    run_id: int | None
    after_page: int
    """Those of pages behind this one have no place in a frontier yet."""


async def next_image_backfill(
    conn: Connection, *, by_default: bool, run: int | None = None, name: str | None = None, since: int = 0
) -> ImageBackfill | None:
    """The first that wants its images now; `by_default`: also those that do not say. What it comes to owe from now on
    is told from what it owes."""
    row = await conn.fetchrow(SQL["next_image_backfill"], by_default, run, name, since)
    if row is None:
        return None
    owing = ImageBackfill(*row)
    if owing.after_page:
        return owing
    await update_image_backfill(conn, owing, BEGUN)
    return owing._replace(after_page=BEGUN)


async def update_image_backfill(conn: Connection, owing: ImageBackfill, upto: int | None) -> None:
    """None: it owes nothing any more."""
    await conn.execute(SQL["update_image_backfill"], owing.id, owing.after_page, upto)


async def count_converted(conn: Connection, turned: Sequence[tuple[int, int, int, int, int]]) -> None:
    """Domain, new pages, how many of them wait, their good and their bad visits."""
    if turned:
        await conn.execute(SQL["count_converted"], *map(list, zip(*turned, strict=True)))
