"""The index follows what was read: new, changed, unchanged, forbidden, removed; also over kills and beside others."""

from typing import Any

import pytest

from forager.db.pool import connect
from forager.parsing.keywords import CONFIGS
from forager.search import index

pytestmark = pytest.mark.both_servers
REREAD = "UPDATE pages SET fetched_at = now(), "


async def test_a_page_that_changed_is_found_by_its_new_words_only(library: Any) -> None:
    page = await library.add("http://a.example/", "Tea", "a text about tea")
    assert await library.index() == 1
    changed = "content_hash = '\\x01', keywords_tsv = to_tsvector('english', 'coffee') WHERE id = $1"
    await library.conn.execute(REREAD + changed, page)
    assert await library.index() == 1
    assert await library.found("tea") == []
    assert await library.found("coffee") == ["a.example/"]


async def test_a_page_that_did_not_change_costs_nothing_and_stays_as_old_as_it_is(library: Any) -> None:
    page = await library.add("http://a.example/", "Tea", "tea", fetched_at="(now() - interval '9 days')")
    await library.index()
    before = await library.conn.fetchrow("SELECT ctid, * FROM indexed_pages")
    await library.conn.execute(REREAD + "comparisons = 1 WHERE id = $1", page)
    assert await library.index() == 0
    assert await library.conn.fetchrow("SELECT ctid, * FROM indexed_pages") == before


async def test_a_page_that_asks_not_to_be_indexed_leaves(library: Any) -> None:
    page = await library.add("http://a.example/", "Tea", "tea")
    await library.index()
    await library.conn.execute(REREAD + "keywords_tsv = NULL, content_hash = '\\x02' WHERE id = $1", page)
    assert await library.index() == 1
    assert await library.found("tea") == []
    assert await library.index() == 0


async def test_a_page_that_is_removed_is_not_found(library: Any) -> None:
    page = await library.add("http://a.example/", "Tea", "tea")
    await library.index()
    await library.conn.execute("DELETE FROM pages WHERE id = $1", page)
    assert await library.found("tea") == []
    assert await library.conn.fetchval("SELECT count(*) FROM indexed_pages") == 0


async def test_pages_read_at_the_same_moment_are_all_indexed_in_any_portions(library: Any) -> None:
    for number in range(7):
        await library.add(f"http://a.example/{number}", "Tea", f"tea {number}")
    moment = "UPDATE pages SET fetched_at = now() - interval '1 second'"
    await library.conn.execute(moment)
    while (await index.index_batch(library.conn, CONFIGS, most=2)).pages:
        pass
    assert (await library.search("tea")).total == 7


async def test_what_is_recorded_by_a_transaction_that_commits_late_is_not_passed_over(
    library: Any, database_url: str
) -> None:
    """Its pages carry the time it began, which others that were committed since have passed."""
    early = await library.add("http://a.example/early", "Tea", "tea", fetched_at=None)
    late = await connect(database_url, application="late")
    transaction = late.transaction()
    await transaction.start()
    await late.execute("UPDATE pages SET fetched_at = now() WHERE id = $1", early)
    await library.add("http://a.example/second", "Tea", "tea pot", fetched_at="(now())")
    await library.index()
    await transaction.commit()
    await late.close()
    await library.index()
    assert sorted(await library.found("tea")) == ["a.example/early", "a.example/second"]


async def test_one_indexer_at_a_time(library: Any, database_url: str) -> None:
    await library.add("http://a.example/", "Tea", "tea")
    other = await connect(database_url, application="other indexer")
    async with other.transaction():
        assert await other.fetchval(index.SQL["lock_index"])
        assert await library.index() == 0
    await other.close()
    assert await library.index() == 1


async def test_a_portion_that_is_cut_short_is_done_again(library: Any, database_url: str) -> None:
    await library.add("http://a.example/", "Tea", "a text about tea that is long enough to be compared with others")
    killed = await connect(database_url, application="killed")
    transaction = killed.transaction()
    await transaction.start()
    assert (await index.index_batch(killed, CONFIGS)).changed == 1
    killed.terminate()
    pid_gone = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'killed'"
    while await library.conn.fetchval(pid_gone):
        await library.conn.execute("SELECT pg_stat_clear_snapshot()")
    assert await library.conn.fetchval("SELECT count(*) FROM indexed_pages") == 0
    assert await library.index() == 1
    assert await library.conn.fetchval("SELECT pages FROM page_clusters") == 1


async def test_starting_over_finds_what_was_changed_behind_its_back(library: Any) -> None:
    page = await library.add("http://a.example/", "Tea", "tea")
    await library.index()
    await library.conn.execute("DELETE FROM indexed_pages WHERE page_id = $1", page)
    assert await library.index() == 0
    await index.reset_progress(library.conn)
    assert await library.index() == 1


async def test_pages_read_anew_without_a_visit_can_be_named(library: Any) -> None:
    page = await library.add("http://a.example/", "Tea", "tea")
    await library.index()
    await library.conn.execute("UPDATE pages SET keywords_tsv = to_tsvector('english', 'coffee') WHERE id = $1", page)
    assert await index.index_named(library.conn, [page], CONFIGS) == 1
    assert await library.found("coffee") == ["a.example/"]


async def test_how_many_wait_is_known(library: Any) -> None:
    for number in range(3):
        await library.add(f"http://a.example/{number}", "Tea", "tea")
    assert await index.count_waiting(library.conn, most=100) == 3
    assert await index.count_waiting(library.conn, most=2) == 2
    await library.index()
    assert await index.count_waiting(library.conn, most=100) == 0


async def test_what_is_read_while_the_index_is_made_is_for_the_next_time(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crawl beside it would keep it busy for ever, a few pages at a time."""
    monkeypatch.setattr(index, "PORTION", 2)
    for number in range(5):
        await library.add(f"http://a.example/{number}", "Tea", f"tea {number}")
    one_portion, sizes = index.index_batch, []

    async def while_a_crawl_goes_on(conn: Any, configs: Any) -> index.Indexed:
        done = await one_portion(conn, configs, most=2)
        sizes.append(done.pages)
        assert len(sizes) < 10
        await library.add(f"http://a.example/later/{len(sizes)}", "Tea", "tea", fetched_at="(now())")
        return done

    monkeypatch.setattr(index, "index_batch", while_a_crawl_goes_on)
    assert await library.index() >= 5
    assert sizes[-1] < 2
    monkeypatch.undo()
    assert await index.count_waiting(library.conn, most=100) >= 1
    await library.index()
    assert (await library.search("tea")).total == 5 + len(sizes)


async def test_among_many_words_one_is_a_suggestion_when_it_was_seen_twice(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "FEW_WORDS", 2)
    await library.add("http://a.example/1", "Green kettle nearby", "tea")
    await library.index()
    assert await library.correct("ketle") == "kettle", "few words were known"
    await library.add("http://a.example/2", "Samovar kettle", "tea")
    await library.index()
    assert await library.correct("samowar") is None
    await library.add("http://a.example/3", "Samovar", "tea")
    await library.index()
    assert await library.correct("samowar") == "samovar"
