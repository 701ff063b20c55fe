"""Every kind of damage is found by the promise it breaks, and a sound database passes."""

from datetime import timedelta
from typing import Any

import pytest
from tests.conftest import Server, database_url
from tests.integration.world import World

from forager import clock
from forager.explain.check import PROMISES, STATEMENTS, Finding, check

__all__ = ["database_url"]  # a database for each: triggers and constraints are damaged too

DAMAGE = {
    "bodies_on_record": "UPDATE crawl_tasks SET body_ref = 'snapshot:' || repeat('0', 64) WHERE outcome = 'success'",
    "url_hashes": "UPDATE pages SET url_hash = '\\x00112233445566778899aabbccddeeff' WHERE url LIKE '%new'",
    "one_page_per_url": """INSERT INTO pages (domain_id, url, url_hash, depth, priority)
        SELECT (SELECT id FROM domains WHERE name = 'idle.example'), url, url_hash, 0, 5 FROM pages WHERE is_seed""",
    "domains_of_pages": "UPDATE domains SET name = 'other.example' WHERE name = 'shop.example'",
    "duplicates": "UPDATE pages SET duplicate_of = id WHERE url LIKE '%gone'",
    "one_open_task": """INSERT INTO crawl_tasks (page_id, domain_id, is_image)
        SELECT page_id, domain_id + 1000, is_image FROM crawl_tasks WHERE outcome IS NULL""",
    "tasks_of_pages": "DELETE FROM pages WHERE url LIKE '%gone'",
    "queued_pages": "UPDATE pages SET status = 'queued' WHERE url LIKE '%new'",
    "visited_pages": "UPDATE pages SET status = 'fetched' WHERE url LIKE '%new'",
    "leases_of_workers": """UPDATE domains SET claimed_by = 4711, claim_expires_at = now() + interval '1 hour'
        WHERE name = 'shop.example'""",
    "locks_under_leases": """UPDATE domains
        SET claimed_by = (SELECT id FROM workers), claim_expires_at = now() + interval '1 hour' WHERE name ~ 'shop';
        UPDATE crawl_tasks SET locked_by = 4711, locked_at = now(), status = 'crawling' WHERE outcome IS NULL""",
    "closed_tasks": """UPDATE crawl_tasks SET locked_by = 1, locked_at = now()
        WHERE id = (SELECT min(id) FROM crawl_tasks WHERE outcome IS NOT NULL)""",
    "evidence": "UPDATE crawl_tasks SET status_code = 404 WHERE outcome = 'success'",
    "chains_of_tries": "UPDATE crawl_tasks SET parent_task_id = id WHERE outcome IS NULL",
    "archived_rows": "INSERT INTO archived_rows SELECT id, NULL, 'cancelled', true, 1, 0, 0 FROM domains LIMIT 1",
    "history_guard": "ALTER TABLE crawl_tasks DISABLE TRIGGER crawl_tasks_closed_stay",
    "link_ends": "UPDATE page_link_lists SET to_page_ids[1] = 4711",
    "links_of_pages": "UPDATE page_link_lists SET to_page_ids = to_page_ids[1:2] WHERE cardinality(to_page_ids) > 2",
    "trapped_pages": "UPDATE pages SET status = 'blocked', trap_id = 4711 WHERE url LIKE '%new'",
    "nothing_forgotten": "UPDATE domains SET ready_at = NULL WHERE name = 'shop.example'",
    "urgent_domains": "UPDATE domains SET urgent_at = now() WHERE name = 'shop.example'",
    "page_counters": "UPDATE domains SET frontier_size = 17 WHERE name = 'shop.example'",
    "image_counters": "UPDATE domains SET images_found = 3 WHERE name = 'shop.example'",
    "sightings": "INSERT INTO page_images"
    " (domain_id, page_id, image_id, position, discovery_type, image_type, alt_text)"
    " SELECT domain_id, id, 0, 0, 'img', 'gallery', '' FROM pages LIMIT 1",
    "images_of_domains": "INSERT INTO images (domain_id, url, url_hash) SELECT id, 'http://x.example/',"
    " '\\x00112233445566778899aabbccddeeff' FROM domains LIMIT 1",
    "visit_counters": "UPDATE domains SET total_error_count = 0 WHERE name = 'shop.example'",
    "run_counters": "UPDATE run_outcomes SET pages = pages + 1 WHERE outcome = 'success'",
    "run_limits": "UPDATE runs SET max_pages = 100, pages_claimed = 2",
    "due_times": "UPDATE domains SET due_at = ready_at + interval '1 hour', is_due = false WHERE name = 'shop.example'",
    "lease_states": """UPDATE domains SET status = 'pending', claimed_by = (SELECT id FROM workers),
        claim_expires_at = now() + interval '1 hour' WHERE name = 'shop.example'""",
    "pace": "UPDATE crawl_tasks SET requested_at = now() - interval '1 hour' + id * interval '10 ms', pace_ms = 1000",
    "copied_settings": "UPDATE domains SET crawl_delay_s = 7 WHERE name = 'shop.example'",
    "exhausted_domains": "UPDATE domains SET status = 'exhausted' WHERE name = 'shop.example'",
    "blocked_domains": """ALTER TABLE domains DROP CONSTRAINT domains_check1;
        UPDATE domains SET status = 'blocked' WHERE name = 'shop.example'""",
    "last_moves": "UPDATE domains SET is_active = false WHERE name = 'moved.example'",
    "chained_moves": "UPDATE domain_history SET from_status = 'unreachable' WHERE to_status = 'pending'",
    "allowed_moves": """UPDATE domain_history SET from_status = 'blocked', to_status = 'exhausted'
        WHERE to_status = 'pending'""",
    "table_of_moves": "INSERT INTO domain_transitions VALUES ('exhausted', 'blocked')",
    "moves_guard": "DROP TRIGGER domains_move ON domains",
    "ordered_moves": "INSERT INTO task_orders (task_id, verb, from_status, to_status, ordered_by)"
    " VALUES (1, 'restart', 'completed', 'pending', 'x')",
    "task_moves_table": "INSERT INTO task_transitions VALUES ('completed', 'pending')",
    "task_moves_guard": "ALTER TABLE crawl_tasks DISABLE TRIGGER crawl_tasks_move",
    "waiting_tasks": "UPDATE crawl_tasks SET status = 'paused', is_waiting = true, depends_on = id"
    " WHERE outcome IS NULL",
    "told_tasks": "UPDATE crawl_tasks SET webhook_url = 'http://h.example/' WHERE outcome = 'success'",
}


