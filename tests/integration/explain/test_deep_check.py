"""A deep check finds every kind of damage and names its repair, which puts it right or says that a backup has to."""

import asyncio
import gzip
import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.builders import a_detailed_reading, a_target
from tests.conftest import database_url
from tests.integration.explain.test_check import DAMAGE
from tests.integration.explain.test_check import world as checked_world
from tests.integration.world import SEED, World

from forager.db import catalog
from forager.explain.deep_check import LOOKED_AT, SEALED, Deep, DeepOrder, check_deep
from forager.explain.repair import RepairOrder, StepResult, plan, run_repair
from forager.explain.repair_table import REPAIRS, Kind
from forager.fetch.models import Fetched
from forager.frontier.details import record_details
from forager.frontier.models import Outcome, OutcomeKind
from forager.parsing.keywords import CONFIGS
from forager.products.models import Product
from forager.products.store import ProductVisit, store
from forager.records.models import FoundRecord
from forager.records.store import RecordVisit
from forager.records.store import store as store_records
from forager.search import index
from forager.stats import seals
from forager.storage import snapshot
from forager.storage.local import LocalLocation

__all__ = ["database_url"]
world = checked_world

JOBS = ("alerts", "seal")
KETTLE = Product(name="Kettle", price=Decimal("19.99"), currency="EUR", availability="in_stock", content_hash=bytes(16))
BODY = Fetched("", 200, {"content-type": "text/html"}, b"<p>kettle</p>", 13, 0)

DEEP = {
    "lease_versions": "UPDATE domains SET version = 0 WHERE name = 'shop.example'",
    "page_depths": "UPDATE pages SET depth = 9 WHERE url LIKE '%about'",
    "traps_on_record": "DELETE FROM domain_traps",
    "run_bytes": "UPDATE run_outcomes SET bytes = bytes + 7 WHERE outcome = 'success'",
    "run_links": "UPDATE runs SET links_seen = links_seen + 7",
    "run_pages": "UPDATE domains SET run_pages = 99 WHERE name = 'shop.example'",
    "depths_reached": "UPDATE domains SET depth_reached = 0 WHERE name = 'shop.example'",
    "requests_on_record": "UPDATE crawl_tasks SET requested_at = NULL WHERE outcome IS NOT NULL",
    "robots_on_record": "DELETE FROM robots_requests",
    "jobs_on_record": "DELETE FROM jobs",
    "current_prices": "UPDATE products SET price = 1",
    "chained_prices": "DELETE FROM product_prices WHERE id = (SELECT min(id) FROM product_prices)",
    "products_of_pages": "UPDATE products SET page_id = (SELECT id FROM pages WHERE url LIKE '%gone')",
    "records_of_pages": """UPDATE records SET fields = '{"price": "1"}'""",
    "indexed_pages": "DELETE FROM indexed_pages",
    "indexed_products": "DELETE FROM indexed_products",
    "indexed_signals": "UPDATE pages SET title = 'Another' WHERE url LIKE '%about'",
    "details_of_pages": "UPDATE page_details SET structured_data = substring(structured_data FROM 2)",
    "sealed_tasks": "UPDATE crawl_tasks SET bytes = bytes + 1 WHERE id = (SELECT min(id) FROM crawl_tasks)",
    "sealed_moves": "DELETE FROM domain_history",
    "sealed_audit": "DELETE FROM audit_log",
    "sealed_robots": "UPDATE robots_requests SET pace_ms = 0",
    "sealed_prices": "UPDATE product_prices SET price = 1 WHERE is_first",
    "seals": "UPDATE seals SET row_count = row_count + 1, left_rows = left_rows + 1 WHERE what = 'crawl_tasks'",
}
OTHERS = {
    "a headline": ("details_of_pages", "UPDATE page_details SET headline = 'Another'"),
    "a content hash": ("indexed_signals", "UPDATE pages SET content_hash = NULL WHERE url LIKE '%about'"),
    "a status code": ("sealed_tasks", "UPDATE crawl_tasks SET status_code = 201 WHERE outcome = 'success'"),
    "a moment": (
        "sealed_tasks",
        "UPDATE crawl_tasks SET completed_at = completed_at - interval '1 s' WHERE outcome = 'success'",
    ),
    "a whole history": ("sealed_tasks", "DELETE FROM crawl_tasks WHERE outcome IS NOT NULL"),
    "a forged visit": (
        "sealed_tasks",
        """INSERT INTO crawl_tasks (page_id, domain_id, status, outcome, status_code, completed_at, is_image)
        SELECT page_id, domain_id, status, outcome, status_code, completed_at, is_image
        FROM crawl_tasks WHERE outcome = 'success' LIMIT 1""",
    ),
    "a price row": ("sealed_prices", "DELETE FROM product_prices WHERE NOT is_first"),
    "a product": ("sealed_prices", "DELETE FROM product_prices; DELETE FROM products"),
    "a seal": ("seals", "DELETE FROM seals WHERE id = (SELECT min(id) FROM seals WHERE what = 'crawl_tasks')"),
}
"""Further ways to break what the checks of these names are about."""
SCHEMA = {
    "a unique constraint": "ALTER TABLE pages DROP CONSTRAINT pages_domain_id_url_hash_key",
    "a unique index": "DROP INDEX crawl_tasks_open",
    "a plain index": "DROP INDEX pages_frontier",
    "a check": "ALTER TABLE domains DROP CONSTRAINT domains_check1",
    "a foreign key": "ALTER TABLE crawl_tasks DROP CONSTRAINT crawl_tasks_page_id_fkey",
    "a trigger": "DROP TRIGGER audit_log_stays ON audit_log",
    "a trigger that is off": "ALTER TABLE crawl_tasks DISABLE TRIGGER crawl_tasks_unsealed",
    "a function": """CREATE OR REPLACE FUNCTION reject_history_change() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN RETURN NEW; END'""",
}


