"""Old visits move to cold files: none is lost, none stays in both places, whatever happens in between."""

import asyncio
import contextlib
import csv
import gzip
import json
import resource
from datetime import date, timedelta
from pathlib import Path
from typing import Any, cast

import asyncpg
import pytest
from tests.builders import ITEMS, a_detailed_reading, a_target
from tests.integration.retention.conftest import DAY, PAGES, RETENTION, Past, files, go_on, month_of, stop_after

from forager import clock
from forager.domains import repair
from forager.errors import NotFoundError, StoreError, UsageError
from forager.explain.rebuild import merge
from forager.frontier import history
from forager.frontier.details import record_details
from forager.frontier.history import Retention
from forager.frontier.models import Outcome, OutcomeKind
from forager.retention import archive as cold
from forager.retention import archive_file as cold_file
from forager.storage.files import digest

LEAVE = 4 * PAGES
"""Of each page's five visits all but the newest are older than the retention."""


COLUMNS = "SELECT column_name FROM information_schema.columns WHERE table_name = 'crawl_tasks'"


async def move(world: Past, folder: Path, **more: Any) -> cold.Moved:
    return await cold.move(world.conn, folder, RETENTION, by="test", pause_s=0, **more)


def rows_in(folder: Path) -> list[dict[str, str]]:
    return [row for path in files(folder) for row in cold_file.read_rows(path)]


@pytest.mark.both_servers
async def test_old_visits_leave_and_the_last_word_on_a_page_stays(world: Past, folder: Path) -> None:
    before = await world.tasks()
    moved = await move(world, folder)
    after = await world.tasks()
    in_files = sorted(int(row["id"]) for row in rows_in(folder))
    assert moved.rows == len(in_files) == LEAVE
    assert sorted(in_files + after) == before
    assert await world.conn.fetchval("SELECT count(DISTINCT page_id) FROM crawl_tasks") == PAGES
    assert await world.broken() == {}
    assert (await move(world, folder)).rows == 0


async def test_a_cold_file_has_every_column_a_visit_has(world: Past, folder: Path) -> None:
    """Also one that is added tomorrow: whatever the table has is in the file, and comes back from it."""
    await world.conn.execute("ALTER TABLE crawl_tasks ADD COLUMN of_tomorrow text DEFAULT 'new'")
    try:
        await move(world, folder)
        columns = {row["column_name"] for row in await world.conn.fetch(COLUMNS)}
        assert len(columns) > 30
        for path in files(folder):
            with gzip.open(path, "rt", newline="") as lines:
                assert columns | {"domain", "url"} == set(next(csv.reader(lines)))
        await cold.restore(world.conn, folder, date.fromisoformat(month_of(100 * DAY) + "-01"))
        kept = json.loads(await world.conn.fetchval("SELECT fields::text FROM restored_tasks LIMIT 1"))
        assert kept["of_tomorrow"] == "new"
    finally:
        await world.conn.execute("ALTER TABLE crawl_tasks DROP COLUMN of_tomorrow")


async def test_what_was_ordered_for_a_visit_comes_back_with_it(world: Past, folder: Path) -> None:
    """Each column that was ever set: a value that a file loses is lost for good."""
    task = (await world.tasks())[0]
    ordered: dict[str, Any] = {"recrawl_count": 3, "is_recurring": False, "revisit_every_s": 60.5, "max_retries": 7}
    ordered |= {"depends_on": 4, "webhook_url": 'http://hook.example/,"x"', "proxy_id": 9, "bytes": 77}
    named = ", ".join(f"{name} = ${number}" for number, name in enumerate(ordered, 2))
    await world.conn.execute("ALTER TABLE crawl_tasks DISABLE TRIGGER crawl_tasks_closed_stay")
    await world.conn.execute(f"UPDATE crawl_tasks SET {named} WHERE id = $1", task, *ordered.values())
    await world.conn.execute("ALTER TABLE crawl_tasks ENABLE TRIGGER crawl_tasks_closed_stay")
    await move(world, folder)
    (row,) = [row for row in rows_in(folder) if int(row["id"]) == task]
    assert {name: row[name] for name in ordered} == {
        name: "f" if value is False else str(value) for name, value in ordered.items()
    }


async def test_a_dry_run_says_what_would_move_and_moves_nothing(world: Past, folder: Path) -> None:
    before = await world.tasks()
    planned = await cold.plan(world.conn, RETENTION)
    assert sum(each.row_count for each in planned) == LEAVE
    assert {each.kind for each in planned} == {"visits", "failures"}
    assert sum(each.row_count for each in planned if each.kind == "failures") == PAGES
    assert all(each.size_bytes > 0 and each.domains == 1 for each in planned)
    assert (await world.tasks(), files(folder)) == (before, [])
    moved = await move(world, folder)
    assert (moved.rows, moved.months) == (LEAVE, {each.month for each in planned})


