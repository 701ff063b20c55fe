"""What an index of keywords costs while pages are recorded: with none, with the one that is chosen, with others.

CPU of the backend that records; afterwards every way has everything in its place. The second round visits the same
pages again: a claim and an unchanged visit, after which no keyword is new.
"""

import asyncio
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from bench.folder import fresh_folder
from bench.growth import running_server
from bench.search_fill import SQL, WORDS, text
from bench.stopwatch import backend_cpu_s
from bench.talk import tell
from forager.config.loader import load
from forager.db.database import open_database
from forager.parsing.keywords import CONFIGS
from forager.search import index

PAGES = 20_000
BATCH = 200
GIN = "CREATE INDEX bench_gin ON pages USING gin (keywords_tsv) WITH ({}) WHERE keywords_tsv IS NOT NULL"
WAYS: dict[str, Sequence[str]] = {
    "no index": ("DROP INDEX pages_read",),
    "pages_read, and the job": (),
    "GIN on pages, 4 MB pending": (GIN.format("gin_pending_list_limit = 4096"),),
    "GIN on pages, 256 MB pending": (GIN.format("gin_pending_list_limit = 262144"),),
    "GIN on pages, fastupdate off": (GIN.format("fastupdate = off"),),
}


@dataclass(frozen=True, slots=True)
class Way:
    """CPU of the backend in µs per page."""

    name: str
    record_us: float
    later_us: float
    """What is done after the pages were recorded: the job, or emptying the list of what is pending."""
    again_us: float
    """To claim it again and record that it has not changed."""


def measure_ways(pages: int = PAGES) -> list[Way]:
    chance = random.Random(2)
    texts = [text(chance, WORDS) for _ in range(2000)]
    ways = []
    for name in WAYS:
        tell(f"Search: recording {pages:,} pages with {name}")
        with fresh_folder() as folder, running_server(folder / "home") as home:
            ways.append(asyncio.run(measure_way(load({"home": home}, {}), name, texts, pages)))
        tell(f"  {ways[-1].record_us:,.0f} µs, later {ways[-1].later_us:,.0f}, again {ways[-1].again_us:,.0f}")
    return ways


async def measure_way(settings: Any, name: str, texts: Sequence[str], pages: int) -> Way:
    async with open_database(settings, size=1, application="bench") as database, database.pool.acquire() as conn:
        await conn.execute(SQL["add_domains"], 1)
        await conn.execute(SQL["add_discovered"], pages)
        for statement in WAYS[name]:
            await conn.execute(statement)
        ids = [row["id"] for row in await conn.fetch("SELECT id FROM pages ORDER BY id")]
        backend = await conn.fetchval("SELECT pg_backend_pid()")
        marks = [backend_cpu_s(backend)]
        for batch, titles, bodies in batches(ids, texts):
            await conn.execute(SQL["record"], batch, titles, bodies)
        marks.append(backend_cpu_s(backend))
        if "GIN" in name:
            await conn.execute("SELECT gin_clean_pending_list('bench_gin')")
        elif "job" in name:
            await index.index_many(conn, CONFIGS)
        marks.append(backend_cpu_s(backend))
        for batch, _, _ in batches(ids, texts):
            await conn.execute(SQL["queue"], batch)
            await conn.execute("UPDATE pages SET status = 'fetched', fetched_at = now() WHERE id = ANY ($1)", batch)
        marks.append(backend_cpu_s(backend))
    record, later, again = [(after - before) / pages * 1e6 for before, after in pairwise(marks)]
    return Way(name, record, later, again)


def batches(ids: Sequence[int], texts: Sequence[str]) -> Iterator[tuple[list[int], list[str], list[str]]]:
    for start in range(0, len(ids), BATCH):
        batch = list(ids[start : start + BATCH])
        bodies = [texts[page % len(texts)] for page in batch]
        yield batch, [" ".join(body.split()[:5]) for body in bodies], bodies