@pytest.fixture
async def sound(world: World) -> World:
    """With everything a deep check looks at: evidence, products, an index, a timetable, seals."""
    conn = world.conn
    await world.damage(
        "UPDATE crawl_tasks SET requested_at = completed_at - interval '1 s', pace_ms = 0 WHERE outcome IS NOT NULL;"
        "UPDATE pages SET depth = 1 WHERE url LIKE '%new';"
        "UPDATE domains SET version = 2, last_crawled_at = now() WHERE pages_crawled > 0;"
        "UPDATE domains d SET run_pages = (SELECT count(*) FROM crawl_tasks t WHERE t.domain_id = d.id),"
        " depth_reached = COALESCE((SELECT max(p.depth) FROM pages p"
        " WHERE p.domain_id = d.id AND p.status = 'fetched'), 0);"
        "UPDATE run_outcomes o SET bytes = (SELECT sum(t.bytes) FROM crawl_tasks t WHERE t.outcome = o.outcome);"
        "UPDATE pages SET fetched_at = now(), keywords_tsv = to_tsvector('kettle') WHERE status = 'fetched';"
        "INSERT INTO series_totals VALUES ('links_seen', '', 4);"
        "INSERT INTO run_drops SELECT id, 'trap:calendar', 3 FROM runs;"
        "INSERT INTO audit_log (who, via, action) VALUES ('a', 'cli', 'run.start'), ('a', 'cli', 'run.stop');"
        "UPDATE runs SET ended_at = now(), status = 'finished';"
        "UPDATE workers SET status = 'stopped', ended_at = now()"
    )
    shop = world.domains["shop.example"]
    await conn.execute("INSERT INTO jobs (name, every_s) SELECT n, 60 FROM unnest($1::text[]) AS n", list(JOBS))
    await conn.execute(
        "INSERT INTO domain_traps (domain_id, rule, template, example, found_at)"
        " VALUES ($1, 'calendar', '', '', now())",
        shop,
    )
    await conn.execute(
        "INSERT INTO origins (domain_id, origin, robots_status_code, robots_fetched_at, robots_expires_at)"
        " VALUES ($1, $2, 200, now(), now())",
        *(shop, "http://shop.example"),
    )
    await conn.execute(
        "INSERT INTO robots_requests (domain_id, origin, requested_at, pace_ms)"
        " VALUES ($1, $2, now() - interval '1 hour', 1000)",
        shop,
        "http://shop.example",
    )
    for number, price in enumerate(("19.99", "24.99")):
        product = replace(KETTLE, price=Decimal(price))
        await store(conn, [ProductVisit(shop, world.pages[f"{SEED}about"], number, f"{SEED}about", product)])
        record = FoundRecord("kettles", "kettle", None, {"title": "Kettle", "price": price})
        await store_records(conn, [RecordVisit(shop, world.pages[f"{SEED}about"], number, [record], ("kettles",))])
    read = Outcome(a_target(page=world.pages[f"{SEED}about"]), OutcomeKind.SUCCESS, 200, reading=a_detailed_reading())
    await record_details(conn, [read])
    assert (await index.index_batch(conn, CONFIGS)).changed > 0
    await seals.write_all_digests(conn, patience_s=30)
    await world.close(
        f"{SEED}gone",
        "blocked_4xx",
        404,
        error_code="http_status",
        blame="site",
        requested_at=await conn.fetchval("SELECT now()"),
        pace_ms=0,
    )
    await world.damage(
        "UPDATE run_outcomes SET pages = 2, bytes = 200 WHERE outcome = 'blocked_4xx';"
        " UPDATE domains SET total_error_count = 2, run_pages = run_pages + 1 WHERE name = 'shop.example'"
    )
    await seals.write_all_digests(conn, patience_s=30)
    return world


