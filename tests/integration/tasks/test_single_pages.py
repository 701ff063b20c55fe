"""An order for single pages leaves the site to later orders: its scope is nobody's choice."""

from typing import Any

import pytest
from tests.builders import a_spec
from tests.ground import Ground

from forager.domains.service import configure
from forager.runs.models import RunSpec, Scope
from forager.runs.start import start_run
from forager.seeds.found import Seed
from forager.seeds.load import add_seed_list
from forager.tasks.submit import TaskOrder, submit

PAGE, SITE, NAME = "http://a.example/x", "http://a.example/", "a.example"
RESTS: dict[str, Any] = {"cipher": None, "refresh_every_s": None}


async def submit_page(ground: Ground, url: str = PAGE, **more: Any) -> None:
    async with ground.conn.transaction():
        await submit(ground.conn, [TaskOrder(url)], by="test", **more)


async def crawl(ground: Ground, spec: RunSpec) -> None:
    async with ground.conn.transaction():
        await start_run(ground.conn, spec, by="test")


async def seed(ground: Ground, url: str) -> None:
    async with ground.conn.transaction():
        await add_seed_list(ground.conn, [Seed(url)], source="seed")


async def scope(ground: Ground) -> str:
    query = "SELECT COALESCE((SELECT effective ->> 'scope' FROM domain_settings WHERE effective ? 'scope'), 'host')"
    found: str = await ground.conn.fetchval(query)
    return found


async def read_again(ground: Ground) -> bool:
    """Whether the page that was ordered first, and read since, is due again."""
    query = "SELECT EXISTS (SELECT FROM crawl_tasks t JOIN pages p ON p.id = t.page_id WHERE p.url = $1)"
    found: bool = await ground.conn.fetchval(query, PAGE)
    return found


@pytest.fixture
async def submitted(ground: Ground) -> Ground:
    """A page was submitted by itself, and read."""
    await submit_page(ground)
    assert await scope(ground) == "page"
    await ground.conn.execute("DELETE FROM crawl_tasks")
    await ground.conn.execute("UPDATE pages SET status = 'fetched', fetched_at = now()")
    return ground


@pytest.mark.parametrize("only", [None, True])
async def test_a_plain_crawl_is_for_the_site(ground: Ground, only: bool | None) -> None:
    await submit_page(ground, is_only=only)
    await crawl(ground, a_spec(SITE))
    assert await scope(ground) == "host"
    await submit_page(ground, "http://a.example/y")
    assert await scope(ground) == "host"


async def test_pages_that_were_read_alone_are_read_again_for_their_links(submitted: Ground) -> None:
    await crawl(submitted, a_spec(SITE))
    assert await read_again(submitted)


async def test_seeds_and_orders_of_the_whole_site_open_it_too(submitted: Ground) -> None:
    await seed(submitted, SITE)
    assert await scope(submitted) == "host"
    await submitted.conn.execute("DELETE FROM domain_settings")
    await submit_page(submitted, "http://b.example/x")
    assert await scope(submitted) == "page"
    await submit_page(submitted, "http://b.example/y", is_only=False)
    assert await scope(submitted) == "host"


async def test_another_page_is_no_order_for_the_site(submitted: Ground) -> None:
    await submit_page(submitted, "http://a.example/y")
    assert await scope(submitted) == "page"


async def test_a_scope_that_is_given_is_the_operators_choice(submitted: Ground) -> None:
    await crawl(submitted, a_spec(SITE, scope=Scope.PAGE, is_scope_given=True))
    assert not await read_again(submitted)
    await crawl(submitted, a_spec(SITE))
    assert await scope(submitted) == "page"


async def test_a_scope_that_was_set_stays(submitted: Ground) -> None:
    async with submitted.conn.transaction():
        await configure(submitted.conn, NAME, {"delay": "2s"}, by="test", **RESTS)
        await configure(submitted.conn, NAME, {"scope": "page"}, by="test", **RESTS)
    await crawl(submitted, a_spec(SITE))
    assert await scope(submitted) == "page"


async def test_other_settings_choose_no_scope(submitted: Ground) -> None:
    async with submitted.conn.transaction():
        await configure(submitted.conn, NAME, {"delay": "2s"}, by="test", **RESTS)
    await crawl(submitted, a_spec(SITE))
    assert await scope(submitted) == "host"


async def test_a_narrower_scope_than_the_host_is_remembered_too(submitted: Ground) -> None:
    await crawl(submitted, a_spec("http://a.example/docs/x", scope=Scope.PREFIX, is_scope_given=True))
    assert await scope(submitted) == "prefix"