@pytest.fixture
async def world(world: World, server: Server) -> World:
    """With a domain that has a past, and an exhausted one whose page is visited again."""
    moved = await world.add_domain("moved.example")
    for move in (
        "status = 'active'",
        "status = 'blocked', block_reason_code = 'forbidden'",
        "status = 'pending'",
        "is_active = false",
        "is_active = true",
    ):
        await world.conn.execute(f"UPDATE domains SET {move} WHERE id = $1", moved)
    await world.add_domain(
        "done.example", status="active", pages_discovered=1, pages_crawled=1, ready_at=clock.now() + timedelta(days=1)
    )
    await world.add_page("http://done.example/", status="fetched")
    await world.close("http://done.example/", "success", 200)
    await world.add_task("http://done.example/", scheduled_for=clock.now() + timedelta(days=1))
    await world.conn.execute("UPDATE domains SET status = 'exhausted' WHERE name = 'done.example'")
    await world.conn.execute("UPDATE run_outcomes SET pages = 3 WHERE outcome = 'success'")
    return world


async def broken_checks(conn: Any) -> dict[str, int]:
    async with conn.transaction(isolation="repeatable_read", readonly=True):
        verdicts = await check(conn)
    return {finding.name: finding.broken for verdict in verdicts for finding in verdict.findings if finding.broken}


@pytest.mark.both_servers
async def test_a_sound_database_passes(world: Any) -> None:
    assert await broken_checks(world.conn) == {}


@pytest.mark.both_servers
async def test_an_empty_database_passes(conn: Any) -> None:
    assert await broken_checks(conn) == {}


@pytest.mark.parametrize("name", sorted(DAMAGE))
async def test_damage_is_found(world: Any, name: str) -> None:
    await world.damage(DAMAGE[name])
    assert name in await broken_checks(world.conn)


