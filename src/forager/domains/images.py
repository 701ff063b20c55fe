"""One short function per statement of `images.sql`: what images do to domains. Opens no transactions."""

from collections.abc import Mapping, Sequence
from typing import Any

from forager.db import statements
from forager.urls import registrable

SQL = statements.load("forager.domains", "images.sql")


async def add_image_hosts(conn: Any, bases: Mapping[str, str], *, run: int) -> None:
    """Domains by name with the URL they were met at; known ones stay as they are."""
    names = sorted(bases)
    parents = [registrable(name) for name in names]
    await conn.execute(SQL["add_image_hosts"], names, parents, [bases[name] for name in names], run)


async def count_waiting(conn: Any, images: Mapping[int, int], *, run: int) -> None:
    if images:
        await conn.execute(SQL["count_waiting"], list(images), list(images.values()), run)


async def count_stored(conn: Any, images: Mapping[int, int]) -> None:
    if images:
        await conn.execute(SQL["count_stored"], list(images), list(images.values()))


async def count_turned(conn: Any, turned: Sequence[tuple[int, int, int, int, int]]) -> None:
    """Domain, new pages, how many of them wait, their good and their bad visits."""
    if turned:
        await conn.execute(SQL["count_turned"], *map(list, zip(*turned, strict=True)))
