"""Several workers learn overlapping links at once: one page per URL, right counters, and no deadlock gets out."""

import asyncio
import random

import pytest
from tests.builders import a_discovery, an_order
from tests.ground import Ground

from forager.db.database import Database
from forager.engine.writer import Writer
from forager.links.models import Discovery

pytestmark = pytest.mark.both_servers

LEARNERS, BATCHES, LINKS, PAGES, DOMAINS = 4, 12, 60, 400, 30


def batches(seed: int) -> list[list[Discovery]]:
    rng = random.Random(seed)
    return [
        [
            a_discovery(
                f"http://d{rng.randrange(DOMAINS)}.example/{rng.randrange(PAGES // DOMAINS)}", rng.randrange(1, 9)
            )
            for _ in range(LINKS)
        ]
        for _ in range(BATCHES)
    ]


async def test_one_page_per_url_and_right_counters(ground: Ground, database: Database) -> None:
    run = await ground.a_run()

    async def learn(seed: int) -> int:
        """Every learner remembers a little, as a worker does; answers how many pages were new to the database."""
        order = an_order(run, known_urls=50)
        writer = Writer(database, order, worker=lambda: 1, queues={}, on_recorded=lambda _written, _held: None)
        new = 0
        for batch in batches(seed):
            learned = await writer.learn(batch)
            assert set(learned.page_ids) == {link.key for link in batch}
            new += sum(learned.new.values())
        return new

    new = sum(await asyncio.gather(*map(learn, range(LEARNERS))))
    nearest: dict[str, int] = {}
    for link in (link for seed in range(LEARNERS) for batch in batches(seed) for link in batch):
        nearest[link.url] = min(link.depth, nearest.get(link.url, link.depth))
    rows = await ground.conn.fetch("SELECT url, depth FROM pages")
    assert {row["url"]: row["depth"] for row in rows} == nearest
    assert len(rows) == len(nearest) == new
    wrong = await ground.conn.fetch(
        "SELECT name FROM domains d WHERE pages_discovered <> (SELECT count(*) FROM pages WHERE domain_id = d.id)"
        " OR frontier_size <> pages_discovered OR ready_at IS NULL OR run_id <> $1",
        run,
    )
    assert wrong == []
