"""How long searches and near-duplicates take among a million pages, and what indexing a page costs.

The pages are made in bulk, their words drawn as in real text: the commonest word stands in nearly all pages, most
words in very few.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import quantiles
from typing import Any

from bench.folder import fresh_folder
from bench.growth import running_server
from bench.stopwatch import backend_cpu_s
from bench.talk import tell
from forager import clock
from forager.control import duplicates
from forager.db import open_database, statements
from forager.extract.keywords import CONFIGS
from forager.records.search import Query
from forager.search import index
from forager.search.postgres import PostgresSearch
from forager.settings import Settings, load

SQL = statements.load("bench", "search.sql")
PAGES = 1_000_000
DOMAINS = 1000
TEXTS = 20_000
WORDS = 200
VOCABULARY = 50_000
CHUNK = 50_000
MEASURED_PAGES = 20_000
PORTION = 5000
ROUNDS = 40
TIMEOUT_S = 3600.0
ONSETS = ("b", "br", "c", "d", "f", "g", "k", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "tr", "v")
VOWELS = ("a", "e", "i", "o", "u", "ou")
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
    index_us: float
    """CPU of the backend and of ourselves for a page, from reading it to having it in all indexes."""
    asked: Sequence[Asked]


def word(number: int) -> str:
    """Every number is a word of its own."""
    letters, rest = "", number + 1
    while rest:
        rest, syllable = divmod(rest, len(ONSETS) * len(VOWELS))
        letters += ONSETS[syllable % len(ONSETS)] + VOWELS[syllable // len(ONSETS)]
    return letters + "n"


def text(chance: random.Random, words: int) -> str:
    return " ".join(word(int(VOCABULARY ** chance.random())) for _ in range(words))


def measure_search(pages: int = PAGES) -> SearchBench:
    with fresh_folder() as folder, running_server(folder / "home") as home:
        return asyncio.run(measure(load({"home": home}, {}), pages))


async def measure(settings: Settings, pages: int) -> SearchBench:
    """In the settings' database, which has to be a fresh one."""
    async with open_database(settings, size=1, application="bench") as database, database.pool.acquire() as conn:
        tell(f"Search: making {pages:,} pages")
        await fill(conn, pages)
        tell("Search: indexing")
        index_us = await index_all(conn)
        tell("Search: asking")
        asked = [await ask(conn, kind, question) for kind, question in questions(conn).items()]
    return SearchBench(pages, index_us, asked)


async def fill(conn: Any, pages: int) -> None:
    chance = random.Random(1)
    await conn.execute("SET session_replication_role = replica; SET synchronous_commit = off")
    await conn.execute(SQL["add_domains"], DOMAINS)
    await conn.execute(SQL["make_texts"])
    for start in range(0, TEXTS, 1000):
        numbers = list(range(start, start + 1000))
        bodies, titles = [[text(chance, words) for _ in numbers] for words in (WORDS, 4)]
        await conn.execute(SQL["add_texts"], numbers, bodies, titles, [chance.getrandbits(63) for _ in numbers])
    for start in range(0, pages, CHUNK):
        end = min(start + CHUNK, pages)
        await conn.execute(SQL["add_pages"], start, end, DOMAINS, TEXTS, timeout=TIMEOUT_S)
    await conn.execute("DROP TABLE bench_texts")
    await conn.execute("RESET ALL")
    await conn.execute("VACUUM (ANALYZE) pages", timeout=TIMEOUT_S)


async def index_all(conn: Any) -> float:
    """CPU in µs per page, of the first pages. The others go in without the large index, which is made at the end: that
    takes a fraction of the time, and the result is the same."""
    backend = await conn.fetchval("SELECT pg_backend_pid()")
    before_s = backend_cpu_s(backend) + time.process_time()
    pages = (await index.index_many(conn, CONFIGS, most=MEASURED_PAGES)).pages
    spent_s = backend_cpu_s(backend) + time.process_time() - before_s
    made = await conn.fetchval("SELECT pg_get_indexdef('indexed_pages_terms'::regclass)")
    await conn.execute("DROP INDEX indexed_pages_terms")
    while (await index.index_portion(conn, CONFIGS, most=PORTION)).pages:
        pass
    await conn.execute(made, timeout=TIMEOUT_S)
    for table in ("indexed_pages", "page_clusters", "search_words"):
        await conn.execute(f"VACUUM (ANALYZE) {table}", timeout=TIMEOUT_S)
    await conn.execute("CHECKPOINT", timeout=TIMEOUT_S)
    return spent_s / max(pages, 1) * 1e6


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