async def test_the_last_visit_of_a_page_stays_however_old(world: Past, folder: Path) -> None:
    await world.add_page("http://old.example/once", status="fetched")
    await world.conn.execute("UPDATE domains SET pages_discovered = pages_discovered + 1")
    await world.conn.execute("UPDATE runs SET pages_claimed = pages_claimed + 1")
    once = await world.visit("http://old.example/once", 300 * DAY)
    await move(world, folder)
    assert once in await world.tasks()
    assert await world.broken() == {}


async def test_failures_stay_longer_than_visits(world: Past, folder: Path) -> None:
    await world.visit("http://old.example/0", timedelta(days=20), "blocked_5xx")
    await world.conn.execute("UPDATE runs SET pages_claimed = pages_claimed + 1")
    late = await world.visit("http://old.example/0", timedelta(days=1))
    await world.conn.execute("UPDATE runs SET pages_claimed = pages_claimed + 1")
    await move(world, folder)
    left = await world.conn.fetch(
        "SELECT id, outcome::text FROM crawl_tasks WHERE page_id = $1", next(iter(world.pages.values()))
    )
    assert "blocked_5xx" in {row["outcome"] for row in left}
    assert late in {row["id"] for row in left}
    assert await world.broken() == {}


async def test_a_domain_may_keep_its_history_longer(world: Past, folder: Path) -> None:
    await world.conn.execute("UPDATE domains SET history_retention_s = 90 * 86400")
    assert (await move(world, folder)).rows == PAGES


async def test_days_that_are_not_rolled_up_stay(world: Past, folder: Path) -> None:
    await world.conn.execute("DELETE FROM domain_days")
    assert await cold.plan(world.conn, RETENTION) == []
    await world.conn.execute("INSERT INTO domain_days SELECT id, now()::date - 80, 0, 0, 0, 0, 0, 0 FROM domains")
    assert (await move(world, folder)).rows == PAGES


async def test_no_retention_moves_today_or_yesterday(world: Past, folder: Path) -> None:
    """Yesterday is rolled up once more."""
    await cold.move(world.conn, folder, Retention(1.0, 1.0), by="test", pause_s=0)
    assert (
        await world.conn.fetchval("SELECT count(*) FROM crawl_tasks WHERE completed_at > now() - interval '25 h'")
        == PAGES
    )


async def test_a_way_to_a_body_that_is_there_stays(world: Past, folder: Path) -> None:
    url, name = "http://old.example/0", "ab" * 32
    await world.conn.execute(
        "INSERT INTO bodies (name, kind, size_bytes, stored_bytes) VALUES ($1, 'snapshot', 1, 1)", name
    )
    await world.damage(
        f"UPDATE crawl_tasks SET body_ref = 'snapshot:{name}' WHERE id = (SELECT min(id) FROM crawl_tasks)"
    )
    first = (await world.tasks())[0]
    await move(world, folder)
    assert first in await world.tasks()
    await world.conn.execute("UPDATE bodies SET dropped_at = now()")
    await move(world, folder)
    assert first in await world.tasks(), "it is the only one of its page that says where a body was"
    assert url
    assert await world.broken() == {}


async def test_counters_can_be_recounted_from_what_left(world: Past, folder: Path) -> None:
    await move(world, folder)
    ids = list(world.domains.values())
    assert await repair.repair_counters(world.conn, ids) == []
    await world.conn.execute("UPDATE domains SET pages_crawled = 0, total_error_count = 0")
    await repair.repair_counters(world.conn, ids)
    row = await world.conn.fetchrow("SELECT pages_crawled, total_error_count FROM domains")
    assert tuple(row) == (4 * PAGES, PAGES)


