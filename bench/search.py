"""How long searches and near-duplicates take among a million pages, what indexing a page costs, and how much
room it takes."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import quantiles
from typing import Any

from bench.folder import fresh_folder
from bench.growth import running_server
from bench.search_fill import Indexing, Size, fill, index_all, weigh, word
from bench.stopwatch import backend_cpu_s
from bench.talk import tell
from forager import clock
from forager.config.loader import load
from forager.config.settings import Settings
from forager.db.database import open_database
from forager.search import duplicates
from forager.search import service as control
from forager.search.models import ProductQuery, Query

PAGES = 1_000_000
ROUNDS = 40
COMMON, MIDDLING, RARE = 20, 2_000, 40_000
"""Numbers of words that stand in about 60 %, 1 % and 0.05 % of the pages."""
LAST_HITS = "1000-1"
"""A place behind most of a thousand hits."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One kind of question, in ms."""

    kind: str
    p50_ms: float
    p95_ms: float
    cpu_ms: float
    """Of the backend and of ourselves, on average: the same on a busy machine."""
    found: int


@dataclass(frozen=True, slots=True)
class SearchBench:
    pages: int
    first: Indexing
    """Of the first pages."""
    last: Indexing
    """Of pages that changed when all the others were there."""
    asked: Sequence[Asked]
    sizes: Sequence[Size]


def measure_search(pages: int = PAGES) -> SearchBench:
    with fresh_folder() as folder, running_server(folder / "home") as home:
        return asyncio.run(measure(load({"home": home}, {}), pages))


async def measure(settings: Settings, pages: int) -> SearchBench:
    """In the settings' database, which has to be a fresh one."""
    async with open_database(settings, size=1, application="bench") as database:
        async with database.pool.acquire() as conn:
            tell(f"Search: making {pages:,} pages")
            await fill(conn, pages)
            tell("Search: indexing")
            first, last = await index_all(conn)
            sizes = await weigh(conn)
        return SearchBench(pages, first, last, await ask_all(database.pool), sizes)


async def ask_all(pool: Any) -> list[Asked]:
    """By a pool of one connection, so that one backend does all the work."""
    tell("Search: asking")
    backend = await pool.fetchval("SELECT pg_backend_pid()")
    asked = searches(pool) | product_searches(pool) | lookups(pool)
    return [await ask(backend, kind, question) for kind, question in asked.items()]


Question = Callable[[int], Awaitable[int]]
"""What is asked in round n; answers how much was found. Words differ from round to round."""


