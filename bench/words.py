"""What it costs to make more words of a page searchable: from the response to the index, and the room it takes."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import uvloop

from bench.folder import fresh_folder
from bench.growth import running_server
from bench.search_fill import SQL
from bench.stages import crawl_without_network, make_answers, make_web
from bench.stopwatch import Cost, Stopwatch
from bench.table import as_markdown, as_text
from bench.talk import tell
from forager.config.loader import load
from forager.db.database import open_database
from forager.db.query import fetch_one
from forager.fetch.models import Fetched
from forager.parsing.keywords import CONFIGS
from forager.search import index

LIMITS = (200, 1000, 5000)
INDEXING = "index"


@dataclass(frozen=True, slots=True)
class WordsCost:
    limit: int
    stages_us: Mapping[str, tuple[float, float]]
    """Stage → CPU of ours and of PostgreSQL, per page."""
    keywords_bytes: float
    terms_bytes: float
    index_bytes: float
    """Per page."""
    cut_pages: int


def measure_words(web: str, folder: Path | None, limits: Sequence[int] = LIMITS) -> list[WordsCost]:
    answers = make_answers(make_web(web, folder))
    tell(f"Words: {len(answers):,} pages of the {web} web")
    return [measure_limit(answers, limit) for limit in limits]


def measure_limit(answers: Mapping[str, Fetched], limit: int) -> WordsCost:
    with fresh_folder() as folder, running_server(folder / "home") as home:
        settings = load({"search.words_per_page": limit}, {})
        costs = uvloop.run(crawl_without_network(home, answers, settings))
        return asyncio.run(conclude(home, limit, costs, len(answers)))


async def conclude(home: Path, limit: int, costs: Mapping[str, Cost], pages: int) -> WordsCost:
    settings = load({"home": home}, {})
    async with open_database(settings, size=1, application="bench") as database, database.pool.acquire() as conn:
        stopwatch = Stopwatch(await conn.fetchval("SELECT pg_backend_pid()"))
        with stopwatch.time(INDEXING):
            await index.index_many(conn, CONFIGS)
        row = await fetch_one(conn, SQL["weigh_words"])
    stages = {
        name: (cost.client_s / pages * 1e6, cost.backend_s / pages * 1e6)
        for name, cost in {**costs, **stopwatch.costs}.items()
    }
    tell(f"  {limit:,} words: {sum(map(sum, stages.values())):,.0f} µs")
    return WordsCost(limit, stages, row["keywords"], row["terms"], row["gin"], row["cut"])


def show_words(web: str, costs: Sequence[WordsCost], *, is_markdown: bool) -> str:
    shape = as_markdown if is_markdown else as_text
    names = list(costs[0].stages_us)
    rows = [
        *(
            (
                f"{name}, µs: ours + PostgreSQL",
                *(f"{each.stages_us[name][0]:,.0f} + {each.stages_us[name][1]:,.0f}" for each in costs),
            )
            for name in names
        ),
        ("together, µs", *(f"{sum(map(sum, each.stages_us.values())):,.0f}" for each in costs)),
        ("keywords, bytes", *(f"{each.keywords_bytes:,.0f}" for each in costs)),
        ("terms of the index, bytes", *(f"{each.terms_bytes:,.0f}" for each in costs)),
        ("GIN index, bytes", *(f"{each.index_bytes:,.0f}" for each in costs)),
        ("pages cut at the limit", *(f"{each.cut_pages:,}" for each in costs)),
    ]
    table = shape(("per page", *(f"{each.limit:,} words" for each in costs)), rows, words=1)
    return f"\nSearchable words of a page of the {web} web\n\n{table}\n"
