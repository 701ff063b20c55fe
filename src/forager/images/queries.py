"""Images as operators see them: lists, one image with where it was seen, similar images. Reads only."""

from forager.db import statements
from forager.db.rows import START, Key, Row, as_dicts
from forager.db.types import Connection
from forager.domains.lookup import known_name
from forager.errors import BadUrlError, NotFoundError, UsageError
from forager.urls.domain import domain_of
from forager.urls.normalize import normalize, url_key

SQL = statements.load("forager.images", "list.sql")
LARGEST_ID = 2**63 - 1


async def list_images(
    conn: Connection,
    after: Key = START,
    *,
    domain: str | None = None,
    shown_in: str | None = None,
    page: int | None = None,
    status: str | None = None,
    file_format: str | None = None,
    limit: int | None = None,
) -> list[Row]:
    """Returns images in the order they were found: files of `domain`, those that pages of the domain `shown_in` show,
    those that one page, given by its id, shows."""
    name, showing = await known_name(conn, domain), await known_name(conn, shown_in)
    filters = (name, status, file_format, showing, limit)
    if page is not None:
        return as_dicts(await conn.fetch(SQL["images_of_page"], *after, page, *filters))
    return as_dicts(await conn.fetch(SQL["images_by_id"], *after, *filters))


async def list_sightings(
    conn: Connection,
    *,
    domain: str | None = None,
    page: str | None = None,
    file_format: str | None = None,
    status: str | None = None,
    limit: int | None = None,
) -> list[Row]:
    """Returns images that pages of a domain, or one page given by its URL, show, each with its first sighting there."""
    page_id = await conn.fetchval(SQL["page_of_url"], *_parse_url(page)) if page is not None else None
    if page is not None and page_id is None:
        await known_name(conn, domain)
        return []
    images = await list_images(conn, shown_in=domain, page=page_id, status=status, file_format=file_format, limit=limit)
    ids, name = [image["id"] for image in images], await known_name(conn, domain)
    seen = {row["id"]: dict(row) for row in await conn.fetch(SQL["sightings"], ids, name, page_id)}
    return [image | seen[image["id"]] for image in images]


async def describe_image(connection: Connection, which: str, *, pages: int | None = None) -> Row:
    """Returns one image by its URL or its number, with every page it was seen on."""
    image = await _find(connection, which)
    shown = [dict(row) for row in await connection.fetch(SQL["pages_of_image"], image["id"], pages)]
    return image | {"pages": shown}


async def similar_images(
    connection: Connection, which: str, *, within: int, limit: int | None = None
) -> tuple[Row, list[Row]]:
    """Returns an image and similar ones, nearest first."""
    image = await _find(connection, which)
    if image["perceptual_hash"] is None:
        raise NotFoundError(
            f"{image['url']} has no perceptual hash: it is {image['status']}. Only stored pictures are compared."
        )
    rows = await connection.fetch(SQL["similar_images"], image["id"], within, limit)
    return image, [dict(row) for row in rows]


async def _find(connection: Connection, which: str) -> Row:
    is_number = which.isascii() and which.isdecimal() and int(which) <= LARGEST_ID
    row = await connection.fetchrow(
        SQL["find_image"], None if is_number else _parse_url(which)[1], int(which) if is_number else None
    )
    if row is None:
        raise NotFoundError(f"There is no image {which!r}; `forager images` lists those that are known.")
    return dict(row)


def _parse_url(url: str) -> tuple[str, bytes]:
    """Returns the domain and the key of a URL."""
    try:
        normal = normalize(url)
    except BadUrlError as error:
        raise UsageError(str(error)) from None
    return domain_of(normal), url_key(normal)
