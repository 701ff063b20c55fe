"""Indexes parsed pages in the order they were fetched, asynchronously: recording a page does no indexing work.

An advisory lock allows one indexer at a time. A batch is one transaction, so a kill loses only that batch and the next
run repeats it. Everything fetched before the progress mark is indexed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from forager.db import statements
from forager.db.types import Connection, Row
from forager.search import spelling
from forager.search.near_duplicates import group, split_simhash
from forager.search.url_words import url_parts, url_words

SQL = statements.load("forager.search", "index.sql")
PAGES = "pages"
PORTION = 500
TIDY_EVERY = 10_000
"""Pages after which the pending list of the GIN indexes is flushed. At this size flushing costs 140 µs per page, in
batches of 500 five times as much; but every search reads the whole pending list."""
FEW_WORDS = 5000
"""Above this number of known words, a word becomes a suggestion only when it is seen twice: three quarters of the
words on real pages are seen once, and their lookup keys were half the cost of all words."""
FIRST = datetime(1970, 1, 1, tzinfo=UTC), 0
MOST_WORDS = 500_000
"""Words known to the spelling correction. Beyond this number, those seen once are deleted."""


class Mark(NamedTuple):
    read_at: datetime
    page_id: int


class Indexed(NamedTuple):
    """The result of one batch."""

    pages: int = 0
    """Pages checked; 0: everything is indexed, or another indexer is running."""
    changed: int = 0


async def index_batch(conn: Connection, configs: Mapping[str, str], *, most: int = PORTION) -> Indexed:
    """Indexes the next pages in one transaction. `configs` maps a language to its text search configuration."""
    async with conn.transaction():
        if not await conn.fetchval(SQL["lock_index"]):
            return Indexed()
        until = await conn.fetchval(SQL["settled_until"])
        rows = await conn.fetch(SQL["take_read"], *await read_mark(conn), until, most)
        if not rows:
            return Indexed()
        changed = await _put(conn, rows, configs)
        await conn.execute(SQL["write_mark"], PAGES, rows[-1]["fetched_at"], rows[-1]["id"])
        return Indexed(len(rows), changed)


async def index_named(conn: Connection, page_ids: Sequence[int], configs: Mapping[str, str]) -> int:
    """Indexes pages that were parsed again without a visit, in the caller's transaction; waits for a running
    indexer."""
    await conn.execute(SQL["await_index"])
    return await _put(conn, await conn.fetch(SQL["take_named"], page_ids), configs)


async def index_many(conn: Connection, configs: Mapping[str, str], *, most: int | None = None) -> Indexed:
    """Indexes batch after batch until one is not full, or `most` pages are done. Pages that a crawl adds meanwhile are
    left to the next run: following the crawl would index a few at a time, and each few cost nearly as much as a whole
    batch."""
    pages = changed = untidy = 0
    while most is None or pages < most:
        done = await index_batch(conn, configs)
        pages, changed, untidy = pages + done.pages, changed + done.changed, untidy + done.changed
        if done.pages < PORTION:
            break
        if untidy >= TIDY_EVERY:
            await cleanup(conn)
            untidy = 0
    if untidy:
        await cleanup(conn)
    return Indexed(pages, changed)


async def cleanup(conn: Connection) -> None:
    """Flushes pending index entries and deletes rare words. Call it after the last batch."""
    await conn.execute(SQL["tidy_terms"])
    await conn.execute(SQL["forget_rare_words"], float(MOST_WORDS))


async def delete_index_pages(conn: Connection, page_ids: Sequence[int]) -> None:
    """Deletes pages from the index whose keywords were deleted."""
    await conn.execute(SQL["drop_pages"], page_ids)


async def count_waiting(conn: Connection, *, most: int) -> int:
    found: int = await conn.fetchval(SQL["count_waiting"], *await read_mark(conn), most)
    return found


async def reset_progress(conn: Connection) -> None:
    """Resets progress so that all pages are checked again; those already indexed with the same content cost little."""
    await conn.execute(SQL["forget_mark"], PAGES)


async def read_mark(conn: Connection) -> Mark:
    found = await conn.fetchrow(SQL["read_mark"], PAGES)
    return Mark(*(found or FIRST))


async def _put(conn: Connection, rows: Sequence[Row], configs: Mapping[str, str]) -> int:
    readable = [row for row in rows if row["has_keywords"]]
    words = {row["id"]: " ".join(url_words(url_parts(row["url"]))) for row in readable}
    await conn.execute(
        SQL["put_products"],
        [row["id"] for row in readable],
        [config_of(row["language"], configs) for row in readable],
        list(words.values()),
    )
    fresh = [row for row in readable if not (row["is_indexed"] and row["is_same"])]
    stale = [row for row in rows if row["is_indexed"] and not row["has_keywords"]]
    if not fresh and not stale:
        return 0
    clusters = await _cluster(conn, fresh)
    await conn.execute(
        SQL["put_pages"],
        [row["id"] for row in fresh],
        [config_of(row["language"], configs) for row in fresh],
        [clusters.get(row["id"]) for row in fresh],
        [words[row["id"]] for row in fresh],
    )
    await conn.execute(SQL["drop_pages"], [row["id"] for row in stale])
    await _leave_clusters(conn, [*fresh, *stale])
    await _add_languages(conn, fresh, configs)
    await _count_words(conn, fresh)
    return len(fresh) + len(stale)


def config_of(language: str | None, configs: Mapping[str, str]) -> str:
    return configs.get((language or "").partition("-")[0].lower(), "simple")


async def _cluster(conn: Connection, rows: Sequence[Row]) -> dict[int, int]:
    """Returns page → cluster id. Creates clusters for pages unlike any known one, and updates member counts."""
    hashes = {row["id"]: row["simhash"] for row in rows if row["simhash"] is not None}
    pages = list(hashes)
    near = await conn.fetch(SQL["find_clusters"], list(hashes.values()))
    found = {pages[row["place"] - 1]: row["id"] for row in near}
    leads = group({page: simhash for page, simhash in hashes.items() if page not in found})
    sizes = Counter(leads.values())
    made = await conn.fetch(
        SQL["add_clusters"],
        [hashes[leader] for leader in sizes],
        [_array(split_simhash(hashes[leader])) for leader in sizes],
        list(sizes.values()),
    )
    new = dict(zip(sizes, sorted(row["id"] for row in made), strict=True))
    await _count_members(conn, Counter(found.values()))
    return found | {page: new[leader] for page, leader in leads.items()}


async def _leave_clusters(conn: Connection, rows: Sequence[Row]) -> None:
    left = Counter(row["cluster_id"] for row in rows if row["cluster_id"] is not None)
    await _count_members(conn, Counter({cluster: -count for cluster, count in left.items()}))
    if left:
        await conn.execute(SQL["forget_empty"], list(left))


async def _count_members(conn: Connection, more: Counter[int]) -> None:
    if more:
        await conn.execute(SQL["count_members"], list(more), list(more.values()))


async def _add_languages(conn: Connection, rows: Sequence[Row], configs: Mapping[str, str]) -> None:
    languages = {(row["language"] or "").lower(): config_of(row["language"], configs) for row in rows}
    await conn.execute(SQL["add_languages"], list(languages), list(languages.values()))


async def _count_words(conn: Connection, rows: Sequence[Row]) -> None:
    seen: Counter[str] = Counter()
    for row in rows:
        seen.update(spelling.words_of(row["title"], row["description"]))
    # Sorted, so that all transactions lock words in the same order.
    words = sorted(seen)
    rows = await conn.fetch(SQL["count_words"], words, [seen[word] for word in words])
    known = {row["word"] for row in rows}
    if again := sorted(row["word"] for row in rows if row["is_unmarked"]):
        await conn.execute(SQL["mark_words"], again, [_array(spelling.near_marks(word)) for word in again])
    new = [word for word in words if word not in known]
    least = 2 if await conn.fetchval(SQL["has_many_words"], FEW_WORDS) else 1
    nears = [_array(spelling.near_marks(word)) if seen[word] >= least else "{}" for word in new]
    await conn.execute(SQL["add_words"], new, [seen[word] for word in new], nears)


def _array(numbers: Sequence[int]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"
