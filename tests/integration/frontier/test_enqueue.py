"""New pages are learned once, however often and from wherever they are linked."""

import asyncio
from typing import Any

import asyncpg
import pytest
from tests.builders import a_discovery
from tests.ground import Ground, add_plainly

from forager.db.pool import connect
from forager.frontier import store
from forager.urls.normalize import url_key

pytestmark = pytest.mark.both_servers


async def test_learning_twice_adds_nothing_the_second_time(ground: Ground) -> None:
    domain = await ground.a_domain()
    pages = [(domain, a_discovery(f"http://a.example/{number}")) for number in range(3)]
    assert len(await store.add_pages(ground.conn, pages)) == 3
    assert await store.add_pages(ground.conn, pages) == []
    assert await ground.conn.fetchval("SELECT count(*) FROM pages") == 3


async def test_a_learned_page_waits_with_its_depth_and_rank(ground: Ground) -> None:
    domain = await ground.a_domain()
    link = a_discovery("http://a.example/tag/x", 3, redirects=2)
    ((page, _, key, depth),) = await store.add_pages(ground.conn, [(domain, link)])
    row = await ground.page(page)
    assert (row["status"], row["depth"], row["redirects"], row["priority"]) == ("discovered", 3, 2, 8)
    assert (bytes(key), depth) == (url_key(link.url), 3)


async def test_learning_answers_for_new_and_known_pages(ground: Ground) -> None:
    domain = await ground.a_domain()
    near = await ground.a_page("http://a.example/near", domain, depth=1)
    far = await ground.a_page("http://a.example/far", domain, depth=9)
    links = [a_discovery(f"http://a.example/{name}", 4) for name in ("near", "far", "new")]
    learned = await add_plainly(ground.conn, links, {"a.example": domain})
    assert learned.page_ids[links[0].key] == near
    assert learned.page_ids[links[1].key] == far
    assert len(learned.page_ids) == 3
    assert learned.new == {domain: 1}
    assert learned.nearer == {far: 4}
    assert sorted(depth for _, _, depth in learned.fresh) == [1, 4, 4]


async def test_the_same_key_in_two_domains_is_two_pages(ground: Ground) -> None:
    """The key starts with the domain, so tables can be split by it."""
    one, two = await ground.a_domain("a.example"), await ground.a_domain("b.example")
    link = a_discovery("http://a.example/x")
    assert len(await store.add_pages(ground.conn, [(one, link), (two, link)])) == 2
    assert len(await store.find_pages(ground.conn, [(one, link.key)])) == 1


async def test_a_domain_that_has_pages_cannot_be_deleted(ground: Ground) -> None:
    domain = await ground.a_domain()
    page = await ground.a_page("http://a.example/x", domain)
    with pytest.raises(asyncpg.ForeignKeyViolationError, match="still has pages"):
        await ground.conn.execute("DELETE FROM domains WHERE id = $1", domain)
    await ground.conn.execute("DELETE FROM pages WHERE id = $1", page)
    await ground.conn.execute("DELETE FROM domains WHERE id = $1", domain)


async def test_a_page_is_not_learned_for_a_domain_that_is_gone(ground: Ground) -> None:
    there, gone = await ground.a_domain("a.example"), 999_999_999
    links = [a_discovery("http://a.example/x"), a_discovery("http://b.example/x")]
    learned = await add_plainly(ground.conn, links, {"a.example": there, "b.example": gone})
    assert (learned.new, learned.refused) == ({there: 1}, {links[1].key})


async def test_a_domain_is_not_deleted_while_its_pages_are_learned(ground: Ground, database_url: str) -> None:
    domain = await ground.a_domain()
    learner = await connect(database_url, application="learner")
    transaction = learner.transaction()
    await transaction.start()
    await store.add_pages(learner, [(domain, a_discovery("http://a.example/x"))])
    deleting = asyncio.create_task(ground.conn.execute("DELETE FROM domains WHERE id = $1", domain))
    await waits_for_a_lock(learner)
    await transaction.commit()
    await learner.close()
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await deleting


async def waits_for_a_lock(conn: Any) -> None:
    while not await conn.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):  # noqa: ASYNC110 (a database tells nobody)
        await asyncio.sleep(0.01)


async def test_how_near_the_new_pages_of_a_domain_are_is_known(ground: Ground) -> None:
    domain = await ground.a_domain()
    await ground.a_page("http://a.example/known", domain, depth=1)
    links = [a_discovery(f"http://a.example/{name}", depth) for name, depth in (("known", 1), ("x", 4), ("y", 3))]
    assert (await add_plainly(ground.conn, links, {"a.example": domain})).nearest == {domain: 3}
