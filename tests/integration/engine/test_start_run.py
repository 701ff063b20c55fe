"""An order becomes rows: seeds are pages at depth 0, and the run takes the domains it may reach."""

import pytest
from tests.builders import a_spec
from tests.ground import Ground

from forager.runs.models import ALL_KNOWN, RunSpec, Scope
from forager.runs.start import start_run

pytestmark = pytest.mark.both_servers


async def start(ground: Ground, spec: RunSpec) -> int:
    async with ground.conn.transaction():
        return await start_run(ground.conn, spec, by="test")


async def test_seeds_become_pages_of_domains_that_are_ready(ground: Ground) -> None:
    run = await start(ground, a_spec("http://a.example/x", "https://www.a.example/", "http://b.example:8080/"))
    rows = await ground.conn.fetch(
        "SELECT p.url, p.depth, p.priority, p.is_seed, p.status::text, d.name FROM pages p"
        " JOIN domains d ON d.id = p.domain_id ORDER BY p.url"
    )
    assert [tuple(row) for row in rows] == [
        ("http://a.example/x", 0, 1, True, "discovered", "a.example"),
        ("http://b.example:8080/", 0, 1, True, "discovered", "b.example:8080"),
        ("https://www.a.example/", 0, 1, True, "discovered", "a.example"),
    ]
    found = await ground.conn.fetch("SELECT * FROM domains ORDER BY name")
    assert [(row["pages_discovered"], row["frontier_size"], row["run_id"]) for row in found] == [
        (2, 2, run),
        (1, 1, run),
    ]
    assert all(row["ready_at"] is not None for row in found)


async def test_the_same_order_again_adds_nothing(ground: Ground) -> None:
    spec = a_spec("http://a.example/")
    await start(ground, spec)
    again = await start(ground, spec)
    (row,) = await ground.conn.fetch("SELECT * FROM domains")
    assert (row["pages_discovered"], row["frontier_size"], row["run_id"]) == (1, 1, again)
    assert await ground.conn.fetchval("SELECT count(*) FROM pages") == 1


async def test_a_known_page_that_becomes_a_seed_comes_near_with_all_behind_it(ground: Ground) -> None:
    domain = await ground.a_domain()
    known = await ground.a_page("http://a.example/", domain, depth=7, status="fetched")
    behind = await ground.a_page("http://a.example/x", domain, depth=8)
    await ground.link(known, behind)
    await start(ground, a_spec("http://a.example/"))
    row = await ground.page(known)
    assert (row["depth"], row["is_seed"], row["priority"], row["status"]) == (0, True, 1, "fetched")
    assert (await ground.page(behind))["depth"] == 1


async def test_a_seed_that_failed_before_is_tried_again(ground: Ground) -> None:
    domain = await ground.a_domain(status="exhausted", ready_at=None)
    page = await ground.a_page("http://a.example/", domain, status="gone")
    await start(ground, a_spec("http://a.example/"))
    assert (await ground.page(page))["status"] == "queued"
    assert len(await ground.tasks(page)) == 1
    row = await ground.domain(domain)
    assert (row["status"], row["frontier_size"], row["ready_at"] is not None) == ("active", 1, True)


async def test_a_seed_that_waits_for_a_retry_is_due_now(ground: Ground) -> None:
    """A person asks for it: the hour that was to pass before the next try is over."""
    domain = await ground.new_domain.unreachable(pages=1)
    task = await ground.new_task.retry("http://a.example/1", scheduled_for="(now() + interval '1 hour')")
    await start(ground, a_spec("http://a.example/1"))
    assert (await ground.domain(domain))["status"] == "pending"
    assert await ground.conn.fetchval("SELECT scheduled_for <= now() FROM crawl_tasks WHERE id = $1", task)


