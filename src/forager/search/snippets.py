"""Adds snippets around the matches to hits whose text or body is stored; other hits show their description."""

import asyncio
import contextlib
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from forager.db.types import Connection
from forager.errors import ForagerError
from forager.fetch.models import Fetched
from forager.search.models import Hit, Query, SearchBackend
from forager.search.passages import LONGEST_TEXT
from forager.storage import store
from forager.storage.refs import TextRef
from forager.storage.refs import parse as parse_ref
from forager.storage.text import Bodies

TARGET = r"\([^()\s]{0,2000}(?:\([^()\s]{0,500}\)[^()\s]{0,500}){0,5}(?: \"[^\"\n]{0,500}\")?\)"
IMAGE, LINK = re.compile(rf"!\[([^\[\]\n]{{0,500}})\]{TARGET}"), re.compile(rf"\[([^\[\]\n]{{0,500}})\]{TARGET}")
MARKUP = re.compile(
    r"^[ \t]*(?:#{1,6} |> |[-*+] |\d+[.)] |```.*$|\|[ :|-]+$)|[*`|]+|\\(?=[!-/:-@\[-`{-~])", re.MULTILINE
)
"""Signs of Markdown that a snippet does without. Parsing it properly takes 10 ms a page."""
MOST_HITS = 20
"""Further hits of a page show their descriptions: parsing a body again takes some milliseconds."""
MOST_WORDS = 20_000
MOST_BYTES = 2_000_000
BUDGET_S = 0.3
"""Time for all texts of a page of hits. Parsing a stored body takes 2 ms, a distant bucket may take far longer;
hits whose text is not there by then show their descriptions."""


async def add_snippets(
    conn: Connection, backend: SearchBackend, query: Query, hits: Sequence[Hit], bodies: Bodies
) -> list[Hit]:
    shown = hits[:MOST_HITS]
    refs = await store.newest_bodies(conn, [hit.id for hit in shown])
    texts: dict[int, str] = {}
    stored = [(hit.id, refs[hit.id], hit.url) for hit in shown if hit.id in refs]
    if stored:
        await asyncio.to_thread(_import_parser)
        is_late = threading.Event()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(BUDGET_S):
                await asyncio.to_thread(_load_texts, bodies, stored, texts, is_late)
        is_late.set()
    found = {page: text for page, text in texts.copy().items() if text}
    snippets = await backend.mark(query, found) if found else {}
    return [replace(hit, snippet=snippets.get(hit.id) or hit.snippet) for hit in hits]


def _load_texts(
    bodies: Bodies, stored: Sequence[tuple[int, str, str]], texts: dict[int, str], is_late: threading.Event
) -> None:
    """Loads texts one after the other, best hit first: the parser holds the interpreter, more threads gain nothing."""
    for page, ref, url in stored:
        if is_late.is_set():
            return
        texts[page] = load_plain(bodies, ref, url)


def load_plain(bodies: Bodies, ref: str, url: str) -> str:
    """Returns the main text of a stored page; a missing or unreadable one is not an error."""
    try:
        found = parse_ref(ref)
        return strip_markup(bodies.load_text(found)) if isinstance(found, TextRef) else text_of(bodies.load(ref, url))
    except (ForagerError, OSError):
        return ""


def strip_markup(markdown: str) -> str:
    plain = LINK.sub(r"\1", IMAGE.sub(r"\1", markdown[:LONGEST_TEXT]))
    return " ".join(MARKUP.sub(" ", plain).split())


def text_of(fetched: Fetched) -> str:
    """Returns the main text. Skips language detection, which takes a second to initialise."""
    to_text, parse, take_content, first_words = _import_parser()
    text, _ = to_text(fetched.body[:MOST_BYTES], fetched.content_type)
    found: str = first_words(take_content(parse(text))[0], MOST_WORDS)
    return found


def _import_parser() -> Sequence[Callable[..., Any]]:
    """Imports the parser here, because every process can search and few need it."""
    from forager.parsing.charset import to_text
    from forager.parsing.text import first_words, take_content
    from forager.parsing.tree import parse

    return to_text, parse, take_content, first_words