async def test_a_file_explains_itself(world: Past, folder: Path) -> None:
    await move(world, folder)
    path = files(folder, f"visits/{month_of(100 * DAY)}/*.csv.gz")[0]
    manifest = json.loads(cold_file.manifest_path(path).read_text())
    with gzip.open(path, "rt", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert manifest["rows"] == len(rows)
    assert manifest["columns"] == list(rows[0])
    assert (manifest["first_id"], manifest["last_id"]) == (int(rows[0]["id"]), int(rows[-1]["id"]))
    assert manifest["sha256"] == digest(path).hex()
    assert manifest["schema_revision"]
    assert rows[0]["url"] == "http://old.example/0"
    assert path.stat().st_mode & 0o077 == 0


async def test_many_visits_become_several_slices(world: Past, folder: Path) -> None:
    moved = await move(world, folder, slice_rows=3)
    assert (moved.rows, len(rows_in(folder))) == (LEAVE, LEAVE)
    assert moved.slices > 4
    assert await world.broken() == {}


# Stopped in between -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statement", ["UPDATE ON archive_parts", "INSERT ON archive_parts", "DELETE ON crawl_tasks"])
@pytest.mark.parametrize("times", [0, 1, 3])
async def test_killed_anywhere_nothing_is_lost_and_the_next_round_finishes(
    world: Past, folder: Path, statement: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cold, "AT_ONCE", 2)
    before = await world.tasks()
    await stop_after(world, statement, times)
    with pytest.raises(asyncpg.RaiseError):
        await move(world, folder)
    await world.conn.execute("SELECT pg_advisory_unlock_all()")
    assert await world.broken() == {}
    known = {int(row["id"]) for row in rows_in(folder)} | set(await world.tasks())
    assert sorted(known) == before
    await go_on(world)
    await move(world, folder)
    in_files, after = [int(row["id"]) for row in rows_in(folder)], await world.tasks()
    assert sorted(in_files + after) == before
    assert await world.conn.fetchval("SELECT count(*) FROM archive_parts WHERE status <> 'moved'") == 0
    assert files(folder, "**/*.part") == []
    assert await world.broken() == {}


async def test_cancelled_while_it_writes_it_leaves_nothing(world: Past, folder: Path) -> None:
    moving: asyncio.Task[cold.Moved] = asyncio.create_task(move(world, folder, on_moved=lambda _: stop()))

    def stop() -> None:
        moving.cancel()

    with pytest.raises(asyncio.CancelledError):
        await moving
    assert await world.broken() == {}
    await move(world, folder)
    assert len(rows_in(folder)) == LEAVE


async def test_a_half_moved_slice_whose_file_was_damaged_loses_nothing_more(world: Past, folder: Path) -> None:
    await stop_after(world, "DELETE ON crawl_tasks", 0)
    with pytest.raises(asyncpg.RaiseError):
        await move(world, folder)
    await go_on(world)
    before = await world.tasks()
    path = files(folder)[0]
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(StoreError, match="damaged"):
        await move(world, folder)
    assert await world.tasks() == before


async def test_a_folder_that_cannot_be_written_is_one_sentence(world: Past, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    before = await world.tasks()
    with pytest.raises(StoreError, match=r"not a directory\. Nothing is lost"):
        await move(world, tmp_path / "file")
    assert (await world.tasks(), await history.list_parts(world.conn)) == (before, [])


async def test_a_full_disk_is_one_sentence_and_nothing_leaves(world: Past, folder: Path) -> None:
    before, limits = await world.tasks(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(StoreError, match=r"The disk is full .* Nothing is lost") as caught:
            await move(world, folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.reason == "disk_full"
    assert (await world.tasks(), files(folder, "**/*.*"), await history.list_parts(world.conn)) == (before, [], [])


async def test_domains_that_become_one_take_what_left_them_along(world: Past, folder: Path) -> None:
    await world.add_domain("www.old.example", status="active", pages_discovered=1)
    other = "http://www.old.example/0"
    await world.add_page(other, status="fetched")
    for ago in (100 * DAY, 50 * DAY, DAY):
        await world.visit(other, ago)
    await world.conn.execute("UPDATE runs SET pages_claimed = pages_claimed + 3")
    await move(world, folder)
    order: dict[str, Any] = {"dead_after_s": 60.0, "refresh_every_s": None, "refused_rest_s": 0.0}
    async with OnePool(world.conn) as pool:
        (merged,) = await merge(cast("Any", pool), by="test", is_trial=False, **order)
    assert merged.name == "old.example"
    assert await world.broken() == {}


class OnePool:
    """What wants a pool gets this one connection."""

    def __init__(self, conn: Any) -> None:
        self._conn = conn

    async def __aenter__(self) -> "OnePool":
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    def acquire(self) -> contextlib.AbstractAsyncContextManager[Any]:
        return contextlib.nullcontext(self._conn)


async def test_only_one_archives_at_a_time(world: Past, folder: Path, pool: Any) -> None:
    async with pool.acquire() as other, cold.lock_archive(other):
        with pytest.raises(UsageError, match="Another Forager is archiving"):
            await move(world, folder)
    assert (await move(world, folder)).rows == LEAVE


async def test_the_database_lets_nothing_go_without_a_slice(world: Past) -> None:
    with pytest.raises(asyncpg.CheckViolationError, match="history does not change"):
        await world.conn.execute("DELETE FROM crawl_tasks")
    async with world.conn.transaction():
        slice_id, _ = await history.begin_slice(world.conn, "visits", date(2026, 1, 1), by="test")
        with pytest.raises(asyncpg.CheckViolationError):
            async with world.conn.transaction():
                await history.delete_archived_tasks(world.conn, slice_id, await world.tasks())


# Looking at what is cold --------------------------------------------------------------------------------------------


def this_month(ago: timedelta) -> date:
    return (clock.now() - ago).date().replace(day=1)


async def test_a_month_is_restored_beside_the_history_and_dropped_again(world: Past, folder: Path) -> None:
    await move(world, folder)
    month = this_month(100 * DAY)
    before = await world.tasks()
    assert await cold.restore(world.conn, folder, month) == PAGES
    assert await cold.restore(world.conn, folder, month) == PAGES, "a second time it is the same"
    row = await world.conn.fetchrow("SELECT *, fields ->> 'bytes' AS bytes FROM restored_tasks ORDER BY id LIMIT 1")
    assert (row["url"], row["outcome"], row["status_code"], row["bytes"]) == (
        "http://old.example/0",
        "success",
        200,
        "100",
    )
    assert (await world.tasks(), await world.broken()) == (before, {})
    assert await cold.drop_restored(world.conn, month) == PAGES
    assert await world.conn.fetchval("SELECT count(*) FROM restored_tasks") == 0


async def test_an_unknown_month_is_refused(world: Past, folder: Path) -> None:
    with pytest.raises(NotFoundError, match="Nothing of 1999-01 is in archive files"):
        await cold.restore(world.conn, folder, date(1999, 1, 1))


async def test_damage_is_found_by_verifying_and_nothing_of_it_is_restored(world: Past, folder: Path) -> None:
    await move(world, folder)
    assert [found.trouble for found in await cold.verify(world.conn, folder) if found.trouble] == []
    month = this_month(100 * DAY)
    path = files(folder, f"visits/{month:%Y-%m}/*.csv.gz")[0]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(bytes(content))
    found = {item.file: item.trouble for item in await cold.verify(world.conn, folder)}
    assert [file for file, trouble in found.items() if trouble] == [str(path.relative_to(folder))]
    with pytest.raises(StoreError):
        await cold.restore(world.conn, folder, month)
    assert await world.conn.fetchval("SELECT count(*) FROM restored_tasks") == 0
    path.unlink()
    assert any("is missing" in (item.trouble or "") for item in await cold.verify(world.conn, folder))


async def test_any_text_survives_the_way_there_and_back(world: Past, folder: Path) -> None:
    messages = ["a\nb", 'say "x", y', "\ufeffé漢\u2028\x1f", "\\N", "x" * 200_000, "\r\n,\t", "=1+1", "''"]
    tasks = (await world.tasks())[: len(messages)]
    async with world.conn.transaction():
        await world.conn.execute("SET LOCAL session_replication_role = replica")
        await world.conn.executemany(
            "UPDATE crawl_tasks SET error_message = $1 WHERE id = $2", list(zip(messages, tasks, strict=True))
        )
    await move(world, folder)
    for month in {each.month for each in await cold.list_archive_parts(world.conn)}:
        await cold.restore(world.conn, folder, month)
    rows = await world.conn.fetch("SELECT id, fields ->> 'error_message' AS said FROM restored_tasks")
    said = {row["id"]: row["said"] for row in rows}
    left = set(await world.tasks())
    assert len(set(tasks) - left) >= 6
    assert {task: said[task] for task in tasks if task not in left} == {
        task: message for task, message in zip(tasks, messages, strict=True) if task not in left
    }


async def test_forager_check_misses_a_cold_file(world: Past, folder: Path, forager: Any) -> None:
    await move(world, folder)
    said = await forager("check")
    assert (said.code, "cold_files         looked at 4 cold files" in said.out) == (0, True), said.out
    files(folder)[0].unlink()
    said = await forager("check")
    assert (said.code, "3 (" in said.err, f"is not in {folder} as it was" in said.out) == (1, True, True)


# Signals of pages that are there no longer --------------------------------------------------------------------------

DEAD = Retention(*RETENTION[:2], page_s=90 * 86400.0)


async def bury(world: Past, url: str, ago: timedelta, status: str = "gone") -> None:
    """A page that was read once, and has been answered 404 since."""
    await world.add_page(
        url,
        status=status,
        title="What it was",
        description="d",
        etag='"1"',
        language="en",
        content_hash=bytes(16),
        links_count=1,
        fetched_at=clock.now() - ago,
        failed_at=clock.now() - DAY,
    )
    await world.visit(url, ago)
    await world.close(url, "blocked_4xx", 404, error_code="http_status", blame="site")
    await world.link(url, "http://old.example/0")
    await world.conn.execute(
        "UPDATE domains SET pages_discovered = pages_discovered + 1, total_error_count = total_error_count + 1;"
        " UPDATE runs SET pages_claimed = pages_claimed + 2;"
        " INSERT INTO run_outcomes SELECT id, 'blocked_4xx', '404', 1, 0, 0 FROM runs"
        " ON CONFLICT (run_id, outcome, reason) DO UPDATE SET pages = run_outcomes.pages + 1"
    )
    await world.conn.execute("UPDATE pages SET keywords_tsv = to_tsvector('simple', 'what it was') WHERE url = $1", url)
    await world.conn.execute(
        "INSERT INTO indexed_pages (page_id, domain_id, config, read_at, terms)"
        " SELECT id, domain_id, 'simple', fetched_at, keywords_tsv FROM pages WHERE url = $1",
        url,
    )


async def signals(world: Past, url: str) -> tuple[Any, ...]:
    row = await world.conn.fetchrow(
        "SELECT title, etag, keywords_tsv::text, links_count, language, status::text,"
        " EXISTS (SELECT FROM indexed_pages i WHERE i.page_id = p.id) AS is_found FROM pages p WHERE url = $1",
        url,
    )
    return tuple(row)


async def test_signals_of_dead_pages_leave_and_the_page_stays_known(world: Past, folder: Path) -> None:
    dead, recent = "http://old.example/dead", "http://old.example/recent"
    await bury(world, dead, 100 * DAY)
    await bury(world, recent, 80 * DAY)
    for url in (dead, recent):
        target = a_target(page=world.pages[url])
        await record_details(world.conn, [Outcome(target, OutcomeKind.SUCCESS, 200, reading=a_detailed_reading())])
    assert await world.broken() == {}
    assert "pages" in {each.kind for each in await cold.plan(world.conn, DEAD)}
    await cold.move(world.conn, folder, DEAD, by="test", pause_s=0)
    assert await signals(world, dead) == (None, None, None, 1, "en", "gone", False)
    assert (await signals(world, recent))[0] == "What it was"
    assert await world.broken() == {}
    (path,) = files(folder, "pages/*/*.csv.gz")
    (row,) = cold_file.read_rows(path)
    assert (row["url"], row["title"], row["keywords_tsv"]) == (dead, "What it was", "'it':2 'was':3 'what':1")
    assert [each for each in await cold.plan(world.conn, DEAD) if each.kind == "pages"] == []
    await cold.restore(world.conn, folder, this_month(100 * DAY))
    assert await world.conn.fetchval("SELECT title FROM restored_pages") == "What it was"
    fields = json.loads(await world.conn.fetchval("SELECT fields FROM restored_pages"))
    assert (fields["headline"], fields["published_on"]) == ("A lamp", "2026-01-02")
    assert json.loads(fields["structured_data"]) == json.loads(ITEMS)
    assert await world.conn.fetch("SELECT page_id FROM page_details") == [(world.pages[recent],)]
    assert await cold.drop_restored(world.conn, None) > 0
    assert await world.conn.fetchval("SELECT count(*) FROM restored_pages") == 0


async def test_a_page_that_is_there_keeps_its_signals_however_old(world: Past, folder: Path) -> None:
    await world.conn.execute("UPDATE pages SET title = 'x', fetched_at = now() - interval '1000 days'")
    assert "pages" not in {each.kind for each in await cold.plan(world.conn, DEAD)}


async def test_a_page_that_was_read_again_meanwhile_keeps_what_it_has(world: Past, folder: Path) -> None:
    dead = "http://old.example/dead"
    await bury(world, dead, 100 * DAY)
    await stop_after(world, "UPDATE ON pages", 0)
    with pytest.raises(asyncpg.RaiseError):
        await cold.move(world.conn, folder, DEAD, by="test", pause_s=0)
    await go_on(world)
    await world.conn.execute(
        "UPDATE pages SET status = 'fetched', fetched_at = now(), title = 'New' WHERE url = $1", dead
    )
    await world.visit(dead, timedelta())
    await world.conn.execute("UPDATE runs SET pages_claimed = pages_claimed + 1")
    await cold.move(world.conn, folder, DEAD, by="test", pause_s=0)
    assert (await signals(world, dead))[0] == "New"
    assert await world.broken() == {}