async def look(pool: Any, *, compares_schema: bool = False, **order: Any) -> Deep:
    return await check_deep(pool, DeepOrder(jobs=JOBS, compares_schema=compares_schema, **order))


def broken(deep: Deep) -> dict[str, str]:
    """Name of a check that found something → the repair it names."""
    return {each.name: each.repair for verdict in deep.verdicts for each in verdict.findings if each.broken}


async def mend(pool: Any, deep: Deep, **order: Any) -> list[StepResult]:
    return await run_repair(pool, deep, RepairOrder("test", None, 60.0, jobs=JOBS, **order))


async def assert_repaired(pool: Any, name: str, **order: Any) -> None:
    """It is found, a repair is named, and the repair leaves nothing but what it says needs a backup."""
    found = await look(pool, **order)
    assert name in broken(found)
    assert all("forager repair" in said or "forager restore" in said for said in broken(found).values())
    needs_backup = {step.finding.name for step in plan(found) if step.kind is Kind.BACKUP}
    assert (name in needs_backup) == (REPAIRS[name].kind is Kind.BACKUP)
    place = order.get("place")
    done = await mend(pool, found, place=place)
    assert [each.trouble for each in done if each.trouble and each.step.finding.name != "tasks_of_pages"] == []
    left = set(broken(await look(pool, **order)))
    assert left - needs_backup - HALF == set(), left


HALF = frozenset({"tasks_of_pages", "chains_of_tries", "sealed_tasks", "sealed_moves", "images_of_domains"})
"""Of these a repair puts right only a part, and says that a backup has the rest."""


async def test_a_sound_instance_passes(sound: World, pool: Any) -> None:
    assert broken(await look(pool, compares_schema=True)) == {}
    assert plan(await look(pool)) == []


async def test_an_empty_database_passes(pool: Any) -> None:
    assert broken(await check_deep(pool, DeepOrder(jobs=JOBS))) == {}


@pytest.mark.parametrize("name", sorted(DEEP))
async def test_deep_damage_is_found_and_repaired(sound: World, pool: Any, name: str) -> None:
    await sound.damage(DEEP[name])
    await assert_repaired(pool, name)


