"""PostgreSQL and the search server agree again after whatever happened between them."""

import asyncio
from typing import Any

import pytest
from tests.integration.search.conftest import SERVER_URL

from forager.db.pool import connect
from forager.errors import SearchServerError
from forager.search import bulk_index as push
from forager.search.server import open_server


async def first_page(mirror: Any) -> int:
    found: int = await mirror.conn.fetchval("SELECT min(id) FROM pages")
    return found


async def test_what_was_indexed_is_there_with_every_field(mirror: Any) -> None:
    assert await mirror.agrees()
    assert len(await mirror.there("page")) == 7
    (product,) = (await mirror.there("product")).values()
    assert (product["product_name"], product["brand"], product["domain_name"]) == ("Blue pot", "Tansu", "a.example")


async def test_changes_deletes_and_purges_reach_it(mirror: Any) -> None:
    first = await first_page(mirror)
    await mirror.rewrite(first, "Coffee instead")
    await mirror.conn.execute("DELETE FROM pages WHERE id = $1", first + 1)
    await mirror.conn.execute("DELETE FROM products")
    await mirror.tend()
    assert await mirror.agrees()
    there = await mirror.there("page")
    assert there[first]["title"] == "Coffee instead"
    assert first + 1 not in there
    assert await mirror.there("product") == {}


async def test_a_page_that_is_gone_leaves_and_one_that_comes_back_returns(mirror: Any) -> None:
    first = await first_page(mirror)
    await mirror.conn.execute("UPDATE pages SET status = 'gone' WHERE id = $1", first)
    await mirror.tend()
    assert first not in await mirror.there("page")
    assert (await mirror.search("tea")).total == 6
    await mirror.conn.execute("UPDATE pages SET status = 'fetched' WHERE id = $1", first)
    await mirror.tend()
    assert first in await mirror.there("page")


async def test_while_it_is_away_changes_wait_and_are_sent_when_it_is_back(mirror: Any) -> None:
    first = await first_page(mirror)
    await mirror.gate.shut()
    await mirror.rewrite(first, "Coffee")
    await mirror.conn.execute("DELETE FROM pages WHERE id = $1", first + 1)
    with pytest.raises(SearchServerError, match="does not answer") as caught:
        await mirror.tend()
    assert "\n" not in str(caught.value)
    assert await mirror.waiting() >= 2
    await mirror.gate.open()
    await mirror.tend()
    assert await mirror.agrees()


@pytest.mark.parametrize("bytes_passed", [0, 200, 1500, 3000])
async def test_a_request_that_is_cut_in_the_middle_is_sent_again(mirror: Any, bytes_passed: int) -> None:
    for page in sorted(await mirror.there("page")):
        await mirror.rewrite(page, f"Coffee {page}")
    await mirror.gate.shut()
    await mirror.gate.open()
    mirror.gate.cut_after = bytes_passed
    with pytest.raises(SearchServerError):
        await push.push_changes(mirror.conn, mirror.server, mirror.names)
    assert await mirror.waiting() >= 6
    await mirror.gate.open()
    await mirror.tend()
    assert await mirror.agrees()


async def test_an_answer_that_is_lost_has_it_sent_twice_without_harm(mirror: Any) -> None:
    """As when a process is killed after the server took everything and before the outbox heard of it."""
    first = await first_page(mirror)
    await mirror.rewrite(first, "Coffee")
    mirror.gate.is_deaf = True
    with pytest.raises(SearchServerError):
        await push.push_changes(mirror.conn, mirror.server, mirror.names)
    assert await mirror.waiting() >= 1
    await mirror.gate.open()
    await mirror.rewrite(first, "Cocoa")
    await mirror.tend()
    assert await mirror.agrees()
    assert (await mirror.there("page"))[first]["title"] == "Cocoa"


async def test_what_arrives_late_never_takes_the_place_of_what_is_newer(mirror: Any, database_url: str) -> None:
    """A sender hangs, loses its database connection and with it the lock; another one sends what is newer; then the
    first one's request arrives after all."""
    first = await first_page(mirror)
    await mirror.rewrite(first, "Old words")
    stale = await connect(database_url, application="stale sender")
    mirror.gate.passing.clear()
    async with open_server(mirror.gate.url) as slow:
        sending = asyncio.create_task(push.push_changes(stale, slow, mirror.names))
        await asyncio.wait_for(mirror.gate.held.wait(), 10)
        stale.terminate()
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
    assert await mirror.waiting() >= 1
    async with open_server(SERVER_URL or "") as straight:
        await mirror.rewrite(first, "New words")
        while not (await push.push_changes(mirror.conn, straight, mirror.names)).changes:
            pass  # PostgreSQL has not noticed yet that the first one is gone
    mirror.gate.passing.set()
    await asyncio.sleep(0.6)
    assert (await mirror.there("page"))[first]["title"] == "New words"
    assert await mirror.agrees()


