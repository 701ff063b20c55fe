"""Counters made anew, and domains whose names are one name merged: afterwards every promise is kept."""

import asyncio
import hashlib
from dataclasses import replace
from decimal import Decimal
from typing import Any

import asyncpg
import pytest
from tests.builders import a_detailed_reading, a_discovery, a_target

from forager.domains import store as domains
from forager.domains.repair import CorrectedValue
from forager.errors import UsageError
from forager.explain.check import check
from forager.explain.rebuild import RebuildResult, find_bad_names, merge, normalize_name, rebuild
from forager.frontier.details import record_details
from forager.frontier.enqueue import EnqueueResult, enqueue
from forager.frontier.models import Outcome, OutcomeKind
from forager.products.models import Product
from forager.products.store import ProductVisit, store
from forager.urls.normalize import url_key

SHOP = "shop.example"
KEEPING: dict[str, Any] = {"by": "cli:ann", "refresh_every_s": 86_400.0, "refused_rest_s": 3600.0}
ALONE: dict[str, Any] = {**KEEPING, "dead_after_s": 60.0}


async def broken(world: Any) -> list[str]:
    async with world.conn.transaction(isolation="repeatable_read", readonly=True):
        return [finding.name for verdict in await check(world.conn) for finding in verdict.findings if finding.broken]


async def status_of(world: Any, name: str = SHOP) -> str:
    found: str = await world.conn.fetchval("SELECT status::text FROM domains WHERE name = $1", name)
    return found


# Rebuild ------------------------------------------------------------------------------------------------------------


async def test_a_sound_database_is_left_alone(world: Any, pool: asyncpg.Pool) -> None:
    assert await rebuild(pool, **KEEPING) == RebuildResult(domains=2)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE domains SET frontier_size = 17",
        "UPDATE domains SET pages_discovered = 0, pages_crawled = 99, total_error_count = -1",
        "UPDATE domains SET images_found = 7, images_stored = 3",
        "UPDATE domains SET frontier_size = 0, ready_at = NULL, due_at = NULL, is_due = false",
        "UPDATE domains SET ready_at = NULL, due_at = NULL, is_due = false WHERE name = 'shop.example'",
    ],
)
async def test_counters_are_made_anew_once(world: Any, pool: asyncpg.Pool, damage: str) -> None:
    await world.damage(damage)
    assert await broken(world) != []
    assert (await rebuild(pool, **KEEPING)).mended
    assert await broken(world) == []
    assert not (await rebuild(pool, **KEEPING)).mended


async def test_what_was_wrong_is_told(world: Any, pool: asyncpg.Pool) -> None:
    await world.damage("UPDATE domains SET frontier_size = 17, total_error_count = 4 WHERE name = 'shop.example'")
    done = await rebuild(pool, **KEEPING)
    assert done.mended == [
        CorrectedValue(SHOP, "frontier_size", 17, 2),
        CorrectedValue(SHOP, "total_error_count", 4, 1),
    ]


async def test_exhausted_with_pages_waiting_goes_on(world: Any, pool: asyncpg.Pool) -> None:
    await world.damage("UPDATE domains SET status = 'exhausted' WHERE name = 'shop.example'")
    assert (await rebuild(pool, **KEEPING)).mended == [CorrectedValue(SHOP, "status", "exhausted", "active")]
    move = await world.conn.fetchrow("SELECT reason_code, moved_by FROM domain_history")
    assert tuple(move) == ("rebuild", "cli:ann")


@pytest.mark.parametrize(("refusals", "status"), [(1, "exhausted"), (9, "blocked")])
async def test_active_with_nothing_left_has_ended(world: Any, pool: asyncpg.Pool, refusals: int, status: str) -> None:
    await world.conn.execute("DELETE FROM crawl_tasks WHERE outcome IS NULL")
    await world.conn.execute(
        "UPDATE page_link_lists SET to_page_ids = array_remove(array_remove(to_page_ids, $1), $2), anchors = ''",
        *(world.pages[f"http://shop.example/{n}"] for n in ("later", "new")),
    )
    await world.conn.execute("DELETE FROM pages WHERE status IN ('queued', 'discovered')")
    await world.conn.execute("UPDATE pages SET links_count = 2 WHERE is_seed")
    for _ in range(refusals - 1):
        await world.close("http://shop.example/gone", "blocked_4xx", 404, error_code="http_status", blame="site")
    await world.conn.execute("UPDATE run_outcomes SET pages = $1 WHERE outcome = 'blocked_4xx'", refusals)
    await world.conn.execute("UPDATE domains SET ready_at = NULL WHERE name = $1", SHOP)
    done = await rebuild(pool, **KEEPING)
    assert CorrectedValue(SHOP, "status", "active", status) in done.mended
    assert (await status_of(world), await broken(world)) == (status, [])
    rest_s = await world.conn.fetchval(
        "SELECT extract(epoch FROM next_crawl_after - now()) FROM domains WHERE name = $1", SHOP
    )
    assert 0 < rest_s <= (3600 if status == "blocked" else 86_400)