@pytest.mark.parametrize("what", sorted(OTHERS))
async def test_other_ways_to_break_it_are_found(sound: World, pool: Any, what: str) -> None:
    name, sql = OTHERS[what]
    await sound.damage(sql)
    assert name in broken(await look(pool))


@pytest.mark.parametrize("name", sorted(DAMAGE))
async def test_what_a_quick_check_finds_is_repaired_too(sound: World, pool: Any, name: str) -> None:
    await sound.damage(DAMAGE[name])
    is_schema = "schema" in REPAIRS[name].actions or name == "blocked_domains"
    await assert_repaired(pool, name, compares_schema=is_schema)


@pytest.mark.parametrize("what", sorted(SCHEMA))
async def test_parts_of_the_schema_that_are_missing_or_off_are_made_again(sound: World, pool: Any, what: str) -> None:
    await sound.damage(SCHEMA[what])
    await assert_repaired(pool, "schema", compares_schema=True)


async def test_a_column_that_is_gone_needs_a_backup_and_stops_no_check(sound: World, pool: Any) -> None:
    await sound.damage("ALTER TABLE product_prices DROP COLUMN old_price CASCADE")
    found = broken(await look(pool, compares_schema=True))
    assert "schema" in found
    assert "forager restore" in found["chained_prices"]
    [step] = [
        each for each in await mend(pool, await look(pool, compares_schema=True)) if each.step.finding.name == "schema"
    ]
    assert "only a backup has it" in (step.trouble or "")


async def test_a_schema_of_another_name_is_compared(sound: World) -> None:
    """Also one whose name is the beginning of other names, such as that of a setting."""
    transaction = sound.conn.transaction()
    await transaction.start()
    await sound.conn.execute("ALTER SCHEMA public RENAME TO forager; SET LOCAL search_path TO forager")
    compared = await catalog.compare(sound.conn)
    await transaction.rollback()
    assert compared is not None
    assert compared[0] > 100
    assert compared[1] == []


@pytest.mark.parametrize(
    "counted",
    [
        "INSERT INTO series VALUES (date_trunc('minute', now()), 'links_seen', '', 4)",
        "INSERT INTO series_days VALUES (current_date, 'links_seen', '', 4)",
    ],
)
async def test_links_of_runs_before_the_first_count_are_not_missed(sound: World, pool: Any, counted: str) -> None:
    await sound.damage(counted)
    await sound.damage("UPDATE runs SET started_at = now() - interval '30 days', links_seen = links_seen + 7")
    assert "run_links" not in broken(await look(pool))
    await sound.damage("UPDATE series_totals SET amount = 99 WHERE metric = 'links_seen'")
    await assert_repaired(pool, "run_links")


# The command line ---------------------------------------------------------------------------------------------------


async def test_a_dry_run_changes_nothing_and_a_repair_is_noted(sound: World, forager: Callable[..., Any]) -> None:
    await sound.damage("UPDATE domains SET frontier_size = 17 WHERE name = 'shop.example'; DELETE FROM jobs")
    planned = await forager("repair", "--dry-run")
    assert planned.code == 0, planned.err
    assert "page_counters: 1 broken, made again" in planned.out
    assert "Nothing was changed" in planned.err
    assert await sound.conn.fetchval("SELECT frontier_size FROM domains WHERE name = 'shop.example'") == 17
    done = await forager("repair")
    assert (done.code, "nothing is broken" in done.err) == (0, True), done.out + done.err
    assert await sound.conn.fetchval("SELECT frontier_size FROM domains WHERE name = 'shop.example'") == 2
    noted = await sound.conn.fetchrow("SELECT action, details FROM audit_log ORDER BY id DESC LIMIT 1")
    assert (noted["action"], "page_counters" in noted["details"]) == ("repair", True)
    assert (await forager("repair")).err.strip().endswith("Nothing is broken.")


