"""Adds the texts of pages to their rows: as Markdown, from the newest visit whose text or body is stored."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple

from forager.db.query import Query
from forager.db.types import Connection
from forager.errors import DecodeError, StoreError
from forager.export.rows import SQL
from forager.logs import log
from forager.storage.text import Bodies, load_text
from forager.urls.normalize import url_key

COLUMN = "text"
AT_ONCE = 50
"""Pages whose texts are in memory at once."""


class _StoredBody(NamedTuple):
    url: str
    body_ref: str


TEXTS_OF = Query(SQL["texts_of"], _StoredBody)


async def add_texts(
    conn: Connection, rows: AsyncIterator[dict[str, Any]], store: Bodies
) -> AsyncIterator[dict[str, Any]]:
    """Yields the rows with one more column; None where no text is stored. Files are read and parsed in threads."""
    batch: list[dict[str, Any]] = []
    async for row in rows:
        batch.append(row)
        if len(batch) == AT_ONCE:
            for each in await _with_texts(conn, batch, store):
                yield each
            batch = []
    for each in await _with_texts(conn, batch, store):
        yield each


async def _with_texts(conn: Connection, rows: Sequence[dict[str, Any]], store: Bodies) -> list[dict[str, Any]]:
    if not rows:
        return []
    names, urls = [row["domain"] for row in rows], [row["url"] for row in rows]
    refs = dict(await TEXTS_OF.fetch(conn, names, [url_key(url) for url in urls]))
    texts = await asyncio.to_thread(lambda: [_load(store, refs.get(url), url) for url in urls])
    return [row | {COLUMN: text} for row, text in zip(rows, texts, strict=True)]


def _load(store: Bodies, ref: str | None, url: str) -> str | None:
    if ref is None:
        return None
    try:
        return load_text(store, ref, url)
    except (StoreError, DecodeError) as error:
        log().warning("text not exported", action="export.no_text", url=url, error=str(error))
        return None