async def test_a_leased_domain_is_left_to_its_worker(world: Any, pool: asyncpg.Pool) -> None:
    await world.damage("UPDATE domains SET frontier_size = 17")
    await world.conn.execute(
        "UPDATE domains SET claimed_by = $1, claim_expires_at = now() + interval '1 hour' WHERE name = $2",
        world.worker,
        SHOP,
    )
    done = await rebuild(pool, **KEEPING)
    assert (done.domains, done.skipped, [mended.domain for mended in done.mended]) == (1, 1, ["idle.example"])


async def test_a_row_somebody_writes_to_is_not_waited_for(world: Any, pool: asyncpg.Pool) -> None:
    async with pool.acquire() as other, other.transaction():
        await other.execute("UPDATE domains SET frontier_size = frontier_size WHERE name = $1", SHOP)
        assert (await rebuild(pool, **KEEPING)).skipped == 1


async def test_pages_that_are_learned_meanwhile_are_counted_once(world: Any, pool: asyncpg.Pool) -> None:
    """Learners insert pages first and move the counter last; a rebuild in between must neither miss nor double them."""
    await world.conn.execute("UPDATE workers SET status = 'stopped'")

    async def learn_some(part: int) -> None:
        links = [a_discovery(f"http://shop.example/{part}/{number}") for number in range(20)]

        async def find(conn: Any, bases: Any) -> dict[str, int]:
            return await domains.find_domains(conn, bases)

        async with pool.acquire() as conn, conn.transaction():
            learned = EnqueueResult()
            await enqueue(conn, learned, {link.key: link for link in links}, find)
            await domains.count_discovered(conn, learned.new, run=world.run)

    await asyncio.gather(*[work for part in range(15) for work in (learn_some(part), rebuild(pool, **KEEPING))])
    assert await world.conn.fetchval("SELECT pages_discovered FROM domains WHERE name = $1", SHOP) == 305
    assert await broken(world) == []


# Merge --------------------------------------------------------------------------------------------------------------


async def twin(world: Any, name: str = "WWW.shop.example", days_later: int = 1, **columns: Any) -> int:
    """A second row for the shop, as no program of ours would make it."""
    given = {"status": "active", "base_url": f"http://{name}/"} | columns
    world.domains[name] = await world.insert(
        "domains", name=name, parent_domain="shop.example", run_id=world.run, **given
    )
    await world.conn.execute(
        "UPDATE domains SET first_seen_at = now() + make_interval(days => $2) WHERE name = $1", name, days_later
    )
    await world.conn.execute("UPDATE workers SET status = 'stopped'")
    return int(world.domains[name])


async def add(world: Any, domain: int, url: str, **columns: Any) -> int:
    """A page of a domain, whatever its URL says; its counters with it."""
    key = hashlib.sha256(url.encode()).digest()[:16]
    page = await world.insert("pages", domain_id=domain, url=url, url_hash=key, depth=1, priority=5, **columns)
    waits = columns.get("status", "discovered") in {"discovered", "queued"}
    await world.conn.execute(
        "UPDATE domains SET pages_discovered = pages_discovered + 1, frontier_size = frontier_size + $2 WHERE id = $1",
        domain,
        int(waits),
    )
    return int(page)


async def visit(world: Any, domain: int, page: int, **columns: Any) -> int:
    await world.conn.execute("UPDATE domains SET pages_crawled = pages_crawled + 1 WHERE id = $1", domain)
    await world.conn.execute("UPDATE run_outcomes SET pages = pages + 1 WHERE outcome = 'success'")
    given = {"status": "completed", "outcome": "success", "status_code": 200, "bytes": 1, **columns}
    at = await world.conn.fetchval("SELECT now()")
    given |= {"page_id": page, "domain_id": domain, "run_id": world.run, "completed_at": at}
    return int(await world.insert("crawl_tasks", **given))


@pytest.mark.parametrize(
    ("name", "base_url", "right"),
    [
        ("shop.example", "http://shop.example", "shop.example"),
        ("WWW.Shop.example.", "http://x", "shop.example"),
        ("shop.example:443", "https://x", "shop.example"),
        ("shop.example:443", "http://x", "shop.example:443"),
        ("münchen.example", "http://x", "xn--mnchen-3ya.example"),
        ("not a name", "http://x", "not a name"),
    ],
)
def test_the_one_spelling_of_a_name(name: str, base_url: str, right: str) -> None:
    assert normalize_name(name, base_url) == right


