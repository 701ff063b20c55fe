"""What an operator may ask of the index: search it, bring it up to date. Every door (CLI, API) calls these."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import asyncpg

from forager.control.look import known_name
from forager.control.snippets import Load, add_snippets
from forager.errors import ForagerError
from forager.extract import CONFIGS, to_query
from forager.records.search import HitPage, ProductQuery, Query, SearchBackend
from forager.search import index
from forager.search.postgres import PostgresSearch

FEW = 3
"""Hits below which somebody may have misspelled a word."""
CATCH_UP_PAGES = 2000
"""Pages a search puts into the index before it looks: a crawl that ended just now is found at once."""
MOST_WAITING = 1_000_000


@dataclass(frozen=True, slots=True)
class Answer:
    page: HitPage
    suggestion: str | None = None
    """The words somebody may have meant."""
    is_corrected: bool = False
    """Nothing has the words that were asked for: these are hits for the suggestion."""
    waiting: int = 0
    """Pages that were read and cannot be found yet."""


async def search(pool: Any, query: Query, *, load: Load | None = None) -> Answer:
    """Hits, and help where there are few. Opens its own transactions. `load` gives stored bodies, for snippets."""
    async with pool.acquire() as conn:
        waiting = await _catch_up(conn)
        query = replace(query, domain=await known_name(conn, query.domain))
        if not isinstance(query, ProductQuery):
            query = replace(query, words=to_query(query.words))  # as the words of pages were made
        try:
            async with conn.transaction(isolation="repeatable_read", readonly=True):
                answer = await _ask(backend := PostgresSearch(conn), query)
                if load is not None and not isinstance(query, ProductQuery):
                    asked = replace(query, words=answer.suggestion or query.words) if answer.is_corrected else query
                    hits = await add_snippets(conn, backend, asked, answer.page.hits, load)
                    answer = replace(answer, page=replace(answer.page, hits=hits))
        except asyncpg.QueryCanceledError:
            raise ForagerError("The search took too long: narrow it with --domain, --language or --since.") from None
    return replace(answer, waiting=waiting)


async def _ask(backend: SearchBackend, query: Query) -> Answer:
    look_up = partial(_look_up, backend)
    page = await look_up(query)
    if page.total >= FEW or query.after:
        return Answer(page)
    suggestion = await backend.correct(query.words)
    if suggestion is None:
        return Answer(page)
    other = await look_up(replace(query, words=suggestion))
    if not other.hits or other.total <= page.total:
        return Answer(page)
    return Answer(page, suggestion) if page.hits else Answer(other, suggestion, is_corrected=True)


async def _look_up(backend: SearchBackend, query: Query) -> HitPage:
    if isinstance(query, ProductQuery):
        return await backend.search_products(query)
    return await backend.search_pages(query)


async def _catch_up(conn: Any) -> int:
    """Index what a moment is enough for; answers how much is left."""
    left = CATCH_UP_PAGES
    try:
        while left > 0 and (done := (await index.index_portion(conn, CONFIGS)).pages):
            left -= done
    except asyncpg.ReadOnlySQLTransactionError:  # a replica, or a user who may only read
        pass
    return await index.count_waiting(conn, most=MOST_WAITING)


async def index_all(pool: Any, *, anew: bool = False) -> int:
    """Everything that was read goes into the index, however long it takes; answers how many pages it changed."""
    async with pool.acquire() as conn:
        if anew:
            await index.start_over(conn)
        return (await index.index_many(conn, CONFIGS)).changed
