"""The duty makes pages searchable, and is on the timetable."""

from tests.ground import Ground
from tests.integration.scheduler.stage import an_order

from forager.runtime.schedule import DUTIES
from forager.search.jobs import index


async def test_what_was_read_is_indexed_once(ground: Ground) -> None:
    await ground.conn.execute("TRUNCATE indexed_pages, page_clusters, search_marks")
    domain = await ground.a_domain("a.example")
    for number in range(3):
        await ground.a_page(
            f"http://a.example/{number}",
            domain,
            status="fetched",
            fetched_at="(now() - interval '1 second')",
            keywords_tsv="(to_tsvector('english', 'tea'))",
        )
    assert await index.run_once(ground.conn, an_order()) == "3 pages indexed"
    assert await index.run_once(ground.conn, an_order()) == "0 pages indexed"


def test_it_is_on_the_timetable() -> None:
    assert DUTIES["index"] is index