async def test_nothing_to_merge(world: Any, pool: asyncpg.Pool) -> None:
    assert await merge(pool, is_trial=False, **ALONE) == []


async def test_a_merge_keeps_products_and_their_prices(world: Any, pool: asyncpg.Pool) -> None:
    """Of a page that moves, and of one whose twin stays."""
    other = await twin(world)
    kettle = Product(name="Kettle", price=Decimal("19.99"), currency="EUR", content_hash=bytes(16))
    known = await world.conn.fetchval(
        "SELECT url FROM pages WHERE domain_id = $1 ORDER BY id LIMIT 1", world.domains[SHOP]
    )
    for url in ("http://shop.example/only-there", known):
        page = await add(world, other, url)
        for number, price in enumerate(("19.99", "24.99")):
            await store(world.conn, [ProductVisit(other, page, number, url, replace(kettle, price=Decimal(price)))])
    days = await world.conn.fetchval("SELECT sum(found) FROM product_days")
    await merge(pool, is_trial=False, **ALONE)
    shop = world.domains[SHOP]
    kept = await world.conn.fetch(
        "SELECT r.url FROM products r JOIN pages p ON p.id = r.page_id AND p.domain_id = r.domain_id"
    )
    assert {row["url"] for row in kept} == {"http://shop.example/only-there", known}
    assert await world.conn.fetchval("SELECT count(*) FROM product_prices WHERE domain_id = $1", shop) == 4
    assert await world.conn.fetchval("SELECT sum(found) FROM product_days WHERE domain_id = $1", shop) == days


async def test_a_trial_changes_nothing(world: Any, pool: asyncpg.Pool) -> None:
    await twin(world)
    (planned,) = await merge(pool, is_trial=True, **ALONE)
    assert (planned.name, planned.names) == (SHOP, (SHOP, "WWW.shop.example"))
    assert await world.conn.fetchval("SELECT count(*) FROM domains") == 3


async def test_a_misspelled_domain_is_renamed(world: Any, pool: asyncpg.Pool) -> None:
    other = await twin(world, "WWW.other.example", base_url="https://WWW.other.example/")
    await add(world, other, "https://www.other.example/")
    await merge(pool, is_trial=False, **ALONE)
    row = await world.conn.fetchrow("SELECT name, parent_domain, base_url FROM domains WHERE id = $1", other)
    assert tuple(row) == ("other.example", "other.example", "https://other.example")
    assert await broken(world) == []
    assert await world.conn.fetchval("SELECT reason FROM domain_history WHERE domain_id = $1", other) == (
        "renamed from WWW.other.example"
    )


@pytest.mark.parametrize("days_later", [1, -1])
async def test_two_rows_of_one_domain_become_one(world: Any, pool: asyncpg.Pool, days_later: int) -> None:
    """Whichever is the elder keeps its row; pages, visits, links, robots.txt and days come together."""
    other = await twin(world, days_later=days_later, seed_rank=5)
    await world.conn.execute("INSERT INTO domain_settings (domain_id, settings) VALUES ($1, '{\"delay\": 9.0}')", other)
    shop = world.domains[SHOP]
    elder = shop if days_later > 0 else other
    only = await add(
        world, other, "http://www.shop.example/only", status="fetched", links_count=2, content_hash=bytes(16)
    )
    await visit(world, other, only)
    await world.conn.execute(
        "INSERT INTO page_link_lists (domain_id, from_page_id, to_page_ids, anchors)"
        " VALUES ($1, $2, ARRAY[$3::bigint, $2::bigint], '')",
        other,
        only,
        world.pages["http://shop.example/new"],
    )
    await world.conn.execute(
        "WITH image AS ("
        "INSERT INTO images (domain_id, url, url_hash) VALUES ($1, 'http://i.example/', $3) RETURNING id)"
        " INSERT INTO page_images (domain_id, page_id, image_id, position, discovery_type, image_type, alt_text)"
        " SELECT $1, $2, id, 0, 'img', 'gallery', '' FROM image",
        other,
        only,
        url_key("http://i.example/"),
    )
    for domain, fetched in ((shop, "now()"), (other, "now() - interval '1 day'")):
        await world.conn.execute(
            f"INSERT INTO origins VALUES ($1, 'http://shop.example', $2, 200, NULL, {fetched}, now())",
            domain,
            f"of {domain}",
        )
        await world.conn.execute("INSERT INTO robots_requests VALUES ($1, 'http://shop.example', now(), 0)", domain)
        await world.conn.execute("INSERT INTO domain_days VALUES ($1, current_date, 4, 3, 2, 1, 100, 10)", domain)
    (done,) = await merge(pool, is_trial=False, **ALONE)
    assert (done.pages_moved, done.pages_twice) == (1 if days_later > 0 else 5, 0)
    row = await world.conn.fetchrow("SELECT * FROM domains WHERE name = $1", SHOP)
    assert row["id"] == elder
    assert (row["pages_discovered"], row["pages_crawled"], row["images_found"], row["images_stored"]) == (6, 3, 1, 0)
    assert (row["crawl_delay_s"], row["seed_rank"], row["base_url"][:4]) == (9.0, 5, "http")
    assert await world.conn.fetchval("SELECT count(*) FROM domains") == 2
    assert await world.conn.fetchval("SELECT robots_txt FROM origins") == f"of {shop}"
    assert await world.conn.fetchval("SELECT count(*) FROM robots_requests WHERE domain_id = $1", elder) == 2
    assert tuple(await world.conn.fetchrow("SELECT domain_id, visits, changed FROM domain_days")) == (elder, 8, 4)
    assert await broken(world) == []
    assert await find_bad_names(world.conn) == {}


