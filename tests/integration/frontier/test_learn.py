"""New pages are learned once, however often and from wherever they are linked."""

import pytest
from tests.builders import a_discovery
from tests.ground import Ground, add_plainly

from forager.frontier import store as frontier
from forager.urls import url_key

pytestmark = pytest.mark.both_servers


async def test_learning_twice_adds_nothing_the_second_time(ground: Ground) -> None:
    domain = await ground.a_domain()
    pages = [(domain, a_discovery(f"http://a.example/{number}")) for number in range(3)]
    assert len(await frontier.add_pages(ground.conn, pages)) == 3
    assert await frontier.add_pages(ground.conn, pages) == []
    assert await ground.conn.fetchval("SELECT count(*) FROM pages") == 3


async def test_a_learned_page_waits_with_its_depth_and_rank(ground: Ground) -> None:
    domain = await ground.a_domain()
    link = a_discovery("http://a.example/tag/x", 3, redirects=2)
    ((page, _, key, depth),) = await frontier.add_pages(ground.conn, [(domain, link)])
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
    assert len(await frontier.add_pages(ground.conn, [(one, link), (two, link)])) == 2
    assert len(await frontier.find_pages(ground.conn, [(one, link.key)])) == 1