async def test_what_needs_a_backup_is_left_and_says_so(sound: World, forager: Callable[..., Any]) -> None:
    await sound.damage(DEEP["sealed_prices"])
    found = await forager("check", "--deep")
    assert found.code == 1
    assert "at least one of 2 rows was altered" in found.out
    assert "forager restore BACKUP" in found.out
    left = await forager("repair")
    assert (left.code, "sealed_prices" in left.err) == (1, True)


# Bodies -------------------------------------------------------------------------------------------------------------


@pytest.fixture
async def bodies(sound: World, tmp_path: Path) -> LocalLocation:
    """A stored snapshot and an image."""
    place = LocalLocation(tmp_path / "bodies")
    kept = snapshot.pack(BODY)
    ref = f"snapshot:{kept.digest}"
    picture = b"GIF89a, or nearly"
    place.put({f"{kept.digest[:2]}/{kept.digest[2:]}.zst": kept.blob, "images/aa/bb.gif": picture})
    await sound.conn.execute(
        "INSERT INTO bodies (name, kind, size_bytes, stored_bytes) VALUES ($1, 'snapshot', 13, 13)", kept.digest
    )
    await sound.conn.execute(
        "INSERT INTO images (url_hash, url, domain_id, status, content_hash, body_ref, stored_at)"
        " VALUES (substring(sha256('http://shop.example/a.gif') FROM 1 FOR 16),"
        " 'http://shop.example/a.gif', $1, 'stored', $2, $3, now())",
        *(sound.domains["shop.example"], hashlib.sha256(picture).digest(), "images/aa/bb.gif"),
    )
    await sound.damage(
        f"UPDATE domains SET images_stored = 1 WHERE name = 'shop.example';"
        f" UPDATE crawl_tasks SET body_ref = '{ref}' WHERE page_id = {sound.pages[f'{SEED}about']};"
        " DELETE FROM seals; DELETE FROM seal_marks"
    )
    return place


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


SPOIL: dict[str, Callable[[Path], Any]] = {
    "flipped": flip,
    "cut": lambda path: path.write_bytes(path.read_bytes()[:5]),
    "emptied": lambda path: path.write_bytes(b""),
    "deleted": lambda path: path.unlink(),
}


@pytest.mark.parametrize("how", sorted(SPOIL))
async def test_a_damaged_body_is_found_and_its_page_visited_again(
    sound: World, pool: Any, bodies: LocalLocation, tmp_path: Path, how: str
) -> None:
    assert broken(await look(pool, place=bodies)) == {}
    [path] = (tmp_path / "bodies").glob("*/*.zst")
    SPOIL[how](path)
    found = await look(pool, place=bodies)
    assert "bodies_intact" in broken(found)
    done = await mend(pool, found, place=bodies)
    assert sum(each.visits for each in done) >= 1
    open_tasks = "SELECT count(*) FROM crawl_tasks WHERE outcome IS NULL AND page_id = $1"
    assert await sound.conn.fetchval(open_tasks, sound.pages[f"{SEED}about"]) == 1
    assert broken(await look(pool, place=bodies)) == {}
    assert not path.exists(), "a visit stores it again only if it is not there"


async def test_a_damaged_image_is_found(sound: World, pool: Any, bodies: LocalLocation, tmp_path: Path) -> None:
    path = tmp_path / "bodies" / "images" / "aa" / "bb.gif"
    flip(path)
    found = await look(pool, place=bodies)
    assert "bodies_intact" in broken(found)
    await mend(pool, found, place=bodies)
    assert broken(await look(pool, place=bodies)) == {}
    assert not path.exists(), "a visit stores it again only if it is not there"