async def test_a_page_known_twice_becomes_one(world: Any, pool: asyncpg.Pool) -> None:
    """The elder row stays, with every visit, and stands where the last of them left it."""
    other = await twin(world)
    url = "http://shop.example/new"
    newer = await add(
        world,
        other,
        url,
        status="fetched",
        title="Newer",
        links_count=1,
        content_hash=bytes(16),
        comparisons=3,
        changes=1,
    )
    await visit(world, other, newer)
    await world.conn.execute(
        "INSERT INTO page_link_lists (domain_id, from_page_id, to_page_ids, anchors)"
        " VALUES ($1, $2, ARRAY[$2::bigint], 'self')",
        other,
        newer,
    )
    await world.conn.execute("UPDATE pages SET author = 'Ann' WHERE id = $1", newer)
    for page_id, headline in ((world.pages[url], "Older"), (newer, "Newer")):
        read = Outcome(a_target(page=page_id), OutcomeKind.SUCCESS, 200, reading=a_detailed_reading(headline=headline))
        await record_details(world.conn, [read])
    (done,) = await merge(pool, is_trial=False, **ALONE)
    assert done.pages_twice == 1
    page = await world.conn.fetchrow("SELECT *, status::text FROM pages WHERE url = $1", url)
    details = await world.conn.fetch("SELECT page_id, headline FROM page_details")
    assert [tuple(row) for row in details] == [(page["id"], "Newer")]
    assert page["author"] == "Ann"
    assert page["id"] == world.pages[url]
    assert (page["status"], page["title"], page["comparisons"]) == ("fetched", "Newer", 3)
    assert await world.conn.fetchval("SELECT count(*) FROM crawl_tasks WHERE page_id = $1", page["id"]) == 1
    assert tuple(
        await world.conn.fetchrow("SELECT from_page_id, to_page_id FROM page_links WHERE anchor = 'self'")
    ) == (
        page["id"],
        page["id"],
    )
    assert await broken(world) == []


async def test_a_page_that_waits_twice_waits_once(world: Any, pool: asyncpg.Pool) -> None:
    other = await twin(world)
    later, home = "http://shop.example/later", "http://shop.example/"
    for url in (later, home):
        page = await add(world, other, url, status="queued")
        await world.insert("crawl_tasks", page_id=page, domain_id=other)
    third = await twin(world, "shop.example:80", days_later=2)
    await add(world, third, later)
    (done,) = await merge(pool, is_trial=False, **ALONE)
    assert (len(done.names), done.pages_twice) == (3, 3)
    assert await world.conn.fetchval("SELECT count(*) FROM crawl_tasks WHERE outcome IS NULL") == 1
    assert await world.conn.fetchval("SELECT status::text FROM pages WHERE url = $1", home) == "fetched"
    assert await broken(world) == []


async def test_history_is_closed_again_afterwards(world: Any, pool: asyncpg.Pool) -> None:
    await twin(world)
    await merge(pool, is_trial=False, **ALONE)
    with pytest.raises(asyncpg.CheckViolationError, match="history does not change"):
        await world.conn.execute("UPDATE crawl_tasks SET bytes = 7 WHERE outcome IS NOT NULL")


async def test_a_merge_wants_to_be_alone(world: Any, pool: asyncpg.Pool) -> None:
    await twin(world)
    await world.conn.execute("UPDATE workers SET status = 'running', heartbeat_at = now()")
    with pytest.raises(UsageError, match="Workers are running"):
        await merge(pool, is_trial=False, **ALONE)
    assert await world.conn.fetchval("SELECT count(*) FROM domains") == 3
