"""Merges the pages of domains that are merged. A URL known twice becomes one page: the oldest row stays and gets the
visit history of all, and the state of the duplicate that was visited last."""

from collections.abc import Sequence
from typing import NamedTuple

from forager.db import statements
from forager.db.types import Connection
from forager.frontier.history import merge_archived_counts

SQL = statements.load("forager.frontier", "merge.sql")


class DuplicatePage(NamedTuple):
    page: int
    stays: int
    """The oldest of the pages with the same URL."""
    speaks: int
    """The page whose state and links are kept."""


async def merge_domain_pages(conn: Connection, elder: int, others: Sequence[int]) -> tuple[int, int]:
    """Returns the number of pages moved to the older domain, and the number that had a duplicate there."""
    await conn.execute(SQL["let_history_move"], "on")
    twins = [DuplicatePage(*row) for row in await conn.fetch(SQL["pages_known_twice"], [elder, *others])]
    if twins:
        await _merge_pages(conn, twins)
    moved: int = await conn.fetchval(SQL["move_pages"], elder, others)
    await conn.execute(SQL["follow_pages"], elder)
    await conn.execute(SQL["links_follow_pages"], elder)
    await conn.execute(SQL["sitemaps_follow_pages"], elder, others)
    await merge_archived_counts(conn, elder, others)
    await conn.execute(SQL["let_history_move"], "off")
    return moved, len(twins) - len({twin.stays for twin in twins})


async def _merge_pages(conn: Connection, twins: Sequence[DuplicatePage]) -> None:
    silent = [twin.page for twin in twins if twin.page != twin.speaks]
    await conn.execute(SQL["drop_spare_tasks"], silent)
    await conn.execute(SQL["merge_pages"], *map(list, zip(*twins, strict=True)))
    await conn.execute(SQL["drop_spare_links"], silent)
    await conn.execute(SQL["drop_spare_details"], silent)
    going = [twin for twin in twins if twin.page != twin.stays]
    places = [twin.page for twin in going], [twin.stays for twin in going]
    for statement in ("move_links_from", "move_details", "move_links_to", "move_tasks"):
        await conn.execute(SQL[statement], *places)
    await conn.execute(SQL["remove_pages"], places[0])
