"""Every kind of damage is found by the promise it breaks, and a sound database passes."""

from typing import Any

import pytest

from forager.control.check import PROMISES, STATEMENTS, check

DAMAGE = {
    "url_hashes": "UPDATE pages SET url_hash = '\\x00112233445566778899aabbccddeeff' WHERE url LIKE '%new'",
    "one_page_per_url": """INSERT INTO pages (domain_id, url, url_hash, depth, priority)
        SELECT (SELECT id FROM domains WHERE name = 'idle.example'), url, url_hash, 0, 5 FROM pages WHERE is_seed""",
    "domains_of_pages": "UPDATE domains SET name = 'other.example' WHERE name = 'shop.example'",
    "one_open_task": """INSERT INTO crawl_tasks (page_id, domain_id)
        SELECT page_id, domain_id + 1000 FROM crawl_tasks WHERE outcome IS NULL""",
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
    "history_guard": "ALTER TABLE crawl_tasks DISABLE TRIGGER crawl_tasks_closed_stay",
    "link_ends": "UPDATE page_links SET to_page_id = 4711 WHERE position = 0",
    "links_of_pages": "DELETE FROM page_links WHERE position = 2",
    "nothing_forgotten": "UPDATE domains SET ready_at = NULL WHERE name = 'shop.example'",
    "page_counters": "UPDATE domains SET frontier_size = 17 WHERE name = 'shop.example'",
    "visit_counters": "UPDATE domains SET total_error_count = 0 WHERE name = 'shop.example'",
    "run_counters": "UPDATE run_outcomes SET pages = pages + 1 WHERE outcome = 'success'",
    "domain_states": "UPDATE domains SET status = 'exhausted' WHERE name = 'shop.example'",
    "moves_guard": "DROP TRIGGER domains_move ON domains",
}


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


async def test_every_broken_row_is_counted_and_three_are_shown(world: Any) -> None:
    await world.damage("UPDATE pages SET url_hash = substring(sha256(url_hash) FROM 1 FOR 16)")
    async with world.conn.transaction(isolation="repeatable_read", readonly=True):
        findings = {finding.name: finding for verdict in await check(world.conn) for finding in verdict.findings}
    assert findings["url_hashes"].broken == 5
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
    assert sorted(used) == sorted(STATEMENTS) == sorted(DAMAGE)
