"""What a crawl read is put into the index when it ends: as far as a moment is enough, and whatever happens to it."""

from typing import Any

import pytest
from tests.integration.search.conftest import IN_POSTGRES

from forager.config.loader import load
from forager.db.database import Database
from forager.engine.stop import StopRequest
from forager.instance import Forager
from forager.runtime import crawl as crawling
from forager.search import index

pytestmark = IN_POSTGRES


@pytest.fixture
async def forager(library: Any, database: Database) -> Forager:
    for number in range(5):
        await library.add(f"http://a.example/{number}", "Tea", f"tea {number}")
    return Forager(load({}, {}), database)


async def test_what_it_read_is_found_at_once(library: Any, forager: Forager, monkeypatch: Any) -> None:
    monkeypatch.setattr(index, "PORTION", 2)
    await crawling._index_pages(forager, StopRequest())
    assert (await library.search("tea")).total == 5


async def test_nobody_waits_for_it_longer_than_a_moment(library: Any, forager: Forager, monkeypatch: Any) -> None:
    monkeypatch.setattr(crawling, "SEARCHABLE_S", 0.0)
    await crawling._index_pages(forager, StopRequest())
    assert await index.count_waiting(library.conn, most=100) == 5


async def test_who_stops_a_crawl_does_not_wait_for_it(library: Any, forager: Forager) -> None:
    stop = StopRequest()
    stop.ask()
    await crawling._index_pages(forager, stop)
    assert await index.count_waiting(library.conn, most=100) == 5


async def test_that_it_cannot_be_made_fails_no_crawl(library: Any, forager: Forager, capsys: Any) -> None:
    await library.conn.execute("ALTER TABLE search_marks RENAME TO search_marks_away")
    try:
        await crawling._index_pages(forager, StopRequest())
    finally:
        await library.conn.execute("ALTER TABLE search_marks_away RENAME TO search_marks")
    assert "index.failed" in capsys.readouterr().err
