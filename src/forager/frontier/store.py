"""One short function per statement of `queries.sql`. Opens no transactions: the caller does."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from forager.db import statements
from forager.db.query import BulkQuery, Query
from forager.db.types import Connection
from forager.frontier import compiled
from forager.frontier.cache_warm_up import KeyRange
from forager.frontier.compiled import JoinLinks
from forager.frontier.details import ITEMS_CUT, MOST_BYTES
from forager.frontier.lexemes import Lexemes
from forager.frontier.models import Outcome
from forager.frontier.page_priority import priority_of
from forager.frontier.rows import (
    AddedPage,
    ClosedTaskColumns,
    DomainPages,
    DueDomain,
    FoundPage,
    PageDepth,
    PageEntries,
    ReadingColumns,
    RelaxedPage,
    SavedPage,
)
from forager.links.models import Discovery, Selection
from forager.parsing.models import Keywords, Reading

SQL = statements.load("forager.frontier")
LINKS_CUT = "links_cut"
"""Flag of a page with more links than the limit per page."""
NOINDEX = "noindex"
"""Flag of a page that asks not to be found."""
ADD_PAGES = Query(SQL["add_pages"], AddedPage)
FIND_PAGES = Query(SQL["find_pages"], FoundPage)
NEXT_PAGES = Query(SQL["next_pages"], PageEntries)
RELAX_DEPTHS = Query(SQL["update_depths"], RelaxedPage)
CLOSE_TASKS = BulkQuery(SQL["close_tasks"], ClosedTaskColumns, int)
RECORD_READINGS = BulkQuery(SQL["save_signals"], ReadingColumns, SavedPage)
RECORD_STATES = Query(SQL["record_states"], PageDepth)
REOPEN_PAGES = Query(SQL["reopen_pages"], DomainPages)
NOT_VISITED_IN_RUN = Query(SQL["not_visited_in_run"], int)
REVISIT_SEEDS = Query(SQL["revisit_seeds"], DueDomain)
REOPEN_REJECTED = Query(SQL["requeue_rejected"], DomainPages)

T = TypeVar("T")

ANCHORS_BETWEEN = "\x1f"
"""The unit separator counts as white space, which parsing collapses to single spaces: no anchor contains it."""


async def add_pages(
    conn: Connection,
    pages: Sequence[tuple[int, Discovery]],
    *,
    is_seed: bool = False,
    is_image: bool = False,
    is_sitemap: bool = False,
) -> list[AddedPage]:
    """Returns the pages that are new."""
    return await ADD_PAGES.fetch(
        conn,
        [domain_id for domain_id, _ in pages],
        [page.url for _, page in pages],
        [page.key for _, page in pages],
        [page.depth for _, page in pages],
        [priority_of(page.url, page.depth, is_seed=is_seed, is_image=is_image) for _, page in pages],
        [page.redirects for _, page in pages],
        is_seed,
        is_image,
        is_sitemap,
    )


async def find_pages(conn: Connection, keys: Sequence[tuple[int, bytes]]) -> list[FoundPage]:
    """Returns the known pages among those with these domains and keys."""
    return await FIND_PAGES.fetch(conn, [domain for domain, _ in keys], [key for _, key in keys])


async def next_pages(conn: Connection, portions: Sequence[KeyRange]) -> list[bytes]:
    """Returns the known pages of each key range, in the format of `UrlCache.add_entries`."""
    rows = await NEXT_PAGES.fetch(
        conn,
        [portion.domain_id for portion in portions],
        [portion.after for portion in portions],
        [portion.most for portion in portions],
    )
    entries = {row.domain_id: row.entries or b"" for row in rows}
    return [entries[portion.domain_id] for portion in portions]


async def update_depths(conn: Connection, depths: dict[int, int]) -> set[int]:
    """Lowers the depths of pages, and ranks them as pages of that depth. Returns the domains in which the depth of an
    unvisited page changed. Repeats until no depth changes: links of a page that is being recorded become visible only
    when its row lock is released."""
    woken: set[int] = set()
    while pages := await RELAX_DEPTHS.fetch(conn, list(depths), list(depths.values())):
        woken |= {page.domain_id for page in pages if page.status in {"discovered", "queued"}}
        depths = {page.id: page.depth for page in pages}
        if ranked := [(page, priority) for page in pages if (priority := _rerank(page)) != page.priority]:
            before = [page.priority for page, _ in ranked]
            await conn.execute(
                SQL["rerank_pages"], [page.id for page, _ in ranked], before, [priority for _, priority in ranked]
            )
    return woken


def _rerank(page: RelaxedPage) -> int:
    """Returns the priority of a page at its new depth. One that the rule did not give it, such as a person's, stays."""

    def at(depth: int) -> int:
        return priority_of(page.url, depth, is_seed=page.is_seed, is_image=page.is_image)

    return at(page.depth) if page.priority == at(page.was_depth) else page.priority


