"""An index is made anew while the old one is searched: no gap, nothing lost, and a kill is followed by going on."""

import asyncio
from typing import Any

import pytest

from forager.db.pool import connect
from forager.errors import ConfigurationError, SearchServerError
from forager.search import rebuild
from forager.search.models import Query
from forager.search.names import Names
from forager.search.reindex import leave, reindex
from forager.search.service import search


async def live(mirror: Any) -> str:
    found: str = await mirror.conn.fetchval("SELECT name FROM search_builds WHERE state = 'live'")
    return found


async def indexes(mirror: Any) -> set[str]:
    return set(await mirror.server.tell("GET", f"/{mirror.names.prefix}*"))


async def test_a_new_index_takes_the_place_of_the_old_one_which_is_deleted(mirror: Any) -> None:
    before = await live(mirror)
    done = await reindex(mirror.conn, mirror.elsewhere)
    assert await live(mirror) != before
    assert done.filled == 8
    assert await mirror.agrees()
    names = mirror.names
    assert await indexes(mirror) == {names.index(kind, await live(mirror)) for kind in ("page", "product")}


async def test_there_is_no_moment_without_an_index_and_changes_meanwhile_are_not_lost(
    mirror: Any, pool: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody searches all the time, somebody else changes and deletes pages between two portions."""
    pages = sorted(await mirror.there("page"))
    totals: list[int] = []
    is_over = asyncio.Event()

    async def keep_searching() -> None:
        while not is_over.is_set():
            answer = await search(pool, Query("tea"), elsewhere=mirror.elsewhere)
            assert answer.note is None
            totals.append(answer.page.total)

    take_step, steps = rebuild.take_step, 0

    async def step_and_change(*arguments: Any, **options: Any) -> rebuild.Step:
        nonlocal steps
        steps += 1
        if steps == 2:
            await mirror.rewrite(pages[-1], "Coffee before it is filled")
        step = await take_step(*arguments, **options, most=2)
        if steps == 3:
            await mirror.rewrite(pages[0], "Cocoa after it was filled")
            await mirror.conn.execute("DELETE FROM pages WHERE id = $1", pages[1])
            await mirror.add("http://a.example/new", "New tea", "tea that came meanwhile")
            await mirror.index()
        return step

    monkeypatch.setattr(rebuild, "take_step", step_and_change)
    searching = asyncio.create_task(keep_searching())
    await reindex(mirror.conn, mirror.elsewhere)
    is_over.set()
    await searching
    await mirror.tend()
    assert steps > 4
    assert totals
    assert min(totals) >= 4
    assert await mirror.agrees()


async def test_one_that_was_killed_is_gone_on_with_where_it_stopped(mirror: Any, database_url: str) -> None:
    killed = await connect(database_url, application="killed reindex")
    await rebuild.begin(killed)
    for _ in range(3):
        await rebuild.take_step(killed, mirror.server, mirror.names, most=2)
    killed.terminate()
    (begun,) = [build for build in await rebuild.read_builds(mirror.conn) if build.state == "building"]
    assert begun.pages_until > 0
    done = await reindex(mirror.conn, mirror.elsewhere)
    assert await live(mirror) == begun.name
    assert done.filled == 8 - 4
    assert await mirror.agrees()


async def test_one_that_was_begun_can_be_given_up(mirror: Any) -> None:
    await rebuild.begin(mirror.conn)
    await rebuild.take_step(mirror.conn, mirror.server, mirror.names)
    (begun,) = [build.name for build in await rebuild.read_builds(mirror.conn) if build.state == "building"]
    await reindex(mirror.conn, mirror.elsewhere, anew=True)
    assert await live(mirror) != begun
    assert not any(begun in index for index in await indexes(mirror))


async def test_the_server_goes_away_in_the_middle_and_the_next_one_finishes(mirror: Any) -> None:
    await rebuild.begin(mirror.conn)
    await rebuild.take_step(mirror.conn, mirror.server, mirror.names)
    await mirror.gate.shut()
    with pytest.raises(SearchServerError):
        await reindex(mirror.conn, mirror.elsewhere)
    await mirror.gate.open()
    await reindex(mirror.conn, mirror.elsewhere)
    assert await mirror.agrees()


async def test_killed_between_the_alias_and_its_note_it_is_switched_again(mirror: Any, database_url: str) -> None:
    killed = await connect(database_url, application="killed switch")
    await rebuild.begin(killed)
    while not (step := await rebuild.take_step(killed, mirror.server, mirror.names)).documents or step.is_live:
        pass
    transaction = killed.transaction()
    await transaction.start()
    while not (await rebuild.take_step(killed, mirror.server, mirror.names)).is_live:
        pass
    killed.terminate()
    assert (await mirror.search("tea")).total == 7
    await reindex(mirror.conn, mirror.elsewhere)
    assert await mirror.agrees()


@pytest.mark.parametrize("what", ["index", "alias"])
async def test_an_index_that_somebody_deleted_is_made_again(mirror: Any, pool: Any, what: str) -> None:
    gone, alias = mirror.names.index("page", await live(mirror)), mirror.names.searched("page")
    await mirror.server.tell("DELETE", f"/{gone}" if what == "index" else f"/{gone}/_alias/{alias}")
    answer = await search(pool, Query("tea"), elsewhere=mirror.elsewhere)
    assert answer.page.total == 7
    assert answer.note is not None
    await mirror.tend()
    await mirror.tend()
    assert await mirror.agrees()
    assert (await search(pool, Query("tea"), elsewhere=mirror.elsewhere)).note is None


async def test_two_foragers_under_one_prefix_are_told_so(mirror: Any) -> None:
    before = await live(mirror)
    await mirror.conn.execute("DELETE FROM search_builds")
    with pytest.raises(ConfigurationError, match=r"search\.index_prefix") as caught:
        await reindex(mirror.conn, mirror.elsewhere)
    assert "\n" not in str(caught.value)
    assert mirror.names.index("page", before) in await mirror.server.tell(
        "GET", f"/_alias/{mirror.names.searched('page')}"
    )


async def test_who_leaves_the_server_notes_no_more_changes_and_its_indexes_are_deleted(mirror: Any) -> None:
    await leave(mirror.conn, mirror.elsewhere, mirror.names.prefix)
    await mirror.add("http://a.example/later", "Later", "later words")
    await mirror.index()
    assert await mirror.waiting() == 0
    assert await indexes(mirror) == set()
    assert await mirror.conn.fetchval("SELECT count(*) FROM search_builds") == 0


def test_names() -> None:
    names = Names("shop-")
    assert names.searched("page") == "shop-pages"
    assert names.written("product", "b1") == "shop-products-b1-writes"