async def test_a_body_that_cannot_be_read_is_reported_and_stays(
    sound: World, pool: Any, bodies: LocalLocation, tmp_path: Path
) -> None:
    """A socket in its place: the system refuses to open it, as it does without a permission; root is refused, too."""
    paths = [*(tmp_path / "bodies").glob("*/*.zst"), tmp_path / "bodies" / "images" / "aa" / "bb.gif"]
    for path in paths:
        path.rename(path.with_suffix(".aside"))
        os.mknod(path, stat.S_IFSOCK | 0o600)
    found = await look(pool, place=bodies)
    assert set(broken(found)) == {"bodies_readable"}
    assert "permissions" in broken(found)["bodies_readable"]
    assert [each.changed + each.visits for each in await mend(pool, found, place=bodies)] == [0]
    for path in paths:
        path.with_suffix(".aside").rename(path)
    assert broken(await look(pool, place=bodies)) == {}
    assert await sound.conn.fetchval("SELECT count(*) FROM bodies WHERE dropped_at IS NOT NULL") == 0


async def test_a_body_that_is_whole_again_is_not_given_up(
    sound: World, pool: Any, bodies: LocalLocation, tmp_path: Path
) -> None:
    paths = [*(tmp_path / "bodies").glob("*/*.zst"), tmp_path / "bodies" / "images" / "aa" / "bb.gif"]
    whole = {path: path.read_bytes() for path in paths}
    for path in paths:
        flip(path)
    found = await look(pool, place=bodies)
    for path, content in whole.items():
        path.write_bytes(content)
    await mend(pool, found, place=bodies)
    assert {path: path.read_bytes() for path in paths} == whole
    assert await sound.conn.fetchval("SELECT count(*) FROM bodies WHERE dropped_at IS NOT NULL") == 0
    assert await sound.conn.fetchval("SELECT count(*) FROM images WHERE dropped_at IS NOT NULL") == 0