def searches(pool: Any) -> dict[str, Question]:
    """Kind → a search among pages, as the API and the command line ask it."""
    week = timedelta(days=7)

    def search(make: Callable[[int], Query]) -> Question:
        async def answer(turn: int) -> int:
            return (await control.search(pool, make(turn))).page.total

        return answer

    def common(turn: int) -> str:
        return word(COMMON + turn % 10)

    def both(turn: int) -> str:
        return f"{common(turn)} {word(COMMON + 10 + turn % 10)}"

    return {
        "rare word": search(lambda n: Query(word(RARE + n))),
        "middling word": search(lambda n: Query(word(MIDDLING + n))),
        "common word": search(lambda n: Query(common(n))),
        "common word, 100 hits": search(lambda n: Query(common(n), limit=100)),
        "common word, the last hits": search(lambda n: Query(common(n), after=LAST_HITS)),
        "two common words": search(lambda n: Query(both(n))),
        "two very common words": search(lambda n: Query(f"{word(1 + n % 5)} {word(6 + n % 7)}")),
        "common and rare word": search(lambda n: Query(f"{common(n)} {word(RARE + n)}")),
        "three middling words": search(
            lambda n: Query(" ".join(word(MIDDLING // 8 + 3 * n + more) for more in (0, 1, 2)))
        ),
        "common words in a row": search(lambda n: Query(f'"{both(n)}"')),
        "middling words in a row": search(lambda n: Query(f'"{word(MIDDLING // 8 + n)} {common(n)}"')),
        "very common words in a row": search(lambda n: Query(f'"{word(1 + n % 5)} {word(6 + n % 7)}"')),
        "four common words in a row": search(lambda n: Query(f'"{both(n)} {both(n + 3)}"')),
        "common OR rare, -word": search(lambda n: Query(f"{common(n)} OR {word(RARE + n)} -{word(n % 5)}")),
        "common -common": search(lambda n: Query(f"{common(n)} -{word(COMMON + 10 + n % 10)}")),
        "rare OR rare OR middling": search(
            lambda n: Query(f"{word(RARE + n)} OR {word(RARE - n)} OR {word(MIDDLING)}")
        ),
        "site: common word": search(lambda n: Query(f"{common(n)} site:site-{n:04}.example")),
        "site: alone": search(lambda n: Query(f"site:site-{n:04}.example")),
        "-site: -lang: common word": search(lambda n: Query(f"{common(n)} -site:site-{n:04}.example -lang:en")),
        "title: common word": search(lambda n: Query(f"title:{common(n)}")),
        "title: rare, common word": search(lambda n: Query(f"title:{word(RARE + n)} {common(n)}")),
        "url: one part": search(lambda n: Query(f"url:page-{n}")),
        "url: on every page, common word": search(lambda n: Query(f"url:example {common(n)}")),
        "lang: common word": search(lambda n: Query(f"{common(n)} lang:de")),
        "date: of a month, common word": search(lambda n: Query(f"{common(n)} date:{_month(n)}")),
        "date: half a year, two common words": search(lambda n: Query(f"{both(n)} date:{_month(6)}..{_month(1)}")),
        "until: half a year ago, rare word": search(lambda n: Query(f"{word(RARE + n)} until:{_month(6)}")),
        "common word in one domain": search(lambda n: Query(common(n), domain=f"site-{n:04}.example")),
        "common word of a language": search(lambda n: Query(common(n), language="fr")),
        "common word of last week": search(lambda n: Query(common(n), since=clock.now() - week)),
        "no such word": search(lambda n: Query(f"xyzzy{n}")),
        "misspelled word": search(lambda n: Query(_misspelled(MIDDLING + n))),
    }


def product_searches(pool: Any) -> dict[str, Question]:
    """Kind → a search among products, with facets."""

    def search(make: Callable[[int], ProductQuery]) -> Question:
        async def answer(turn: int) -> int:
            return (await control.search(pool, make(turn))).page.total

        return answer

    return {
        "products: rare word": search(lambda n: ProductQuery(word(RARE + n))),
        "products: common word": search(lambda n: ProductQuery(word(COMMON + n % 10))),
        "products: of a brand": search(lambda n: ProductQuery(word(COMMON + n % 10), brand=f"Brand {n}")),
        "products: by price": search(
            lambda n: ProductQuery(word(COMMON + n % 10), lowest_price=20.0 + n, highest_price=30.0 + n)
        ),
    }


def lookups(pool: Any) -> dict[str, Question]:
    async def list_clusters(turn: int) -> int:
        async with pool.acquire() as conn:
            return len(await duplicates.list_clusters(conn, limit=20 + turn % 2))

    async def of_page(turn: int) -> int:
        async with pool.acquire() as conn:
            found = await duplicates.of_page(conn, f"https://site-{turn * 20:04}.example/page-0")
        return len(found["members"])

    return {"largest clusters": list_clusters, "duplicates of a page": of_page}


def _month(ago: int) -> str:
    return f"{clock.now() - timedelta(days=30 * (ago % 12)):%Y-%m}"


def _misspelled(number: int) -> str:
    right = word(number)
    return right[:1] + "x" + right[2:]


async def ask(backend: int, kind: str, question: Question) -> Asked:
    times, found = [], 0
    before_s = backend_cpu_s(backend) + time.process_time()
    for turn in range(ROUNDS):
        started_s = time.perf_counter()
        found = max(found, await question(turn))
        times.append((time.perf_counter() - started_s) * 1000)
    cpu_ms = (backend_cpu_s(backend) + time.process_time() - before_s) / ROUNDS * 1000
    cuts = quantiles(times, n=20)
    tell(f"  {kind}: p50 {cuts[9]:.1f} ms, p95 {cuts[18]:.1f} ms, CPU {cpu_ms:.1f} ms, up to {found:,} found")
    return Asked(kind, cuts[9], cuts[18], cpu_ms, found)