async def test_one_document_that_is_refused_holds_up_no_other_and_is_told(mirror: Any) -> None:
    """A processor of the server fails on it, as a field that does not fit would."""
    processor = {"fail": {"if": "ctx.title == 'Poison'", "message": "not this one"}}
    await mirror.server.tell("PUT", f"/_ingest/pipeline/{mirror.names.prefix}picky", {"processors": [processor]})
    await mirror.server.tell(
        "PUT", f"/{mirror.names.searched('page')}/_settings", {"index.default_pipeline": f"{mirror.names.prefix}picky"}
    )
    first = await first_page(mirror)
    await mirror.rewrite(first, "Poison")
    await mirror.rewrite(first + 1, "Coffee")
    await mirror.tend()
    there = await mirror.there("page")
    assert there[first + 1]["title"] == "Coffee"
    assert there[first]["title"] == "Tea 0"
    refused = await mirror.conn.fetchrow("SELECT kind, id, reason FROM search_rejected")
    assert (refused["kind"], refused["id"]) == ("page", first)
    assert "not this one" in refused["reason"]
    assert await mirror.waiting() == 0
    await mirror.rewrite(first, "Antidote")
    await mirror.tend()
    assert await mirror.agrees()
    assert await mirror.conn.fetchval("SELECT count(*) FROM search_rejected") == 0
    await mirror.server.tell("PUT", f"/{mirror.names.searched('page')}/_settings", {"index.default_pipeline": "_none"})
    await mirror.server.tell("DELETE", f"/_ingest/pipeline/{mirror.names.prefix}picky")


async def test_an_index_that_takes_nothing_for_now_makes_no_document_guilty(mirror: Any) -> None:
    """As the server does with all indexes when its disk is full."""
    settings = f"/{mirror.names.searched('page')}/_settings"
    await mirror.server.tell("PUT", settings, {"index.blocks.write": True})
    await mirror.rewrite(await first_page(mirror), "Coffee")
    assert (await mirror.tend()).is_busy
    assert await mirror.waiting() >= 1
    assert await mirror.conn.fetchval("SELECT count(*) FROM search_rejected") == 0
    await mirror.server.tell("PUT", settings, {"index.blocks.write": False})
    await mirror.tend()
    assert await mirror.agrees()


async def test_a_database_that_was_restored_goes_on_above_the_versions_of_its_later_life(mirror: Any) -> None:
    first = await first_page(mirror)
    await mirror.conn.execute("SELECT setval('search_versions', 5000)")
    await mirror.rewrite(first, "Later life")
    await mirror.tend()
    await mirror.conn.execute("SELECT setval('search_versions', 3)")
    await mirror.rewrite(first, "Restored life")
    assert (await mirror.tend()).is_busy
    await mirror.tend()
    assert (await mirror.there("page"))[first]["title"] == "Restored life"
    assert await mirror.agrees()


async def test_a_document_too_large_for_one_request_is_set_aside_and_the_rest_is_sent(
    mirror: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server's limit is 100 MB: here we are refused as it would refuse us."""
    bulk, first = mirror.server.bulk, await first_page(mirror)

    async def limited(lines: Any, **options: Any) -> Any:
        if sum(map(len, lines)) > 2000:
            raise SearchServerError("The search server answered 413.", 413)
        return await bulk(lines, **options)

    monkeypatch.setattr(mirror.server, "bulk", limited)
    await mirror.rewrite(first, "word " * 1000)
    await mirror.rewrite(first + 1, "Coffee")
    await mirror.rewrite(first + 2, "Cocoa")
    await mirror.tend()
    assert [row["id"] for row in await mirror.conn.fetch("SELECT id FROM search_rejected")] == [first]
    assert {(await mirror.there("page"))[first + place]["title"] for place in (1, 2)} == {"Coffee", "Cocoa"}


async def test_only_one_sends_at_a_time(mirror: Any, database_url: str) -> None:
    await mirror.rewrite(await first_page(mirror), "Coffee")
    other = await connect(database_url, application="other sender")
    async with other.transaction():
        assert await other.fetchval(push.SQL["lock_server"])
        assert (await push.push_changes(mirror.conn, mirror.server, mirror.names)).is_busy
    await other.close()
    await mirror.tend()
    assert await mirror.agrees()