@pytest.mark.parametrize("status", ["discovered", "failed", "blocked", "gone"])
async def test_only_queued_and_fetched_pages_have_an_open_task(world: Any, status: str) -> None:
    await world.damage(f"UPDATE pages SET status = '{status}' WHERE url = 'http://done.example/'")
    assert "queued_pages" in await broken_checks(world.conn)


@pytest.mark.parametrize("trigger", ["domains_move", "domains_moved", "domains_keep"])
async def test_every_guard_of_domains_is_missed(world: Any, trigger: str) -> None:
    await world.damage(f"ALTER TABLE domains DISABLE TRIGGER {trigger}")
    assert await broken_checks(world.conn) == {"moves_guard": 1}


async def test_a_visit_that_was_called_off_is_no_damage(world: Any) -> None:
    """The page may stand as before, or wait for a visit."""
    await world.damage(
        "UPDATE crawl_tasks SET outcome = 'cancelled', status = 'cancelled', completed_at = now() WHERE outcome IS NULL"
    )
    await world.damage("UPDATE pages SET status = 'discovered' WHERE status = 'queued'")
    await world.damage("INSERT INTO run_outcomes SELECT id, 'cancelled', '', 2, 0, 0 FROM runs")
    assert await broken_checks(world.conn) == {}


async def findings_of(conn: Any) -> dict[str, Finding]:
    async with conn.transaction(isolation="repeatable_read", readonly=True):
        return {finding.name: finding for verdict in await check(conn) for finding in verdict.findings}


async def test_every_finding_says_how_much_was_looked_at(world: Any) -> None:
    await world.damage("UPDATE crawl_tasks SET requested_at = completed_at, pace_ms = 1000 WHERE id = 1")
    looked = {name: (finding.looked_at, finding.things) for name, finding in (await findings_of(world.conn)).items()}
    assert looked["url_hashes"] == (6, "pages")
    assert looked["one_open_task"] == (2, "open_tasks")
    assert looked["evidence"] == (4, "closed_tasks")
    assert looked["link_ends"] == (4, "links")
    assert looked["page_counters"] == (4, "domains")
    assert looked["exhausted_domains"] == (1, "exhausted_domains")
    assert looked["last_moves"] == (2, "moved_domains")
    assert looked["chained_moves"] == (6, "moves")
    assert looked["run_limits"] == (0, "limited_runs")
    assert looked["pace"] == (1, "requests")
    assert looked["table_of_moves"] == (12, "allowed_moves")
    assert looked["moves_guard"] == (3, "triggers")


def test_all_seven_promises_are_asked() -> None:
    assert [promise.number for promise in PROMISES] == [1, 2, 3, 4, 5, 6, 7]


async def test_every_broken_row_is_counted_and_three_are_shown(world: Any) -> None:
    await world.damage("UPDATE pages SET url_hash = substring(sha256(url_hash) FROM 1 FOR 16)")
    findings = await findings_of(world.conn)
    assert findings["url_hashes"].broken == 6
    assert len(findings["url_hashes"].examples) == 3
    assert "shop.example" in findings["url_hashes"].examples[0]


async def test_work_in_flight_is_no_damage(world: Any) -> None:
    """A leased domain with locked tasks, and one whose holder died with its locks."""
    await world.conn.execute(
        "UPDATE domains SET claimed_by = $1, claim_expires_at = now() + interval '1 hour' WHERE name = 'shop.example'",
        world.worker,
    )
    lock = "UPDATE crawl_tasks SET locked_by = $1, locked_at = now(), status = 'crawling' WHERE outcome IS NULL"
    await world.conn.execute(lock, world.worker)
    assert await broken_checks(world.conn) == {}
    await world.conn.execute("UPDATE domains SET claimed_by = NULL, claim_expires_at = NULL")
    assert await broken_checks(world.conn) == {}


def test_every_statement_belongs_to_one_promise_and_has_its_damage() -> None:
    used = [name for promise in PROMISES for name in promise.statements]
    assert sorted(used) == sorted([*STATEMENTS, "pace"]) == sorted(DAMAGE)
