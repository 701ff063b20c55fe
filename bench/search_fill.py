"""A million pages to search, a tenth of them of products, made in bulk and put into the index.

Words are drawn as in real text: the commonest word stands in nearly all pages, most words in very few.
"""

import random
import time
from typing import Any, NamedTuple

from bench.stopwatch import backend_cpu_s
from forager.db import statements
from forager.parsing.keywords import CONFIGS
from forager.search import index
from forager.search.url_words import url_parts, url_words

SQL = statements.load("bench", "search.sql")
DOMAINS = 1000
TEXTS = 20_000
WORDS = 250
"""The median length of a text, whose lengths vary as those of real pages do: one in ten has more than 850 words."""
SPREAD = 0.95
MOST_WORDS = 5000
VOCABULARY = 100_000
CHUNK = 50_000
MEASURED_PAGES = 20_000
PORTION = 5000
TIMEOUT_S = 3600.0
ONSETS = ("b", "br", "c", "d", "f", "g", "k", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "tr", "v")
VOWELS = ("a", "e", "i", "o", "u", "ou")


class Indexing(NamedTuple):
    """What it costs to put a page into the index."""

    cpu_us: float
    """Of the backend and of ourselves, from reading it to having it in all indexes."""
    pages_per_s: float


class Size(NamedTuple):
    name: str
    megabytes: float


def word(number: int) -> str:
    """Every number is a word of its own."""
    letters, rest = "", number + 1
    while rest:
        rest, syllable = divmod(rest, len(ONSETS) * len(VOWELS))
        letters += ONSETS[syllable % len(ONSETS)] + VOWELS[syllable // len(ONSETS)]
    return letters + "n"


def length_of_text(chance: random.Random) -> int:
    return min(MOST_WORDS, max(20, int(WORDS * chance.lognormvariate(0, SPREAD))))


def text(chance: random.Random, words: int) -> str:
    return " ".join(word(int(VOCABULARY ** chance.random())) for _ in range(words))


async def fill(conn: Any, pages: int) -> None:
    chance = random.Random(1)
    await conn.execute("SET synchronous_commit = off")
    await conn.execute("ALTER TABLE pages DISABLE TRIGGER USER; ALTER TABLE products DISABLE TRIGGER USER")
    await conn.execute(SQL["add_domains"], DOMAINS)
    await conn.execute(SQL["make_texts"])
    for start in range(0, TEXTS, 1000):
        numbers = list(range(start, start + 1000))
        bodies = [text(chance, length_of_text(chance)) for _ in numbers]
        titles = [text(chance, 4) for _ in numbers]
        await conn.execute(SQL["add_texts"], numbers, bodies, titles, [chance.getrandbits(63) for _ in numbers])
    for start in range(0, pages, CHUNK):
        end = min(start + CHUNK, pages)
        await conn.execute(SQL["add_pages"], start, end, DOMAINS, TEXTS, pages, timeout=TIMEOUT_S)
    await conn.execute(SQL["add_products"], TEXTS, timeout=TIMEOUT_S)
    await conn.execute("DROP TABLE bench_texts")
    await conn.execute("ALTER TABLE pages ENABLE TRIGGER USER; ALTER TABLE products ENABLE TRIGGER USER")
    await conn.execute("SELECT follow_for_search_server(false)")
    await conn.execute("RESET ALL")
    for table in ("domains", "pages", "products"):
        await conn.execute(f"VACUUM (ANALYZE) {table}", timeout=TIMEOUT_S)


async def index_all(conn: Any) -> tuple[Indexing, Indexing]:
    """The first pages as the job does it; the others in bulk, with the same result in a fraction of the time; then
    pages that changed, again as the job does it. Answers what the first and the last of these cost."""
    first = await _index_some(conn)
    await _index_the_rest(conn)
    for table in ("indexed_pages", "indexed_products", "page_clusters", "search_words"):
        await conn.execute(f"VACUUM (ANALYZE) {table}", timeout=TIMEOUT_S)
    await conn.execute(SQL["change_pages"], MEASURED_PAGES, timeout=TIMEOUT_S)
    last = await _index_some(conn)
    await conn.execute("CHECKPOINT", timeout=TIMEOUT_S)
    return first, last


async def _index_some(conn: Any) -> Indexing:
    backend = await conn.fetchval("SELECT pg_backend_pid()")
    before_s, started_s = backend_cpu_s(backend) + time.process_time(), time.perf_counter()
    pages = max((await index.index_many(conn, CONFIGS, most=MEASURED_PAGES)).pages, 1)
    spent_s = backend_cpu_s(backend) + time.process_time() - before_s
    return Indexing(spent_s / pages * 1e6, pages / (time.perf_counter() - started_s))


async def _index_the_rest(conn: Any) -> None:
    """Indexes are made when all is in its table."""
    await conn.execute("SET synchronous_commit = off")
    await conn.execute("SET maintenance_work_mem = '1GB'")
    indexes = [
        row
        for table in ("indexed_pages", "indexed_products", "page_clusters")
        for row in await conn.fetch(SQL["indexes"], table)
    ]
    for each in indexes:
        await conn.execute(f"DROP INDEX {each['name']}")
    await conn.execute(SQL["add_clusters"], timeout=TIMEOUT_S)
    await conn.execute("CREATE INDEX bench_simhash ON page_clusters (simhash)", timeout=TIMEOUT_S)
    await conn.execute("ANALYZE page_clusters")
    last = await conn.fetchval("SELECT max(id) FROM pages")
    for start in range(0, last + 1, PORTION):
        await _put_portion(conn, start, start + PORTION)
    await conn.execute(SQL["count_clusters"], timeout=TIMEOUT_S)
    await conn.execute("DROP INDEX bench_simhash")
    for each in indexes:
        await conn.execute(each["made"], timeout=TIMEOUT_S)
    await conn.execute(index.SQL["write_mark"], index.PAGES, *await conn.fetchrow(SQL["last_read"]))
    await conn.execute("RESET ALL")


async def _put_portion(conn: Any, start: int, end: int) -> None:
    rows = await conn.fetch(SQL["name_clusters"], start, end)
    ids = [row["id"] for row in rows]
    configs = [index.config_of(row["language"], CONFIGS) for row in rows]
    words = [" ".join(url_words(url_parts(row["url"]))) for row in rows]
    clusters = [row["cluster_id"] for row in rows]
    await conn.execute(index.SQL["put_pages"], ids, configs, clusters, words, timeout=TIMEOUT_S)
    await conn.execute(index.SQL["put_products"], ids, configs, words, timeout=TIMEOUT_S)


async def weigh(conn: Any) -> list[Size]:
    """How much room it takes, tables with what is stored beside them, indexes one by one."""
    return [Size(row["name"], row["bytes"] / 1e6) for row in await conn.fetch(SQL["weigh"])]
