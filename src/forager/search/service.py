"""Search operations for operators: search, and update the index. The CLI and the API call these functions."""

import contextlib
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import asyncpg

from forager.db import query as db_query
from forager.db.types import Connection, Pool
from forager.domains.lookup import known_name
from forager.errors import ConflictError, ForagerError, SearchServerError
from forager.parsing.keywords import CONFIGS
from forager.parsing.words import to_query
from forager.search import index
from forager.search.bulk_index import push_changes
from forager.search.models import HitPage, ProductQuery, Query, SearchBackend
from forager.search.names import Names
from forager.search.opensearch import ServerSearch
from forager.search.postgres import SQL, PostgresSearch
from forager.search.rebuild import has_live
from forager.search.server import SearchServer
from forager.search.server_query import is_search_cursor
from forager.search.snippets import add_snippets
from forager.storage.text import Bodies

FEW = 3
"""With fewer hits, a spelling correction is tried."""
CATCH_UP_PAGES = 2000
"""Pages that a search indexes first, so that a crawl that has just ended can be found at once."""
MOST_WAITING = 1_000_000
MOST_COUNTED = 10_000


class Unsearched(NamedTuple):
    cut: int
    noindex: int


UNSEARCHED = db_query.Query(SQL["count_unsearched"], Unsearched)


@dataclass(frozen=True, slots=True)
class SearchResult:
    page: HitPage
    suggestion: str | None = None
    """The words the user may have meant."""
    is_corrected: bool = False
    """There are no hits for the original words; these are hits for the suggestion."""
    waiting: int = 0
    """Fetched pages that are not indexed yet."""
    cut: int | None = None
    """Where nothing was found: pages whose text has more words than are searched, up to `MOST_COUNTED`."""
    noindex: int | None = None
    """Where nothing was found: pages that forbid indexing, and are not searched, up to `MOST_COUNTED`."""
    note: str | None = None
    """What is wrong with the filters in the query, and why PostgreSQL was used instead of the search server."""


@dataclass(frozen=True, slots=True)
class ExternalSearch:
    """A search server used instead of PostgreSQL while it is available."""

    server: SearchServer
    names: Names


async def search(
    pool: Pool, query: Query, *, bodies: Bodies | None = None, elsewhere: ExternalSearch | None = None
) -> SearchResult:
    """Returns hits, and a suggestion if there are few. Opens its own transactions. `bodies` are read for
    snippets."""
    async with pool.acquire() as conn:
        waiting = await _catch_up(conn)
        query = replace(query, domain=await known_name(conn, query.domain))
        if not isinstance(query, ProductQuery):
            query = replace(query, words=to_query(query.words))  # processed like the words of pages
        try:
            answer = await _search_backends(conn, query, bodies, elsewhere)
        except asyncpg.QueryCanceledError:
            raise ForagerError("The search took too long: narrow it with --domain, --language or --since.") from None
        if not answer.page.hits and not query.after and not answer.page.is_empty_query:
            missed = await UNSEARCHED.one(conn, MOST_COUNTED)
            answer = replace(answer, cut=missed.cut, noindex=missed.noindex)
    note = " ".join(filter(None, [*answer.page.problems, answer.note])) or None
    return replace(answer, waiting=waiting, note=note)


async def _search_backends(
    conn: Connection, query: Query, bodies: Bodies | None, elsewhere: ExternalSearch | None
) -> SearchResult:
    """Uses the backend that issued the cursor `after`; without one, the server, or PostgreSQL if the server fails."""
    is_theirs, is_ours = is_search_cursor(query.after), bool(query.after) and not is_search_cursor(query.after)
    why = None
    if elsewhere is not None and not is_ours:
        try:
            await _sync_external(conn, elsewhere)
            async with conn.transaction(isolation="repeatable_read", readonly=True):
                if await has_live(conn):
                    return await _look(conn, ServerSearch(conn, elsewhere.server, elsewhere.names), query, bodies)
            why = "The search server has no index yet."
        except SearchServerError as error:
            why = str(error)
    if is_theirs:
        raise ConflictError(
            f"{why or 'There is no search server any more.'} The place `after` is one of its own: ask again later, or "
            "from the beginning, without it.",
            "search_moved",
        )
    async with conn.transaction(isolation="repeatable_read", readonly=True):
        answer = await _look(conn, PostgresSearch(conn), query, bodies)
    return replace(answer, note=f"{why} PostgreSQL answered instead." if why else None)


async def _look(conn: Connection, backend: SearchBackend, query: Query, bodies: Bodies | None) -> SearchResult:
    answer = await _run_search(backend, query)
    if bodies is None or isinstance(query, ProductQuery):
        return answer
    asked = replace(query, words=answer.suggestion or query.words) if answer.is_corrected else query
    hits = await add_snippets(conn, backend, asked, answer.page.hits, bodies)
    return replace(answer, page=replace(answer.page, hits=hits))


async def _run_search(backend: SearchBackend, query: Query) -> SearchResult:
    look_up = partial(_look_up, backend)
    page = await look_up(query)
    if page.total >= FEW or query.after:
        return SearchResult(page)
    suggestion = await backend.correct(query.words)
    if suggestion is None:
        return SearchResult(page)
    other = await look_up(replace(query, words=suggestion))
    if not other.hits or other.total <= page.total:
        return SearchResult(page)
    return SearchResult(page, suggestion) if page.hits else SearchResult(other, suggestion, is_corrected=True)


async def _look_up(backend: SearchBackend, query: Query) -> HitPage:
    if isinstance(query, ProductQuery):
        return await backend.search_products(query)
    return await backend.search_pages(query)


async def _catch_up(conn: Connection) -> int:
    """Indexes up to `CATCH_UP_PAGES` pages; returns the number left."""
    left = CATCH_UP_PAGES
    try:
        while left > 0 and (done := (await index.index_batch(conn, CONFIGS)).pages):
            left -= done
    except asyncpg.ReadOnlySQLTransactionError:  # a read-only user
        pass
    return await index.count_waiting(conn, most=MOST_WAITING)


async def _sync_external(conn: Connection, elsewhere: ExternalSearch) -> None:
    """Sends what was just indexed, so that the server finds it at once; the job sends the rest."""
    if elsewhere.server.is_circuit_open:
        return
    left = CATCH_UP_PAGES
    with contextlib.suppress(asyncpg.ReadOnlySQLTransactionError):  # as above
        while left > 0 and (done := await push_changes(conn, elsewhere.server, elsewhere.names, is_hasty=True)).changes:
            left -= done.changes


async def index_all(pool: Pool, *, anew: bool = False) -> int:
    """Indexes all fetched pages, however long it takes; returns the number of pages changed."""
    async with pool.acquire() as conn:
        if anew:
            await index.reset_progress(conn)
        return (await index.index_many(conn, CONFIGS)).changed
