"""A purge deletes for good, is on record, and leaves every promise kept; whatever stops it, the same order goes on."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from tests.builders import a_detailed_reading, a_target
from tests.integration.retention.conftest import DAY, PAGES, RETENTION, Past, files, go_on, stop_after
from tests.integration.retention.test_archive import this_month
from tests.integration.tasks.test_calls import until
from tests.integration.world import build

from forager import clock
from forager.accounts.identity import operator
from forager.domains import denied
from forager.errors import ConflictError, NotFoundError, UsageError
from forager.frontier.details import record_details
from forager.frontier.models import Outcome, OutcomeKind
from forager.retention import archive as cold
from forager.retention import purge
from forager.retention.purge import PurgeResult
from forager.retention.purge_record import PurgeOrder
from forager.runs.models import RunSpec
from forager.runs.start import start_run
from forager.seeds.found import Seed
from forager.seeds.load import add_seed_list

SHOP = "shop.example"
ORDER = PurgeOrder(operator("cli:ann"), "they asked us to", is_trial=False, dead_after_s=60.0)
TRIAL = PurgeOrder(operator("cli:ann"), "", is_trial=True, dead_after_s=60.0)


@pytest.fixture
async def web(conn: Any) -> AsyncIterator[Past]:
    """Two sites that link to each other; one image that both show, one that the shop shows alone."""
    web = Past(conn)
    await build(web)
    await conn.execute("UPDATE workers SET status = 'stopped'")
    await web.add_domain("fan.example", status="active", pages_discovered=2, pages_crawled=2)
    for url in ("http://fan.example/", "http://fan.example/only"):
        await web.add_page(url, status="fetched")
        await web.close(url, "success", 200)
    await web.link("http://fan.example/", "http://shop.example/", "http://fan.example/only", "http://shop.example/new")
    await web.link("http://fan.example/only", "http://shop.example/")
    await conn.execute("UPDATE page_link_lists SET rels = 'a,canonical,a' WHERE cardinality(to_page_ids) = 3")
    await conn.execute(
        "UPDATE pages p SET links_count = cardinality(l.to_page_ids) FROM page_link_lists l WHERE l.from_page_id = p.id"
    )
    await conn.execute("UPDATE run_outcomes SET pages = 4 WHERE outcome = 'success'")
    await add_images(web)
    assert await web.broken() == {}
    yield web
    await go_on(web)


async def add_images(web: Past) -> None:
    for number, shown_by in enumerate(
        (("http://shop.example/", "http://fan.example/"), ("http://shop.example/about",))
    ):
        image = await web.conn.fetchval(
            "INSERT INTO images (url, url_hash, domain_id, status, content_hash, body_ref, stored_at)"
            " VALUES ($1, substring(sha256(convert_to($1, 'UTF8')) FROM 1 FOR 16), $2, 'stored', $3, $4, now())"
            " RETURNING id",
            f"http://shop.example/{number}.png",
            web.domains[SHOP],
            bytes([number]) * 32,
            f"images/0{number}/x.png",
        )
        for url in shown_by:
            await web.conn.execute(
                "INSERT INTO page_images (domain_id, page_id, image_id, position, discovery_type, image_type, alt_text)"
                " SELECT domain_id, id, $2, 0, 'img', 'gallery', '' FROM pages WHERE url = $1",
                url,
                image,
            )
    await web.conn.execute("UPDATE domains SET images_found = 2, images_stored = 2 WHERE name = $1", SHOP)
    await web.conn.execute("UPDATE domains SET images_found = 1 WHERE name = 'fan.example'")


async def urls(web: Past) -> set[str]:
    return {row["url"] for row in await web.conn.fetch("SELECT url FROM pages")}


async def links_of(web: Past, url: str) -> list[tuple[str, str, str]]:
    rows = await web.conn.fetch(
        "SELECT t.url, l.rel, l.anchor FROM page_links l JOIN pages f ON f.id = l.from_page_id"
        " JOIN pages t ON t.id = l.to_page_id WHERE f.url = $1 ORDER BY l.position",
        url,
    )
    return [tuple(row) for row in rows]


@pytest.mark.both_servers
async def test_a_purged_domain_is_gone_with_everything(web: Past) -> None:
    pages = [row["id"] for row in await web.conn.fetch("SELECT id FROM pages WHERE url LIKE 'http://shop.example/%'")]
    await record_details(
        web.conn,
        [Outcome(a_target(page=page), OutcomeKind.SUCCESS, 200, reading=a_detailed_reading()) for page in pages],
    )
    purged = await purge.purge_domain(web.conn, SHOP, ORDER)
    assert (purged.counts["pages"], purged.counts["tasks"], purged.counts["images"]) == (5, 4, 1)
    assert purged.keys == ["images/01/x.png"]
    assert await urls(web) == {"http://fan.example/", "http://fan.example/only"}
    assert await links_of(web, "http://fan.example/") == [
        ("http://fan.example/only", "canonical", "to http://fan.example/only")
    ]
    assert await web.conn.fetchval("SELECT count(*) FROM domains WHERE name = $1", SHOP) == 0
    assert await web.conn.fetchval("SELECT count(*) FROM page_details") == 0
    heir = await web.conn.fetchrow("SELECT images_found, images_stored FROM domains WHERE name = 'fan.example'")
    assert tuple(heir) == (1, 1)
    assert await web.broken() == {}


async def test_it_is_on_record(web: Past) -> None:
    await purge.purge_domain(web.conn, f"https://www.{SHOP}/x", ORDER)
    (row,) = await purge.list_purges(web.conn, limit=10)
    assert (row["what"], row["subject"], row["purged_by"], row["reason"]) == ("domain", SHOP, "cli:ann", ORDER.reason)
    assert (row["counts"]["pages"], row["tasks"]) == (5, 3)
    assert abs(row["purged_at"] - clock.now()) < timedelta(minutes=1)


async def test_a_trial_counts_and_changes_nothing(web: Past) -> None:
    before = await urls(web)
    trial = await purge.purge_domain(web.conn, SHOP, TRIAL)
    assert (trial.counts["pages"], trial.counts["tasks"], trial.counts["links"]) == (5, 4, 4)
    assert (await urls(web), await purge.list_purges(web.conn, limit=1)) == (before, [])
    pages = await purge.purge_pages(web.conn, SHOP, "/about", TRIAL)
    assert pages.counts["pages"] == 1


async def test_pages_go_by_a_part_of_their_url(web: Past) -> None:
    purged = await purge.purge_pages(web.conn, SHOP, "/about", ORDER)
    assert (purged.counts["pages"], purged.counts["linking_pages"]) == (1, 1)
    assert "http://shop.example/about" not in await urls(web)
    row = await web.conn.fetchrow(
        "SELECT pages_discovered, frontier_size, pages_crawled, images_found, images_stored"
        " FROM domains WHERE name = $1",
        SHOP,
    )
    assert tuple(row) == (4, 2, 2, 1, 1)
    assert await web.broken() == {}


async def test_a_part_of_a_url_is_no_pattern(web: Past) -> None:
    before = await urls(web)
    for text in ("%", "_", "(", "\\", "'; DROP TABLE pages; --", "nothing like it"):
        assert (await purge.purge_pages(web.conn, SHOP, text, ORDER)).counts["pages"] == 0
    assert await urls(web) == before


async def test_a_purged_url_is_new_again_when_it_is_found(web: Past) -> None:
    old = web.pages["http://shop.example/about"]
    await purge.purge_domain(web.conn, SHOP, ORDER)
    async with web.conn.transaction():
        await start_run(web.conn, spec=RunSpec(("http://shop.example/about",)), by="test")
    row = await web.conn.fetchrow("SELECT id, status::text FROM pages WHERE url = 'http://shop.example/about'")
    assert (row["status"], row["id"] != old) == ("discovered", True)
    assert await web.broken() == {}


@pytest.mark.parametrize("kind", ["snapshot", "text"])
async def test_bodies_that_nobody_else_refers_to_are_given_up(web: Past, kind: str) -> None:
    mine, shared = "ab" * 32, "cd" * 32
    for name in (mine, shared):
        await web.conn.execute(
            "INSERT INTO bodies (name, kind, size_bytes, stored_bytes) VALUES ($1, $2, 1, 1)", name, kind
        )
    about, home, fan = (f"http://{place}" for place in ("shop.example/about", "shop.example/", "fan.example/"))
    for url, name in ((about, mine), (home, shared), (fan, shared)):
        await web.damage(
            f"UPDATE crawl_tasks SET body_ref = '{kind}:{name}'"
            f" WHERE page_id = {web.pages[url]} AND outcome IS NOT NULL"
        )
    purged = await purge.purge_domain(web.conn, SHOP, ORDER)
    dropped = await web.conn.fetch("SELECT name FROM bodies WHERE dropped_at IS NOT NULL")
    assert (purged.counts["bodies"], [row["name"] for row in dropped]) == (1, [mine])
    assert await web.broken() == {}


@pytest.mark.parametrize(
    ("statement", "times"),
    [
        ("DELETE ON pages", 0),
        ("DELETE ON pages", 2),
        ("DELETE ON crawl_tasks", 0),
        ("DELETE ON crawl_tasks", 2),
        ("DELETE ON domains", 0),
    ],
)
async def test_stopped_anywhere_the_promises_hold_and_the_same_order_goes_on(
    web: Past, statement: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purge, "PAGES_AT_ONCE", 2)
    await stop_after(web, statement, times)
    with pytest.raises(asyncpg.RaiseError):
        await purge.purge_domain(web.conn, SHOP, ORDER)
    await web.conn.execute("SELECT pg_advisory_unlock_all()")
    assert await web.broken() == {}
    await go_on(web)
    await purge.purge_domain(web.conn, SHOP, ORDER)
    assert await urls(web) == {"http://fan.example/", "http://fan.example/only"}
    assert await web.broken() == {}


async def test_who_waits_for_a_purged_task_waits_for_a_person(web: Past) -> None:
    later = await web.conn.fetchval("SELECT id FROM crawl_tasks WHERE outcome IS NULL")
    waiting = await web.add_task("http://fan.example/only", status="paused", is_waiting=True, depends_on=later)
    await web.conn.execute("UPDATE crawl_tasks SET run_id = NULL WHERE id = $1", waiting)
    assert await web.broken() == {}
    purged = await purge.purge_domain(web.conn, SHOP, ORDER)
    row = await web.conn.fetchrow("SELECT status::text, is_waiting, depends_on FROM crawl_tasks WHERE id = $1", waiting)
    assert (purged.counts["dependent_tasks"], tuple(row)) == (1, ("paused", False, None))
    assert await web.broken() == {}


async def test_calls_about_purged_tasks_go_with_them(web: Past) -> None:
    task = await web.conn.fetchval("SELECT min(id) FROM crawl_tasks WHERE domain_id = $1", web.domains[SHOP])
    await web.damage(f"UPDATE crawl_tasks SET webhook_url = 'http://hook.example/' WHERE id = {task}")
    await web.conn.execute("INSERT INTO webhook_calls (task_id, url) VALUES ($1, 'http://hook.example/')", task)
    assert await web.broken() == {}
    await purge.purge_domain(web.conn, SHOP, ORDER)
    assert await web.conn.fetchval("SELECT count(*) FROM webhook_calls") == 0
    assert await web.broken() == {}


async def test_the_lease_of_a_lost_worker_is_ended_and_its_late_results_are_refused(web: Past) -> None:
    version = await web.conn.fetchval(
        "UPDATE domains SET claimed_by = (SELECT min(id) FROM workers), claim_expires_at = now() + interval '1 hour'"
        " WHERE name = $1 RETURNING version",
        SHOP,
    )
    await purge.purge_pages(web.conn, SHOP, "/about", ORDER)
    row = await web.conn.fetchrow("SELECT claimed_by, version FROM domains WHERE name = $1", SHOP)
    assert (row["claimed_by"], row["version"] > version) == (None, True)
    assert await web.broken() == {}


async def test_a_worker_that_does_not_let_go_loses_its_lease(web: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forager.retention.claim_block.PATIENCE_S", 0.2)
    await web.conn.execute(
        "UPDATE workers SET status = 'running', heartbeat_at = now();"
        " UPDATE domains SET claimed_by = (SELECT min(id) FROM workers), claim_expires_at = now() + interval '1 hour'"
        " WHERE name = 'shop.example'"
    )
    await purge.purge_domain(web.conn, SHOP, ORDER)
    assert SHOP not in {row["name"] for row in await web.conn.fetch("SELECT name FROM domains")}
    assert await web.broken() == {}


async def test_a_purge_leaves_the_time_of_the_next_visit_as_it_was(web: Past) -> None:
    later = await web.conn.fetchval("SELECT now() + interval '1 day'")
    for before in (None, later):
        await web.conn.execute("UPDATE domains SET next_crawl_after = $2 WHERE name = $1", SHOP, before)
        await purge.purge_pages(web.conn, SHOP, "/nothing", ORDER)
        assert await web.conn.fetchval("SELECT next_crawl_after FROM domains WHERE name = $1", SHOP) == before


async def test_what_is_unknown_or_empty_is_refused(web: Past) -> None:
    with pytest.raises(NotFoundError, match="There is no domain"):
        await purge.purge_domain(web.conn, "none.example", ORDER)
    with pytest.raises(UsageError, match="a part of their URLs"):
        await purge.purge_pages(web.conn, SHOP, "", ORDER)


# History ------------------------------------------------------------------------------------------------------------


async def test_old_history_goes_and_the_last_word_on_a_page_stays(world: Past) -> None:
    before = clock.now() - 50 * DAY
    trial = await purge.purge_tasks(world.conn, before, None, TRIAL)
    purged = await purge.purge_tasks(world.conn, before, None, ORDER)
    assert trial.counts["tasks"] == purged.counts["tasks"] == 3 * PAGES
    assert len(await world.tasks()) == 2 * PAGES
    again: PurgeResult = await purge.purge_tasks(world.conn, clock.now() - 2 * DAY, "old.example", ORDER)
    assert again.counts["tasks"] == PAGES
    assert await world.broken() == {}


async def test_history_of_yesterday_stays(world: Past) -> None:
    with pytest.raises(UsageError, match="today and yesterday"):
        await purge.purge_tasks(world.conn, clock.now(), None, ORDER)


async def test_cold_files_of_a_month_go_and_counters_stay_right(world: Past, folder: Path) -> None:
    await cold.move(world.conn, folder, RETENTION, by="test", pause_s=0)
    month = this_month(100 * DAY)
    await cold.restore(world.conn, folder, month)
    assert (await purge.purge_cold(world.conn, folder, month, TRIAL)).counts == {"files": 1, "visits": PAGES}
    assert files(folder, f"*/{month:%Y-%m}/*.csv.gz") != []
    await purge.purge_cold(world.conn, folder, month, ORDER)
    assert files(folder, f"*/{month:%Y-%m}/*") == []
    assert [each.trouble for each in await cold.verify(world.conn, folder) if each.trouble] == []
    with pytest.raises(NotFoundError):
        await cold.restore(world.conn, folder, month)
    assert await world.broken() == {}


# The audit log ------------------------------------------------------------------------------------------------------


async def noted(conn: Any, action: str) -> list[tuple[str, str, dict[str, Any]]]:
    rows = await conn.fetch("SELECT who, outcome, details::text FROM audit_log WHERE action = $1 ORDER BY id", action)
    return [(row["who"], row["outcome"], json.loads(row["details"])) for row in rows]


async def test_the_audit_log_has_its_beginning_and_its_end(web: Past) -> None:
    await purge.purge_domain(web.conn, SHOP, TRIAL)
    assert await noted(web.conn, "domain.purge") == []
    purged = await purge.purge_domain(web.conn, SHOP, ORDER)
    begun, done = await noted(web.conn, "domain.purge")
    (row,) = await purge.list_purges(web.conn, limit=1)
    assert begun == ("cli:ann", "done", {"step": "begun", "purge": row["id"], "reason": ORDER.reason})
    assert (done[2]["step"], done[2]["counts"]) == ("done", dict(purged.counts))
    assert row["ended_at"] is not None


async def test_a_purge_that_fails_says_so_and_how_far_it_came(web: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purge, "PAGES_AT_ONCE", 2)
    await stop_after(web, "DELETE ON pages", 2)
    with pytest.raises(asyncpg.RaiseError):
        await purge.purge_domain(web.conn, SHOP, ORDER)
    (_, _, begun), (_, outcome, stopped) = await noted(web.conn, "domain.purge")
    (row,) = await purge.list_purges(web.conn, limit=1)
    assert (begun["step"], outcome, stopped["error"]) == ("begun", "failed", "killed")
    assert (stopped["counts"], row["ended_at"]) == (row["counts"], None)
    assert row["counts"]["pages"] == 2


async def test_a_killed_purge_has_begun_and_not_ended(web: Past, database_url: str, tmp_path: Path) -> None:
    """A real process, killed while the database lets it wait for a row that somebody else holds."""
    environment = os.environ | {"FORAGER_DATABASE_URL": database_url, "FORAGER_HOME": str(tmp_path)}
    other = await asyncpg.connect(database_url)
    try:
        async with other.transaction():
            await other.execute("SELECT FROM pages WHERE url LIKE '%shop.example%' FOR UPDATE")
            command = (sys.executable, "-m", "forager", "purge", "domain", SHOP, "--yes")
            child = await asyncio.create_subprocess_exec(*command, env=environment)
            try:
                await until_it_waits(web.conn)
            finally:
                child.kill()
                await child.wait()
        await until_it_is_gone(web.conn)
    finally:
        await other.close()
    (only,) = await noted(web.conn, "domain.purge")
    assert only[2]["step"] == "begun"
    (row,) = await purge.list_purges(web.conn, limit=1)
    assert (row["ended_at"], row["counts"]) == (None, {})
    assert await web.broken() == {}
    await purge.purge_domain(web.conn, SHOP, ORDER)
    assert [told["step"] for _, _, told in await noted(web.conn, "domain.purge")] == ["begun", "begun", "done"]


WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'forager purge' AND datname = current_database()"
)


async def until_it_waits(conn: Any) -> None:
    await until(lambda: conn.fetchval(f"SELECT ({WAITING} AND wait_event_type = 'Lock') > 0"), longest_s=60)


async def until_it_is_gone(conn: Any) -> None:
    """The server notices a dead client when it next speaks to it."""
    await until(lambda: conn.fetchval(f"SELECT ({WAITING}) = 0"), longest_s=60)


async def test_a_domain_that_is_purged_forever_stays_out(web: Past) -> None:
    await purge.purge_domain(web.conn, SHOP, ORDER, is_forever=True)
    (entry,) = await denied.list_denied(web.conn, limit=10)
    assert (entry.name, entry.denied_by, entry.reason) == (SHOP, "cli:ann", ORDER.reason)
    with pytest.raises(ConflictError, match=f"forager domains allow {SHOP}"):
        async with web.conn.transaction():
            await start_run(web.conn, spec=RunSpec((f"http://{SHOP}/about",)), by="test")
    async with web.conn.transaction():
        listed = await add_seed_list(web.conn, [Seed(f"http://{SHOP}/a"), Seed("http://new.example/")], source="list")
    assert (listed.domains, listed.pages, listed.denied) == (1, 1, 1)
    assert await web.conn.fetchval("SELECT count(*) FROM domains WHERE name = $1", SHOP) == 0
    async with web.conn.transaction():
        assert await denied.allow(web.conn, f"https://www.{SHOP}/") == SHOP
        await start_run(web.conn, spec=RunSpec((f"http://{SHOP}/about",)), by="test")
    assert await web.broken() == {}


async def test_a_trial_of_a_purge_forever_denies_nothing(web: Past) -> None:
    await purge.purge_domain(web.conn, SHOP, TRIAL, is_forever=True)
    assert await denied.list_denied(web.conn, limit=10) == []


async def test_only_an_unknown_domain_is_denied_without_a_purge(web: Past) -> None:
    with pytest.raises(ConflictError, match=f"forager purge domain {SHOP} --forever"):
        await denied.deny(web.conn, SHOP, by="test", reason="asked")
    with pytest.raises(UsageError, match="Say why"):
        await denied.deny(web.conn, "other.example", by="test", reason=" ")
    entry = await denied.deny(web.conn, "https://www.Other.example/x", by="test", reason="asked")
    assert entry.name == "other.example"
    with pytest.raises(NotFoundError):
        await denied.allow(web.conn, "third.example")


LOCKED = "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $1"


async def test_a_page_whose_link_is_committed_after_its_batch_goes_too(web: Past, database_url: str) -> None:
    """The late page has a lower id than the last one that the purge saw, and becomes visible while the purge waits."""
    other = await asyncpg.connect(database_url)
    try:
        async with other.transaction():
            linking = Past(other)
            linking.domains = web.domains
            await linking.add_page("http://shop.example/late")
            await web.add_page("http://shop.example/last")
            await other.execute("SELECT FROM pages WHERE url = 'http://shop.example/last' FOR UPDATE")
            purging = asyncio.create_task(purge.purge_domain(web.conn, SHOP, ORDER))
            await until(lambda: other.fetchval(LOCKED, web.conn.get_server_pid()), longest_s=60)
        await purging
    finally:
        await other.close()
    assert not [url for url in await urls(web) if SHOP in url]
    assert await web.broken() == {}