async def close_tasks(conn: Connection, outcomes: Sequence[Outcome]) -> set[int]:
    """Closes tasks. Returns those that were still open."""
    columns = ClosedTaskColumns(
        id=[outcome.target.task_id for outcome in outcomes],
        outcome=[outcome.kind.value for outcome in outcomes],
        requested_at=[outcome.requested_at for outcome in outcomes],
        status_code=[outcome.status_code for outcome in outcomes],
        error_code=_empty_if_null([outcome.error.code if outcome.error else None for outcome in outcomes]),
        error_message=_empty_if_null([str(outcome.error)[:2000] if outcome.error else None for outcome in outcomes]),
        blame=_empty_if_null([outcome.error.blame.value if outcome.error else None for outcome in outcomes]),
        response_time_ms=[outcome.response_time_ms for outcome in outcomes],
        bytes=[outcome.wire_bytes for outcome in outcomes],
        is_changed=_empty_if_null([outcome.is_changed for outcome in outcomes]),
        pace_ms=[outcome.pace_ms for outcome in outcomes],
        earlier_requests=_empty_if_null([_array(outcome.earlier_requests) for outcome in outcomes]),
        proxy_id=_empty_if_null([outcome.proxy_id for outcome in outcomes]),
        body_ref=_empty_if_null([outcome.body_ref for outcome in outcomes]),
    )
    return set(await CLOSE_TASKS.fetch(conn, columns))


def _empty_if_null(column: list[T | None]) -> list[T | None]:
    """Returns an empty list for a column of NULLs: `unnest` pads it to the length of the longer ones. Otherwise the
    client and the server process each NULL, up to two fifths of all values of a batch."""
    return [] if column.count(None) == len(column) else column


def flags_of(reading: Reading, selection: Selection) -> tuple[str, ...]:
    """Returns the flags of a page, including whether links or items were dropped because of their number."""
    flags = (*reading.flags, LINKS_CUT) if selection.dropped.get("too_many") else reading.flags
    flags = (*flags, NOINDEX) if reading.is_noindex else flags
    return (*flags, ITEMS_CUT) if len(reading.structured_data) > MOST_BYTES else flags


def _array(moments: Sequence[datetime]) -> str | None:
    """Returns an array literal: most tasks have no earlier requests (NULL), and arrays of arrays must be
    rectangular."""
    return "{" + ",".join(moment.isoformat() for moment in moments) + "}" if moments else None


