"""A shorter way to a page brings the pages behind it nearer too."""

import asyncio

import asyncpg
import pytest
from tests.ground import Ground

from forager.frontier import store

pytestmark = pytest.mark.both_servers


class Chain:
    """Pages by name, with their depths; `a>b` links them, `a=b` redirects."""

    def __init__(self, ground: Ground, domain: int) -> None:
        self.ground, self.domain = ground, domain
        self.ids: dict[str, int] = {}

    async def build(self, edges: str, **depths: int) -> None:
        for name, depth in depths.items():
            status = "fetched" if f"{name}>" in edges or f"{name}=" in edges else "discovered"
            url = f"http://a.example/{name}"
            self.ids[name] = await self.ground.a_page(url, self.domain, depth=depth, status=status)
        for edge in edges.split():
            rel = "redirect" if "=" in edge else "a"
            source, target = edge.replace("=", ">").split(">")
            await self.ground.link(self.ids[source], self.ids[target], rel)

    async def relax(self, **depths: int) -> set[int]:
        return await store.update_depths(self.ground.conn, {self.ids[name]: depth for name, depth in depths.items()})

    async def depths(self) -> dict[str, int]:
        rows = await self.ground.conn.fetch("SELECT id, depth FROM pages")
        by_id = {row["id"]: row["depth"] for row in rows}
        return {name: by_id[page] for name, page in self.ids.items()}


@pytest.fixture
async def chain(ground: Ground) -> Chain:
    return Chain(ground, await ground.a_domain())


async def test_the_whole_chain_behind_a_page_comes_nearer(chain: Chain) -> None:
    await chain.build("a>b b>c c>d", a=5, b=6, c=7, d=8)
    assert await chain.relax(a=1) == {chain.domain}
    assert await chain.depths() == {"a": 1, "b": 2, "c": 3, "d": 4}


async def test_a_redirect_costs_no_depth(chain: Chain) -> None:
    await chain.build("a=b b=c c>d", a=5, b=5, c=5, d=6)
    await chain.relax(a=0)
    assert await chain.depths() == {"a": 0, "b": 0, "c": 0, "d": 1}


async def test_a_page_that_is_near_already_stays_where_it_is(chain: Chain) -> None:
    await chain.build("a>b b>c", a=5, b=1, c=6)
    await chain.relax(a=2)
    assert await chain.depths() == {"a": 2, "b": 1, "c": 6}


async def test_nothing_moves_away(chain: Chain) -> None:
    await chain.build("a>b", a=2, b=3)
    assert await chain.relax(a=7) == set()
    assert await chain.depths() == {"a": 2, "b": 3}


async def test_circles_and_several_ways_end_at_the_shortest(chain: Chain) -> None:
    await chain.build("a>b b>a a>c c>d b>d d>a", a=9, b=10, c=10, d=11)
    await chain.relax(a=3, c=0)
    assert await chain.depths() == {"a": 2, "b": 3, "c": 0, "d": 1}


async def test_only_pages_that_wait_wake_their_domain(chain: Chain) -> None:
    await chain.build("a>b b>a", a=5, b=6)
    assert await chain.relax(a=1) == set()
    assert await chain.depths() == {"a": 1, "b": 2}


async def test_links_that_are_being_recorded_are_followed_too(chain: Chain, pool: asyncpg.Pool) -> None:
    """Who relaxes waits for the page's row, and had looked for its links before."""
    await chain.build("", a=5, b=6, c=7)
    await chain.ground.link(chain.ids["b"], chain.ids["c"])
    async with pool.acquire() as recording, pool.acquire() as relaxing:
        under_way = recording.transaction()
        await under_way.start()
        await recording.execute("UPDATE pages SET status = 'fetched' WHERE id = $1", chain.ids["a"])
        await Ground(recording).link(chain.ids["a"], chain.ids["b"])
        relaxed = asyncio.create_task(store.update_depths(relaxing, {chain.ids["a"]: 1}))
        await has_to_wait(chain.ground, relaxing.get_server_pid())
        await under_way.commit()
        assert await asyncio.wait_for(relaxed, 30) == {chain.domain}
    assert await chain.depths() == {"a": 1, "b": 2, "c": 3}


async def has_to_wait(ground: Ground, pid: int) -> None:
    async with asyncio.timeout(30):
        while not await ground.conn.fetchval("SELECT cardinality(pg_blocking_pids($1)) > 0", pid):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_page_that_comes_nearer_is_ranked_as_one_of_its_new_depth(chain: Chain) -> None:
    """Its waiting task too; a priority that a person chose stays."""
    await chain.build("a>b", a=6, b=7)
    conn = chain.ground.conn
    await conn.execute("UPDATE pages SET priority = 8")
    await chain.ground.a_task(chain.ids["b"], priority=8)
    chosen = await chain.ground.a_page("http://a.example/chosen", chain.domain, depth=7, priority=9)
    await chain.ground.link(chain.ids["a"], chosen, "a")
    await chain.relax(a=1)
    ranks = dict(await conn.fetch("SELECT id, priority FROM pages"))
    assert (ranks[chain.ids["a"]], ranks[chain.ids["b"]], ranks[chosen]) == (2, 2, 9)
    assert await conn.fetchval("SELECT priority FROM crawl_tasks") == 2
