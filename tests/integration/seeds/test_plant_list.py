"""Lists of seeds become rows: what is new is added and counted, what is known keeps its state."""

from typing import Any

import pytest
from tests.builders import a_spec
from tests.ground import Ground

from forager.explain.check import check
from forager.runs.start import start_run
from forager.seeds.found import Seed
from forager.seeds.load import SeedResult, add_seed_list

pytestmark = pytest.mark.both_servers


async def plant(ground: Ground, *seeds: tuple[str, int | None] | str, source: str = "list", **more: Any) -> SeedResult:
    given = [Seed(seed) if isinstance(seed, str) else Seed(*seed) for seed in seeds]
    async with ground.conn.transaction():
        return await add_seed_list(ground.conn, given, source=source, **more)


async def domain(ground: Ground, name: str = "a.example") -> Any:
    return await ground.conn.fetchrow("SELECT *, status::text FROM domains WHERE name = $1", name)


async def broken(ground: Ground) -> list[str]:
    async with ground.conn.transaction(isolation="repeatable_read", readonly=True):
        return [finding.name for verdict in await check(ground.conn) for finding in verdict.findings if finding.broken]


async def test_new_domains_wait_with_source_rank_and_score(ground: Ground) -> None:
    planted = await plant(
        ground,
        ("https://b.example/", 7),
        ("https://a.example/x", 1000),
        ("https://a.example/y", 10),
        "https://a.example/x",
        "http://c.example:8080/",
        source="tranco",
    )
    assert (planted.domains, planted.pages, planted.known) == (3, 4, ())
    row = await domain(ground)
    assert (row["status"], row["source"], row["seed_rank"], row["run_id"]) == ("pending", "tranco", 10, None)
    assert (row["pages_discovered"], row["frontier_size"], row["base_url"]) == (2, 2, "https://a.example")
    assert row["priority_score"] == await ground.conn.fetchval(
        "SELECT domain_score(d, d.first_seen_at) FROM domains d WHERE id = $1", row["id"]
    )
    assert row["is_due"]
    assert [r["name"] for r in await ground.conn.fetch("SELECT name FROM domains ORDER BY id")] == [
        *("b.example", "a.example", "c.example:8080")
    ], "in the order of the list"
    pages = await ground.conn.fetch("SELECT depth, priority, is_seed, status::text FROM pages")
    assert {tuple(page) for page in pages} == {(0, 1, True, "discovered")}
    assert await broken(ground) == []


async def test_the_same_list_again_changes_nothing(ground: Ground) -> None:
    seeds = (("https://a.example/", 3), "https://b.example/")
    await plant(ground, *seeds)
    before = await ground.conn.fetch("SELECT d::text FROM domains d ORDER BY id")
    again = await plant(ground, *seeds, source="another")
    assert (again.domains, again.pages, set(again.known)) == (0, 0, {"a.example", "b.example"})
    assert await ground.conn.fetch("SELECT d::text FROM domains d ORDER BY id") == before


@pytest.mark.parametrize(
    ("before", "listed", "after"), [(None, 5, 5), (9, 5, 5), (3, 5, 3), (3, None, 3), (None, None, None)]
)
async def test_the_best_rank_and_the_first_source_stay(
    ground: Ground, before: int | None, listed: int | None, after: int | None
) -> None:
    await plant(ground, ("https://a.example/", before), source="first")
    await plant(ground, ("https://a.example/", listed), ("https://a.example/new", listed), source="second")
    row = await domain(ground)
    assert (row["seed_rank"], row["source"], row["pages_discovered"]) == (after, "first", 2)


@pytest.mark.parametrize("status", ["blocked", "unreachable"])
async def test_a_domain_that_stands_still_stays_so(ground: Ground, status: str) -> None:
    one = await ground.a_domain(pages=1)
    await ground.conn.execute("UPDATE domains SET status = $1, block_reason_code = 'forbidden'", status)
    await plant(ground, "http://a.example/1", "http://a.example/new")
    row = await ground.domain(one)
    assert (row["status"], row["frontier_size"], row["pages_discovered"]) == (status, 2, 2)
    assert await broken(ground) == []


async def test_a_domain_crawled_to_its_end_is_not_crawled_again(ground: Ground) -> None:
    one = await ground.a_domain(status="exhausted", ready_at=None)
    pages = [
        await ground.a_page(f"http://a.example/{status}", one, status=status)
        for status in ("fetched", "gone", "failed")
    ]
    await plant(ground, *(f"http://a.example/{status}" for status in ("fetched", "gone", "failed")))
    assert [(await ground.page(page))["status"] for page in pages] == ["fetched", "gone", "failed"]
    assert [await ground.tasks(page) for page in pages] == [[], [], []]
    row = await ground.domain(one)
    assert (row["status"], row["frontier_size"], row["ready_at"]) == ("exhausted", 0, None)


async def test_a_page_nobody_has_seen_is_work_for_it(ground: Ground) -> None:
    one = await ground.a_domain(status="exhausted", ready_at=None)
    await plant(ground, "http://a.example/new")
    row = await ground.domain(one)
    assert (row["status"], row["frontier_size"], row["ready_at"] is not None) == ("active", 1, True)


async def test_known_pages_become_seeds_and_their_links_come_nearer(ground: Ground) -> None:
    one = await ground.a_domain(ready_at=None)
    known = await ground.a_page("http://a.example/", one, depth=7, status="fetched")
    behind = await ground.a_page("http://a.example/x", one, depth=8)
    await ground.link(known, behind)
    await plant(ground, "http://a.example/")
    row = await ground.page(known)
    assert (row["depth"], row["is_seed"], row["priority"], row["status"]) == (0, True, 1, "fetched")
    assert (await ground.page(behind))["depth"] == 1
    assert (await ground.domain(one))["ready_at"] is not None


async def test_seeds_do_not_take_a_domain_from_its_run(ground: Ground) -> None:
    run = await ground.a_run()
    one = await ground.a_domain(run=run, run_pages=5)
    await plant(ground, "http://a.example/new")
    row = await ground.domain(one)
    assert (row["run_id"], row["run_pages"], row["frontier_size"]) == (run, 5, 1)


async def test_a_crawl_does_not_wake_what_a_list_names(ground: Ground) -> None:
    """A person's word counts more than a line of a file."""
    for name in ("named.example", "listed.example"):
        one = await ground.a_domain(name)
        await ground.a_page(f"http://{name}/", one, status="failed")
        await ground.conn.execute(
            "UPDATE domains SET status = 'unreachable', block_reason_code = 'dns' WHERE id = $1", one
        )
    spec = a_spec("http://named.example/", "http://listed.example/")
    async with ground.conn.transaction():
        run = await start_run(ground.conn, spec, by="test", listed=[Seed("http://listed.example/", 4)], source="file")
    named, listed = await domain(ground, "named.example"), await domain(ground, "listed.example")
    assert (named["status"], named["frontier_size"], named["run_id"]) == ("pending", 1, run)
    assert (listed["status"], listed["frontier_size"], listed["run_id"]) == ("unreachable", 0, run)
    assert listed["seed_rank"] == 4
