"""A stored page as it was at its newest visit: its row, and its body where one is kept."""

import asyncio
from dataclasses import dataclass

from forager.db.rows import Row
from forager.errors import ForagerError, NotFoundError
from forager.fetch.models import Fetched
from forager.instance import Forager
from forager.pages.queries import find_page, get_page
from forager.parsing.models import Reading
from forager.storage import store
from forager.storage.factory import open_readonly_store
from forager.storage.refs import TextRef, parse


@dataclass(frozen=True, slots=True)
class StoredContent:
    """What is stored of one visit: the text, and under another policy than `text` the response it was read from."""

    markdown: str
    fetched: Fetched | None = None
    reading: Reading | None = None


@dataclass(frozen=True, slots=True)
class StoredPage:
    page: Row
    content: StoredContent


async def find_stored(forager: Forager, url: str) -> tuple[Row, str | None]:
    """Returns a page by any spelling of its URL, and the reference of its newest body, if one is stored."""
    async with (
        forager.pool.acquire() as conn,
        conn.transaction(isolation="repeatable_read", readonly=True),
    ):
        page = await get_page(conn, (await find_page(conn, url))["id"])
        refs = await store.newest_bodies(conn, [page["id"]])
    return page, refs.get(page["id"])


async def load_stored(forager: Forager, url: str) -> StoredPage:
    """Returns a page with its newest body, read again. Raises NotFoundError, which says how to keep bodies, if there is
    none."""
    page, ref = await find_stored(forager, url)
    if ref is None:
        raise NotFoundError(explain_missing(page))
    return StoredPage(page, await asyncio.to_thread(read_stored, forager, ref, page["url"]))


def explain_missing(page: Row) -> str:
    if page["fetched_at"] is None:
        return f"{page['url']} was not read yet; `forager why {page['url']}` says when it will be."
    return (
        f"No text of {page['url']} is stored. `forager domain {page['domain']} set --keep text` keeps it from the next "
        "visit on, `--keep snapshot` the whole page."
    )


def read_stored(forager: Forager, ref: str, url: str) -> StoredContent:
    """Returns a stored text, or a stored response that is read again. Blocks."""
    from forager.parsing import page as page_parser

    bodies, place = open_readonly_store(forager.settings), parse(ref)
    try:
        if isinstance(place, TextRef):
            return StoredContent(bodies.load_text(place))
        fetched = bodies.load(ref, url)
    except (OSError, KeyError) as error:
        raise ForagerError(f"The stored body of {url} cannot be loaded: {error}.") from None
    page_parser.preload()
    words, agent = forager.settings.search.words_per_page, forager.settings.politeness.robots_agent
    reading = page_parser.read(fetched, keyword_words=words, robots_agent=agent, markdown=True)
    return StoredContent(reading.markdown, fetched, reading)
