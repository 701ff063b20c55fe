"""Images as an operator looks at them: listed, one with where it was seen, those that look alike. Reads only."""

from typing import Any

from forager.db import statements
from forager.db.rows import Key, Row, as_dicts
from forager.domains.lookup import known_name
from forager.errors import BadUrlError, NotFoundError, UsageError
from forager.urls.normalize import normalize, url_key

SQL = statements.load("forager.images", "list.sql")
LARGEST_ID = 2**63 - 1


async def list_images(
    connection: Any,
    *,
    domain: str | None = None,
    page: str | None = None,
    file_format: str | None = None,
    status: str | None = None,
    limit: int | None = None,
) -> list[Row]:
    name = await known_name(connection, domain)
    key = _key(page) if page is not None else None
    return [dict(row) for row in await connection.fetch(SQL["list_images"], name, key, file_format, status, limit)]


async def describe_image(connection: Any, which: str, *, pages: int | None = None) -> Row:
    """One image by its URL or its number, with every page it was seen on."""
    image = await _find(connection, which)
    shown = [dict(row) for row in await connection.fetch(SQL["pages_of_image"], image["id"], pages)]
    return image | {"pages": shown}


async def similar_images(
    connection: Any, which: str, *, within: int, limit: int | None = None
) -> tuple[Row, list[Row]]:
    """An image and its neighbours, nearest first."""
    image = await _find(connection, which)
    if image["perceptual_hash"] is None:
        raise NotFoundError(
            f"{image['url']} has no perceptual hash: it is {image['status']}. Only stored pictures are compared."
        )
    rows = await connection.fetch(SQL["similar_images"], image["id"], within, limit)
    return image, [dict(row) for row in rows]


async def _find(connection: Any, which: str) -> Row:
    is_number = which.isascii() and which.isdecimal() and int(which) <= LARGEST_ID
    row = await connection.fetchrow(
        SQL["find_image"], None if is_number else _key(which), int(which) if is_number else None
    )
    if row is None:
        raise NotFoundError(f"There is no image {which!r}; `forager images` lists those that are known.")
    return dict(row)


def _key(url: str) -> bytes:
    try:
        return url_key(normalize(url))
    except BadUrlError as error:
        raise UsageError(str(error)) from None


async def page_of_images(
    conn: Any,
    after: Key,
    *,
    domain: str | None = None,
    status: str | None = None,
    file_format: str | None = None,
    page: int | None = None,
    limit: int,
) -> list[Row]:
    """`page` is the id of one that shows them."""
    name = await known_name(conn, domain)
    if page is not None:
        return as_dicts(await conn.fetch(SQL["images_of_page"], *after, page, name, status, file_format, limit))
    return as_dicts(await conn.fetch(SQL["images_by_id"], *after, name, status, file_format, limit))
