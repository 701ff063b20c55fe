"""Adds snippets around the matches to hits whose bodies are stored; other hits show their description."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from forager.db.types import Connection
from forager.errors import ForagerError
from forager.fetch.models import Fetched
from forager.search.models import Hit, Query, SearchBackend
from forager.storage import store

Load = Callable[[str, str], Fetched]
"""Reference and URL → the stored response."""
MOST_HITS = 20
"""Further hits of a page show their descriptions: parsing a body again takes some milliseconds."""
MOST_WORDS = 2000
MOST_BYTES = 2_000_000


async def add_snippets(
    conn: Connection, backend: SearchBackend, query: Query, hits: Sequence[Hit], load: Load
) -> list[Hit]:
    refs = await store.newest_bodies(conn, [hit.id for hit in hits[:MOST_HITS]])
    texts = {
        hit.id: text
        for hit in hits
        if hit.id in refs and (text := await asyncio.to_thread(_load_text, load, refs[hit.id], hit.url))
    }
    snippets = await backend.mark(query, texts) if texts else {}
    return [replace(hit, snippet=snippets.get(hit.id) or hit.snippet) for hit in hits]


def _load_text(load: Load, ref: str, url: str) -> str:
    """Returns the text of a stored body; a missing or unreadable body is not an error."""
    try:
        return text_of(load(ref, url))
    except (ForagerError, OSError):
        return ""


def text_of(fetched: Fetched) -> str:
    """Returns the beginning of the main text. Skips language detection, which takes a second to initialise. Imports
    the parser here, because every process can search and few need it."""
    from forager.parsing.charset import to_text
    from forager.parsing.text import first_words, take_content
    from forager.parsing.tree import parse

    text, _ = to_text(fetched.body[:MOST_BYTES], fetched.content_type)
    return first_words(take_content(parse(text))[0], MOST_WORDS)