async def save_signals(
    conn: Connection,
    outcomes: Sequence[tuple[Outcome, Keywords | None]],
    configs: Mapping[str, str],
    lexemes: Lexemes | None = None,
) -> dict[int, int]:
    """Saves the signals of pages that were read, each with its keywords, if any. Returns their depths. `configs` are
    the text-search configurations by language, without its region. With `lexemes`, PostgreSQL need not parse words it
    has already seen."""
    readings = [(outcome, outcome.reading, words) for outcome, words in outcomes if outcome.reading is not None]
    if not readings:
        return {}
    chosen = [configs.get((reading.language or "").partition("-")[0], "simple") for _, reading, _ in readings]
    vectors: Sequence[bytes | None] = [None] * len(readings)
    if lexemes is not None:
        vectors = await lexemes.build_tsvectors(
            conn, list(zip(chosen, [words for _, _, words in readings], strict=True))
        )
    columns = ReadingColumns(
        id=[outcome.target.page_id for outcome, _, _ in readings],
        title=[reading.title for _, reading, _ in readings],
        description=[reading.description for _, reading, _ in readings],
        language=[reading.language for _, reading, _ in readings],
        content_hash=[reading.content_hash for _, reading, _ in readings],
        content_type=[outcome.content_type for outcome, _, _ in readings],
        links_count=[len(outcome.selection.links) for outcome, _, _ in readings],
        etag=_empty_if_null([outcome.etag for outcome, _, _ in readings]),
        last_modified=_empty_if_null([outcome.last_modified for outcome, _, _ in readings]),
        is_changed=_empty_if_null([outcome.is_changed for outcome, _, _ in readings]),
        flags=_empty_if_null(
            [",".join(flags_of(reading, outcome.selection)) or None for outcome, reading, _ in readings]
        ),
        simhash=[reading.simhash for _, reading, _ in readings],
        canonical_url=_empty_if_null(
            [_other_than(outcome.target.url, reading.canonical) for outcome, reading, _ in readings]
        ),
        author=_empty_if_null([reading.author for _, reading, _ in readings]),
        published_at=_empty_if_null([reading.published_at for _, reading, _ in readings]),
        modified_at=_empty_if_null([reading.modified_at for _, reading, _ in readings]),
        languages=list(configs),
        configs=list(configs.values()),
        config=chosen,
        vector=vectors,
    )
    saved = await RECORD_READINGS.fetch(conn, columns)
    lacking = {page.id for page in saved if page.lacks_keywords}
    await _save_keywords(
        conn,
        {
            outcome.target.page_id: words
            for outcome, _, words in readings
            if words is not None and outcome.target.page_id in lacking
        },
        configs,
    )
    return {page.id: page.depth for page in saved}


async def _save_keywords(conn: Connection, pages: Mapping[int, Keywords], configs: Mapping[str, str]) -> None:
    """Has PostgreSQL build the keywords of pages whose vectors were not built here, or for another language."""
    if not pages:
        return
    columns = [list(column) for column in zip(*pages.values(), strict=True)]
    await conn.execute(SQL["save_keywords"], list(pages), *columns, list(configs), list(configs.values()))


def _other_than(url: str, canonical: str | None) -> str | None:
    return None if canonical == url else canonical


async def record_states(conn: Connection, states: Sequence[tuple[Outcome, str]]) -> dict[int, int]:
    """Saves the status of pages without a reading. Returns their depths."""
    if not states:
        return {}
    pages = await RECORD_STATES.fetch(
        conn,
        [outcome.target.page_id for outcome, _ in states],
        [status for _, status in states],
        [outcome.content_type for outcome, _ in states],
        [_count_links(outcome) if status == "fetched" else None for outcome, status in states],
        [outcome.is_changed for outcome, _ in states],
    )
    return dict(pages)


def _count_links(outcome: Outcome) -> int | None:
    """Returns the number of links; None for a page that was compared and has not changed: it keeps its links."""
    return len(outcome.selection.links) if outcome.is_changed is None else None


async def delete_links(conn: Connection, page_ids: Sequence[int]) -> None:
    if page_ids:
        await conn.execute(SQL["delete_links"], page_ids)


async def replace_links(conn: Connection, outcomes: Sequence[Outcome], page_ids: dict[bytes, int]) -> None:
    """Replaces the links of these pages by those of their newest reading; deletes them if the domain does not store
    links."""
    linking = [outcome for outcome in outcomes if outcome.selection.links]
    await delete_links(conn, [outcome.target.page_id for outcome in outcomes if not outcome.selection.links])
    if not linking:
        return
    joined = [join_links(outcome.selection.links, page_ids) for outcome in linking]
    await conn.execute(
        SQL["add_links"],
        [outcome.target.domain_id for outcome in linking],
        [outcome.target.page_id for outcome in linking],
        [pages for pages, _, _ in joined],
        _empty_if_null([rels for _, rels, _ in joined]),
        [anchors for _, _, anchors in joined],
    )