class Retained(LocalLocation):
    """What is read first is dropped by retention just then, by another connection."""

    def __init__(self, root: Path, drop: Callable[[], None]) -> None:
        super().__init__(root)
        self.drop = drop

    def get(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        if length is None:
            self.drop()
        return super().get(key, start, length)


async def test_what_retention_deletes_during_the_check_is_no_damage(
    sound: World, pool: Any, bodies: LocalLocation, tmp_path: Path
) -> None:
    loop = asyncio.get_running_loop()

    async def retain() -> None:
        async with pool.acquire() as conn:
            await conn.execute("UPDATE bodies SET dropped_at = now(), deleted_at = now() WHERE dropped_at IS NULL")
            held = "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_xmin IS NOT NULL"
            snapshots.append(await conn.fetchval(f"{held} AND datname = current_database()"))
        for path in (tmp_path / "bodies").glob("*/*.zst"):
            path.unlink()

    snapshots: list[int] = []
    place = Retained(tmp_path / "bodies", lambda: asyncio.run_coroutine_threadsafe(retain(), loop).result(30))
    assert "bodies_intact" not in broken(await look(pool, place=place))
    assert snapshots[0] == 0, "no snapshot is held while files are read"


async def test_a_flipped_byte_in_an_archive_is_found(sound: World, pool: Any, bodies: LocalLocation) -> None:
    record = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 4\r\n\r\nHTTP\r\n\r\n"
    member = bytearray(gzip.compress(record))
    member[-6] ^= 1
    bodies.put({"warc/one.warc.gz": bytes(member)})
    await sound.conn.execute(
        "INSERT INTO bodies (name, kind, size_bytes, stored_bytes) VALUES ('one.warc.gz', 'archive', 4, 4)"
    )
    await sound.damage(
        f"UPDATE crawl_tasks SET body_ref = 'warc:one.warc.gz:0:{len(member)}' WHERE page_id = {sound.pages[SEED]}"
    )
    found = await look(pool, place=bodies)
    assert "bodies_intact" in broken(found)
    [step] = await mend(pool, found, place=bodies)
    assert step.visits == 1
    assert "a backup has them" in (step.trouble or "")


# What leaves in an audited way ---------------------------------------------------------------------------------------


async def test_a_purge_and_a_merge_leave_the_seals_whole(sound: World, pool: Any) -> None:
    async with sound.conn.transaction():
        await sound.conn.execute("SELECT set_config('forager.purge', 'on', true)")
        await sound.conn.execute("DELETE FROM products")
        await sound.conn.execute(
            "UPDATE crawl_tasks SET page_id = $1 WHERE page_id = $2", sound.pages[SEED], sound.pages[f"{SEED}gone"]
        )
        await sound.conn.execute("DELETE FROM crawl_tasks WHERE page_id = $1", sound.pages[f"{SEED}about"])
    assert not {"sealed_tasks", "sealed_prices", "seals"} & set(broken(await look(pool)))
    await sound.damage("DELETE FROM crawl_tasks WHERE id = (SELECT min(id) FROM crawl_tasks)")
    assert "sealed_tasks" in broken(await look(pool))


async def test_what_is_being_written_is_sealed_only_when_it_is_settled(sound: World, pool: Any) -> None:
    """A transaction that began before the look and commits after it: its rows belong to a later seal."""
    async with pool.acquire() as slow:
        transaction = slow.transaction()
        await transaction.start()
        await slow.execute("INSERT INTO audit_log (who, via, action) VALUES ('slow', 'cli', 'x')")
        await sound.conn.execute("INSERT INTO audit_log (who, via, action) VALUES ('quick', 'cli', 'x')")
        await seals.write_digests(sound.conn)
        await seals.write_digests(sound.conn)
        await transaction.commit()
    await seals.write_all_digests(sound.conn, patience_s=30)
    assert broken(await look(pool)) == {}
    sealed = (await seals.count(sound.conn))["audit_log"][1]
    assert sealed == await sound.conn.fetchval("SELECT count(*) FROM audit_log")


async def test_what_is_purged_while_it_is_sealed_leaves_the_seal(sound: World, pool: Any) -> None:
    request = await sound.conn.fetchval(
        "INSERT INTO robots_requests (domain_id, origin, requested_at, pace_ms)"
        " VALUES ($1, 'http://shop.example', now() - interval '2 hours', 1000) RETURNING id",
        sound.domains["shop.example"],
    )
    marked = "SELECT position FROM seal_marks WHERE what = 'robots_requests'"
    while await sound.conn.fetchval(marked) < request:
        await seals.write_digests(sound.conn)

    async def purge() -> None:
        async with pool.acquire() as conn, conn.transaction():
            await conn.execute("SELECT set_config('forager.purge', 'on', true)")
            await conn.execute("DELETE FROM robots_requests WHERE id = $1", request)

    waiting = """SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted"""
    async with pool.acquire() as sealer, sealer.transaction():
        assert await seals.write_digests(sealer) > 0
        purging = asyncio.create_task(purge())
        while not purging.done() and not await sound.conn.fetchval(waiting):
            pass
    await purging
    assert broken(await look(pool)) == {}


async def test_a_long_history_is_sealed_in_stretches(sound: World, pool: Any) -> None:
    await sound.damage("DELETE FROM seals; DELETE FROM seal_marks")
    rows = await sound.conn.fetchval("SELECT count(*) FROM crawl_tasks WHERE outcome IS NOT NULL")
    await seals.write_digests(sound.conn)
    while (await seals.count(sound.conn)).get("crawl_tasks", (0, 0))[1] < rows:
        await seals.write_digests(sound.conn, most=1)
    assert await sound.conn.fetchval("SELECT max(row_count) FROM seals WHERE what = 'audit_log'") == 1
    assert (await seals.count(sound.conn))["crawl_tasks"][0] > 1
    assert broken(await look(pool)) == {}


def test_every_check_has_its_damage_and_its_repair() -> None:
    deep = (
        {name for names in LOOKED_AT.values() for name in names} | {name for _, name, *_ in SEALED.values()} | {"seals"}
    )
    assert deep == set(DEEP)
    files = {"bodies_stored", "bodies_readable", "bodies_intact", "cold_files", "cold_intact"}
    assert set(REPAIRS) == deep | set(DAMAGE) | files | {"schema"}