@pytest.mark.parametrize(
    ("scope", "taken"),
    [
        (Scope.PAGE, {"shop.example"}),
        (Scope.PREFIX, {"shop.example"}),
        (Scope.HOST, {"shop.example"}),
        (Scope.DOMAIN, {"shop.example", "blog.shop.example", "done.shop.example"}),
        (Scope.ANY, {"shop.example", "blog.shop.example", "other.example"}),
    ],
)
async def test_a_run_takes_the_domains_in_its_scope(ground: Ground, scope: Scope, taken: set[str]) -> None:
    for name, pages in (("blog.shop.example", 1), ("done.shop.example", 0), ("other.example", 1), ("empty.example", 0)):
        await ground.a_domain(name, pages=pages, ready_at=None, parent_domain=".".join(name.split(".")[-2:]))
    run = await start(ground, a_spec("http://shop.example/", scope=scope))
    rows = await ground.conn.fetch("SELECT name, frontier_size, ready_at FROM domains WHERE run_id = $1", run)
    assert {row["name"] for row in rows} == taken
    assert all((row["ready_at"] is not None) == (row["frontier_size"] > 0) for row in rows)


async def test_a_new_run_begins_its_limits_anew(ground: Ground) -> None:
    await ground.a_domain(pages=1, run=await ground.a_run(), run_pages=50)
    run = await start(ground, a_spec("http://a.example/"))
    row = await ground.conn.fetchrow("SELECT * FROM domains")
    assert (row["run_id"], row["run_pages"]) == (run, 0)


async def test_ten_thousand_seeds_are_one_statement_each_step(ground: Ground) -> None:
    seeds = tuple(f"http://d{number % 100}.example/{number}" for number in range(10_000))
    run = await start(ground, a_spec(*seeds))
    assert await ground.conn.fetchval("SELECT count(*) FROM pages WHERE is_seed") == 10_000
    assert (
        await ground.conn.fetchval("SELECT count(*) FROM domains WHERE frontier_size = 100 AND run_id = $1", run) == 100
    )


async def test_a_run_over_all_that_is_known_takes_what_has_something_left(ground: Ground) -> None:
    await ground.a_domain("a.example", pages=2, ready_at=None)
    await ground.a_domain("b.example", status="exhausted", ready_at=None)
    spec = RunSpec((), seeds_total=0, seeds_digest=ALL_KNOWN)
    run = await start_run(ground.conn, spec, by="test")
    rows = await ground.conn.fetch("SELECT name FROM domains WHERE run_id = $1 AND is_due", run)
    assert [row["name"] for row in rows] == ["a.example"]


async def test_a_run_that_takes_a_domain_with_nothing_but_revisits_knows_when_they_are_due(ground: Ground) -> None:
    domain = await ground.a_domain("a.example", ready_at=None)
    task = await ground.new_task.recurring("http://a.example/", every_s=60.0)
    await start_run(ground.conn, a_spec("http://a.example/"), by="test")
    assert (await ground.domain(domain))["ready_at"] == (await ground.task(task))["scheduled_for"]


async def test_a_seed_that_was_read_before_is_visited_again(ground: Ground) -> None:
    domain = await ground.a_domain(status="exhausted", ready_at=None)
    page = await ground.a_page("http://a.example/", domain, status="fetched")
    await start(ground, a_spec("http://a.example/"))
    (task,) = await ground.conn.fetch("SELECT * FROM crawl_tasks")
    assert (task["page_id"], task["outcome"], task["created_by"]) == (page, None, "test")
    row = await ground.conn.fetchrow("SELECT * FROM domains")
    assert row is not None
    assert (row["status"], row["is_due"], row["frontier_size"]) == ("active", True, 0)
    assert (await ground.page(page))["status"] == "fetched"


@pytest.mark.parametrize(("hours", "tasks"), [(0, 0), (2, 1)])
async def test_a_crawl_that_is_resumed_leaves_a_recent_seed_alone(ground: Ground, hours: int, tasks: int) -> None:
    domain = await ground.a_domain(frontier_size=1)
    page = await ground.a_page("http://a.example/", domain, status="fetched")
    await ground.a_page("http://a.example/left", domain, depth=1)
    await ground.conn.execute(
        "UPDATE pages SET fetched_at = now() - make_interval(hours => $2) WHERE id = $1", page, hours
    )
    await start(ground, a_spec("http://a.example/"))
    assert await ground.conn.fetchval("SELECT count(*) FROM crawl_tasks WHERE outcome IS NULL") == tasks