async def replace_external_links(conn: Connection, outcomes: Sequence[Outcome]) -> None:
    """Replaces the stored links out of scope of these pages; deletes those of pages that have none now."""
    linking = [outcome for outcome in outcomes if outcome.selection.external]
    silent = [o.target.page_id for o in outcomes if not o.selection.external and o.target.past is not None]
    if silent:
        await conn.execute(SQL["delete_external_links"], silent)
    if linking:
        lists = [outcome.selection.external for outcome in linking]
        await conn.execute(
            SQL["add_external_links"],
            [outcome.target.page_id for outcome in linking],
            ["\n".join([link.url for link in links]) for links in lists],
            [_join_rels(links) for links in lists],
            [ANCHORS_BETWEEN.join([link.anchor for link in links]) for links in lists],
        )


def _join_rels(links: Sequence[Discovery]) -> str | None:
    rels = [link.rel for link in links]
    return None if rels.count("a") == len(rels) else ",".join(rels)


def join_links_in_python(links: Sequence[Discovery], page_ids: dict[bytes, int]) -> tuple[str, str | None, str]:
    """Returns the links of one page in three columns: targets, kinds unless all are plain, and anchor texts."""
    return (
        ",".join([str(page_ids[link.key]) for link in links]),
        _join_rels(links),
        ANCHORS_BETWEEN.join([link.anchor for link in links]),
    )


join_links: JoinLinks = compiled.join_links or join_links_in_python


async def add_retries(conn: Connection, outcomes: Sequence[Outcome]) -> None:
    if outcomes:
        await conn.execute(
            SQL["add_retries"],
            [outcome.target.task_id for outcome in outcomes],
            [outcome.retry_in_s for outcome in outcomes],
        )


async def note_crashes(conn: Connection, page_ids: Sequence[int]) -> None:
    if page_ids:
        await conn.execute(SQL["note_crashes"], page_ids)


async def add_revisits(conn: Connection, waits: Mapping[int, float]) -> None:
    """Adds revisits: closed task → seconds until its page is visited again."""
    if waits:
        await conn.execute(SQL["add_revisits"], list(waits), list(waits.values()))


async def add_errors(conn: Connection, outcomes: Sequence[Outcome]) -> None:
    broken = [(outcome, outcome.error) for outcome in outcomes if outcome.stack and outcome.error]
    if broken:
        await conn.execute(
            SQL["add_errors"],
            [outcome.target.task_id for outcome, _ in broken],
            [error.code for _, error in broken],
            [str(error)[:2000] for _, error in broken],
            [outcome.stack for outcome, _ in broken],
        )


async def mark_seeds(conn: Connection, page_ids: Sequence[int]) -> None:
    await conn.execute(SQL["mark_seeds"], page_ids)


async def run_tasks_now(conn: Connection, page_ids: Sequence[int]) -> None:
    await conn.execute(SQL["run_tasks_now"], page_ids)


async def requeue_pages(conn: Connection, page_ids: Sequence[int], *, by: str) -> dict[int, int]:
    """Returns domain → number of its pages that got a new task."""
    return dict(await REOPEN_PAGES.fetch(conn, page_ids, by))


async def revisit_seeds(conn: Connection, page_ids: Sequence[int], *, by: str, recent_s: float) -> dict[int, datetime]:
    """Makes requested pages that were read before due now. Returns domain → when its visit is due."""
    return dict(await REVISIT_SEEDS.fetch(conn, page_ids, by, recent_s))


async def not_visited_in_run(conn: Connection, page_ids: Sequence[int], run: int) -> list[int]:
    """Returns those of these pages that were not visited since the run began."""
    return await NOT_VISITED_IN_RUN.fetch(conn, page_ids, run)


async def requeue_rejected(conn: Connection, domain_ids: Sequence[int], *, by: str) -> dict[int, int]:
    """Requeues pages that the address guard had rejected. Returns domain → number of its pages that got a new task."""
    return dict(await REOPEN_REJECTED.fetch(conn, domain_ids, by))
