"""`forager archive`, `backup`, `restore`, `storage`, `purge`: from words to streams and exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.integration.retention.conftest import DAY, PAGES, Past, files, month_of
from tests.integration.retention.test_minute_archive import a_minute
from tests.integration.retention.test_minute_archive import round_of as write_stats

LEAVE = 4 * PAGES


async def test_archiving_from_the_plan_to_a_restored_month(forager: Any, world: Past, folder: Path) -> None:
    said = await forager("archive", "--dry-run")
    assert (said.code, said.out.splitlines()[0].split()[:3]) == (0, ["month", "kind", "rows"])
    assert f"{LEAVE} rows" in said.err
    assert "nothing was changed" in said.err
    planned = json.loads((await forager("archive", "--dry-run", "--json")).out)
    assert sum(row["rows"] for row in planned) == LEAVE
    moved = json.loads((await forager("archive", "--json")).out)
    assert (moved["rows"], moved["months"]) == (LEAVE, sorted({row["month"] for row in planned}))
    assert "Nothing to move" in (await forager("archive")).err
    assert len(json.loads((await forager("archive", "list", "--json")).out)) == len(files(folder)) == 4
    month = month_of(100 * DAY)
    assert (
        f"{PAGES} rows of {month} in the tables restored_tasks and" in (await forager("archive", "restore", month)).err
    )
    listed = await forager("archive", "list", month)
    assert (listed.code, f" {PAGES} " in listed.out) == (0, True)
    assert f"{PAGES} restored rows dropped" in (await forager("archive", "drop", month)).err


async def test_damage_ends_in_code_1(forager: Any, world: Past, folder: Path) -> None:
    await forager("archive")
    assert "4 files read, 0 damaged or missing." in (await forager("archive", "verify")).err
    files(folder)[0].unlink()
    said = await forager("archive", "verify")
    assert (said.code, "is missing" in said.out) == (1, True)
    assert (await forager("archive", "verify", "1999-01")).code == 0


async def test_numbers_by_the_minute_are_cold_files_too(forager: Any, world: Past, folder: Path) -> None:
    await a_minute(world.conn, "1 minute", 3.0)
    await write_stats(world.conn, folder)
    (row,) = json.loads((await forager("archive", "list", "--json")).out)
    assert (row["kind"], row["file"].startswith(f"stats/{row['month']}/stats-")) == ("stats", True)
    assert "1 file read, 0 damaged or missing." in (await forager("archive", "verify")).err
    said = await forager("check")
    assert (said.code, "cold_files         looked at 1 cold file" in said.out) == (0, True), said.out
    (folder / row["file"]).write_bytes(b"broken")
    assert (await forager("archive", "verify")).code == 1
    (folder / row["file"]).unlink()
    missing = await forager("archive", "verify")
    assert (missing.code, "is missing" in missing.out) == (1, True)
    assert (await forager("check")).code == 1


async def test_a_backup_is_listed_and_verified(forager: Any, world: Past, tmp_path: Path) -> None:
    assert "There is no backup" in (await forager("backups")).err
    said = await forager("backup")
    path = Path(said.out.strip())
    assert (said.code, path.parent) == (0, tmp_path / "home" / "backups")
    (row,) = json.loads((await forager("backups", "--verify", "--json")).out)
    assert (row["path"], row["troubles"]) == (str(path), [])
    (path / "database.dump").write_bytes(b"x")
    said = await forager("backups", "--verify")
    assert (said.code, "database.dump is missing or damaged" in said.out) == (1, True)
    said = await forager("restore", str(path), "--into", str(tmp_path / "new"))
    assert (said.code, "is damaged" in said.err) == (4, True)


async def test_storage_says_what_is_where(forager: Any, world: Past) -> None:
    found = json.loads((await forager("storage", "--json")).out)
    tasks = next(each for each in found["tables"] if each["name"] == "crawl_tasks")
    assert (tasks["rows"], tasks["states"]) == (5 * PAGES, {"pending": 0, "completed": 4 * PAGES, "failed": PAGES})
    assert found["database_bytes"] > sum(each["size_bytes"] for each in found["tables"]) / 2
    await forager("archive")
    said = await forager("storage")
    assert (said.code, f"{LEAVE} visits in archive files" in said.err) == (0, True)
    assert "growth a day" in said.out.splitlines()[0]
    assert "product_prices" in (await forager("storage", "--all")).out


async def test_growth_is_known_from_the_second_day(forager: Any, world: Past) -> None:
    await world.conn.execute("INSERT INTO storage_days VALUES (now()::date - 2, 'crawl_tasks', 0, 0)")
    found = json.loads((await forager("storage", "--json")).out)
    tasks = next(each for each in found["tables"] if each["name"] == "crawl_tasks")
    assert tasks["growth_bytes"] == pytest.approx(tasks["size_bytes"] / 2)
    assert (tasks["month_growth_bytes"], found["month_growth_bytes"]) == (None, None)


async def test_growth_in_a_month_is_measured_from_about_30_days_ago(forager: Any, world: Past) -> None:
    for days, size in ((40, 1), (31, 2), (28, 3), (2, 4)):
        await world.conn.execute("INSERT INTO storage_days VALUES (now()::date - $1::int, 'pages', $2, 0)", days, size)
    found = json.loads((await forager("storage", "--json")).out)
    pages = next(each for each in found["tables"] if each["name"] == "pages")
    assert pages["month_growth_bytes"] == pages["size_bytes"] - 2
    assert found["month_growth_bytes"] == pages["month_growth_bytes"]
    said = await forager("storage")
    assert "in 30 d" in said.out.splitlines()[0]
    assert "in 30 days" in said.err


async def test_a_purge_asks_first_and_is_listed(forager: Any, world: Past) -> None:
    said = await forager("purge", "domain", "old.example", "--dry-run")
    assert (said.code, f"{PAGES} pages, {5 * PAGES} tasks would be deleted" in said.err) == (0, True)
    refused = await forager("purge", "domain", "old.example")
    assert (refused.code, "say --yes" in refused.err) == (2, True)
    assert len(await world.tasks()) == 5 * PAGES
    done = await forager("purge", "domain", "old.example", "--yes", "--reason", "they asked\x1b[31m")
    assert (done.code, f"{PAGES} pages" in done.err) == (0, True)
    listed = await forager("purge", "list")
    assert ("old.example" in listed.out, "they asked" in listed.out, "\x1b" in listed.out) == (True, True, False)
    assert (await forager("purge", "domain", "old.example", "--yes")).code == 3
    assert (await forager("check")).code == 0


async def test_old_visits_and_cold_files_are_purged(forager: Any, world: Past, folder: Path) -> None:
    await forager("archive")
    month = month_of(100 * DAY)
    done = json.loads((await forager("purge", "cold", month, "--yes", "--json")).out)
    assert done["counts"] == {"files": 1, "visits": PAGES}
    done = json.loads((await forager("purge", "tasks", "--before", "3d", "--yes", "--json")).out)
    assert done["counts"]["tasks"] == 0
    assert (await forager("check")).code == 0


NONSENSE = (
    (["archive", "restore", "January"], 2, "'January' is no month: write it like 2026-01."),
    (["archive", "restore", "2026-13"], 2, "'2026-13' is no month"),
    (["archive", "restore", "1999-01"], 3, "Nothing of 1999-01 is in archive files"),
    (["archive", "--json", "list"], 2, "Flags of a verb stand behind it"),
    (["restore", "/nowhere/at/all"], 3, "is no backup"),
    (["purge", "tasks", "--before", "soon", "--yes"], 2, "--before 'soon' is no time"),
    (["purge", "tasks", "--before", "1h", "--yes"], 2, "History of today and yesterday stays"),
    (["purge", "pages", "old.example", "", "--yes"], 2, "a part of their URLs"),
    (["purge", "cold", "1999-01", "--yes"], 3, "Nothing of 1999-01"),
    (["backup", "/proc/nowhere/x"], 1, "No backup was made"),
    (["domain", "old.example", "set", "--history", "1s"], 2, "greater than or equal to 86400"),
)


async def test_nonsense_is_one_sentence(forager: Any) -> None:
    for command, code, sentence in NONSENSE:
        said = await forager(*command)
        assert (said.code, said.out, said.err.count("\n")) == (code, "", 1), said.err
        assert sentence in said.err


async def test_a_domain_keeps_its_history_as_it_is_told(forager: Any, world: Past) -> None:
    assert (await forager("domain", "old.example", "set", "--history", "90d")).code == 0
    assert await world.conn.fetchval("SELECT history_retention_s FROM domains") == 90 * 86400
    assert (await forager("domain", "old.example", "set", "--history", "default")).code == 0
    assert await world.conn.fetchval("SELECT history_retention_s FROM domains") is None
