"""The job `index` makes pages searchable."""

from tests.ground import Ground
from tests.integration.scheduler.stage import a_context

from forager.search.jobs.index import IndexJob


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
    assert await IndexJob().run(a_context(ground.conn)) == "3 pages indexed"
    assert await IndexJob().run(a_context(ground.conn)) == "0 pages indexed"
