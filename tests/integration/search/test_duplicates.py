"""Pages that say nearly the same come together, also across domains; those that stop doing so leave."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.integration.search.conftest import IN_POSTGRES

from forager.errors import NotFoundError, UsageError
from forager.search import duplicates

pytestmark = [pytest.mark.both_servers, IN_POSTGRES]
Paragraphs = Callable[[int], str]


@pytest.fixture
async def mirrored(library: Any, paragraphs: Paragraphs) -> Any:
    """Two texts: one on three pages of two domains, once with a word changed; one on two; and one of its own."""
    text = paragraphs(1)
    await library.add("http://a.example/original/with/a/long/address", "Original", text)
    await library.add("http://a.example/copy", "Original", text)
    await library.add("http://mirror.example/x", "Mirrored", text)
    await library.add("http://b.example/one", "Other", paragraphs(2))
    await library.add("http://b.example/two", "Another", paragraphs(2))
    await library.add("http://c.example/", "Alone", paragraphs(3))
    await library.index()
    return library


async def test_clusters_come_largest_first_and_the_shortest_address_stands_for_them(mirrored: Any) -> None:
    large, small = await duplicates.list_clusters(mirrored.conn)
    assert (large["url"], large["pages"], large["domains"]) == ("http://a.example/copy", 3, 2)
    assert (small["url"], small["pages"], small["domains"]) == ("http://b.example/one", 2, 1)
    assert [(member["url"], member["is_exact"]) for member in large["members"]] == [
        ("http://mirror.example/x", False),
        ("http://a.example/original/with/a/long/address", True),
    ]


async def test_of_one_domain(mirrored: Any) -> None:
    found = await duplicates.list_clusters(mirrored.conn, domain="mirror.example")
    assert [row["url"] for row in found] == ["http://a.example/copy"]
    assert await duplicates.list_clusters(mirrored.conn, domain="c.example") == []
    with pytest.raises(NotFoundError):
        await duplicates.list_clusters(mirrored.conn, domain="unknown.example")


async def test_of_one_page(mirrored: Any) -> None:
    found = await duplicates.of_page(mirrored.conn, "http://mirror.example/x")
    assert [row["url"] for row in found["members"]] == [
        "http://a.example/copy",
        "http://a.example/original/with/a/long/address",
    ]
    alone = await duplicates.of_page(mirrored.conn, "http://c.example/")
    assert (alone["has_text"], alone["members"]) == (True, [])
    with pytest.raises(NotFoundError):
        await duplicates.of_page(mirrored.conn, "http://c.example/unknown")


@pytest.mark.parametrize("bits", range(5))
async def test_up_to_three_bits_are_near(library: Any, paragraphs: Paragraphs, bits: int) -> None:
    page = await library.add("http://a.example/1", "One", paragraphs(1))
    other = await library.add("http://a.example/2", "Two", paragraphs(2))
    flipped = f"(SELECT simhash # ({(1 << bits) - 1}::bigint << 14) FROM pages WHERE id = {page})"
    await library.conn.execute(f"UPDATE pages SET simhash = {flipped} WHERE id = {other}")
    await library.index()
    assert len(await duplicates.list_clusters(library.conn)) == (1 if bits <= 3 else 0)
    found = await duplicates.of_page(library.conn, "http://a.example/1")
    assert [row["distance"] for row in found["members"]] == ([bits] if bits <= 3 else [])
    for asked in range(4):
        near = await duplicates.list_clusters(library.conn, distance_bits=asked)
        assert len(near) == (1 if bits <= asked else 0)


async def test_a_page_that_changes_leaves_its_cluster(mirrored: Any, paragraphs: Paragraphs) -> None:
    for url in ("http://b.example/one", "http://b.example/two"):
        await mirrored.conn.execute(
            "UPDATE pages SET fetched_at = now(), content_hash = url_hash, simhash = hashtextextended(url, 1)"
            " WHERE url = $1",
            url,
        )
    await mirrored.index()
    assert [row["pages"] for row in await duplicates.list_clusters(mirrored.conn)] == [3]
    recounted = "(SELECT count(*) FROM indexed_pages WHERE cluster_id = c.id)"
    counted = f"SELECT count(*) FROM page_clusters c WHERE pages <> {recounted}"
    assert await mirrored.conn.fetchval(counted) == 0
    assert await mirrored.conn.fetchval("SELECT count(*) FROM page_clusters") == 4


async def test_pages_with_too_little_text_are_in_no_cluster(library: Any) -> None:
    await library.add("http://a.example/1", "Short", "so short")
    await library.add("http://a.example/2", "Short", "so short")
    await library.index()
    assert await duplicates.list_clusters(library.conn) == []
    assert (await duplicates.of_page(library.conn, "http://a.example/1"))["has_text"] is False


async def test_pages_that_were_removed_do_not_count(mirrored: Any) -> None:
    await mirrored.conn.execute("DELETE FROM pages WHERE url = 'http://b.example/two'")
    assert [row["pages"] for row in await duplicates.list_clusters(mirrored.conn)] == [3]


async def test_other_distances_are_refused(library: Any) -> None:
    with pytest.raises(UsageError, match="from 0"):
        await duplicates.list_clusters(library.conn, distance_bits=4)


async def test_a_crowd_in_one_quarter_does_not_grow_without_bound(library: Any) -> None:
    """Hashes that agree in one quarter and nowhere else: a lookup looks at 2,000 of them and no more."""
    crowd = "INSERT INTO page_clusters (simhash, bands) SELECT n << 20, ARRAY[7] FROM generate_series(1, 5000) n"
    await library.conn.execute(crowd)
    from forager.search.index import SQL

    plan = await library.conn.fetch("EXPLAIN (ANALYZE, TIMING OFF) " + SQL["find_clusters"], [7])
    assert "rows=5000" not in "".join(row[0] for row in plan if "Limit" in row[0])
