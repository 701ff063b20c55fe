"""Where bodies are kept, what a hit says around the words looked for; elsewhere its description has to do."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from forager.db.types import Connection
from forager.errors import ForagerError
from forager.fetch.models import Fetched
from forager.search.models import Hit, Query, SearchBackend
from forager.storage import store

Load = Callable[[str, str], Fetched]
"""Reference and URL → the answer as it was read."""
MOST_HITS = 20
"""Further hits of a page have their descriptions: reading a body again takes some milliseconds."""
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
    """A body that cannot be had, or not be read, is no reason to fail."""
    try:
        return text_of(load(ref, url))
    except (ForagerError, OSError):
        return ""


def text_of(fetched: Fetched) -> str:
    """The first words of the main text; without asking for its language, which takes a second to begin with.
    What reads pages is imported here: every process that can search would have it, and few do."""
    from forager.parsing.charset import to_text
    from forager.parsing.text import first_words, take_content
    from forager.parsing.tree import parse

    text, _ = to_text(fetched.body[:MOST_BYTES], fetched.content_type)
    return first_words(take_content(parse(text))[0], MOST_WORDS)
