"""How long searches and near-duplicates take among a million pages, what indexing a page costs, and how much
room it takes."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import quantiles
from typing import Any

from bench.folder import fresh_folder
from bench.growth import running_server
from bench.search_fill import Indexing, Size, fill, index_all, weigh, word
from bench.talk import tell
from forager import clock
from forager.control import duplicates
from forager.db import open_database
from forager.records.search import Query
from forager.search.postgres import PostgresSearch
from forager.settings import Settings, load

PAGES = 1_000_000
ROUNDS = 40
COMMON, MIDDLING, RARE = 20, 2_000, 40_000
"""Numbers of words that stand in about 60 %, 1 % and 0.05 % of the pages."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One kind of question, in ms."""

    kind: str
    p50_ms: float
    p95_ms: float
    found: int


@dataclass(frozen=True, slots=True)
class SearchBench:
    pages: int
    indexing: Indexing
    asked: Sequence[Asked]
    sizes: Sequence[Size]


def measure_search(pages: int = PAGES) -> SearchBench:
    with fresh_folder() as folder, running_server(folder / "home") as home:
        return asyncio.run(measure(load({"home": home}, {}), pages))


async def measure(settings: Settings, pages: int) -> SearchBench:
    """In the settings' database, which has to be a fresh one."""
    async with open_database(settings, size=1, application="bench") as database, database.pool.acquire() as conn:
        tell(f"Search: making {pages:,} pages")
        await fill(conn, pages)
        tell("Search: indexing")
        indexing = await index_all(conn)
        tell("Search: asking")
        asked = [await ask(conn, kind, question) for kind, question in questions(conn).items()]
        return SearchBench(pages, indexing, asked, await weigh(conn))


Question = Callable[[int], Awaitable[int]]


def questions(conn: Any) -> Mapping[str, Question]:
    """Kind → what is asked in round n; answers how much was found. Words differ from round to round."""
    week = timedelta(days=7)

    def search(make: Callable[[int], Query]) -> Question:
        async def answer(turn: int) -> int:
            async with conn.transaction():
                return (await PostgresSearch(conn).search_pages(make(turn))).total

        return answer

    async def correct(turn: int) -> int:
        typed = word(MIDDLING + turn)
        return len(await PostgresSearch(conn).correct(typed[:1] + "x" + typed[2:]) or "")

    async def list_clusters(turn: int) -> int:
        return len(await duplicates.list_clusters(conn, limit=20 + turn % 2))

    async def of_page(turn: int) -> int:
        found = await duplicates.of_page(conn, f"https://site-{turn * 20:04}.example/page-0")
        return len(found["members"])

    return {
        "rare word": search(lambda n: Query(word(RARE + n))),
        "middling word": search(lambda n: Query(word(MIDDLING + n))),
        "common word": search(lambda n: Query(word(COMMON + n % 10))),
        "two common words": search(lambda n: Query(f"{word(COMMON + n % 10)} {word(COMMON + 10 + n % 10)}")),
        "three middling words": search(
            lambda n: Query(" ".join(word(MIDDLING // 8 + 3 * n + more) for more in (0, 1, 2)))
        ),
        "words in a row": search(lambda n: Query(f'"{word(COMMON + n % 10)} {word(COMMON + 10 + n % 10)}"')),
        "common OR rare, -word": search(lambda n: Query(f"{word(COMMON + n % 10)} OR {word(RARE + n)} -{word(n % 5)}")),
        "common word in one domain": search(lambda n: Query(word(COMMON + n % 10), domain=f"site-{n:04}.example")),
        "common word of a language": search(lambda n: Query(word(COMMON + n % 10), language="fr")),
        "common word of last week": search(lambda n: Query(word(COMMON + n % 10), since=clock.now() - week)),
        "no such word": search(lambda n: Query(f"xyzzy{n}")),
        "misspelled word": correct,
        "largest clusters": list_clusters,
        "duplicates of a page": of_page,
    }


async def ask(conn: Any, kind: str, question: Question) -> Asked:
    await conn.execute("SELECT 1")
    times, found = [], 0
    for turn in range(ROUNDS):
        started_s = time.perf_counter()
        found = max(found, await question(turn))
        times.append((time.perf_counter() - started_s) * 1000)
    cuts = quantiles(times, n=20)
    tell(f"  {kind}: p50 {cuts[9]:.1f} ms, p95 {cuts[18]:.1f} ms, up to {found:,} found")
    return Asked(kind, cuts[9], cuts[18], found)
