"""Cold files have their copies in a bucket before a visit leaves the database, and are read back from there."""

import os
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.integration.objects.killing import kill_when_it_says
from tests.integration.retention.conftest import DAY, PAGES, Past, files, folder, month_of, world
from tests.integration.retention.test_minute_archive import a_minute
from tests.integration.retention.test_minute_archive import round_of as write_stats
from tests.integration.world import forager

from forager.storage.bucket import Bucket
from forager.storage.bucket_folder import BucketFolder

__all__ = ["folder", "forager", "world"]
LEAVE = 4 * PAGES


@pytest.fixture
def copies(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> BucketFolder:
    monkeypatch.setenv("FORAGER_ARCHIVE_BUCKET", str(bucket))
    return BucketFolder(bucket)


def names_here(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


async def test_every_cold_file_has_a_copy_and_comes_back_from_it(
    forager: Any, world: Past, folder: Path, copies: BucketFolder
) -> None:
    await a_minute(world.conn, "1 minute", 3.0)
    await write_stats(world.conn, folder)
    said = await forager("archive")
    assert (said.code, f"and {copies}" in said.err, "1 earlier file copied" in said.err) == (0, True, True), said.err
    assert set(copies.files()) == names_here(folder)
    assert len(names_here(folder)) == 2 * 4 + 1
    assert "5 files read, 0 damaged or missing, and 0 of their copies" in (await forager("archive", "verify")).err
    for path in files(folder):
        path.unlink()
    assert (await forager("check")).code == 0
    said = await forager("archive", "restore", month_of(100 * DAY))
    assert (said.code, f"{PAGES} rows" in said.err) == (0, True), said.err
    assert len(files(folder)) == 1


async def test_files_from_before_the_bucket_follow_and_a_damaged_copy_is_found(
    forager: Any, world: Past, folder: Path, copies: BucketFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FORAGER_ARCHIVE_BUCKET")
    await forager("archive")
    assert copies.files() == {}
    monkeypatch.setenv("FORAGER_ARCHIVE_BUCKET", str(copies))
    assert "4 earlier files copied" in (await forager("archive")).err
    assert set(copies.files()) == names_here(folder)
    name = files(folder)[0].relative_to(folder).as_posix()
    copies.put(folder / name.replace(".csv.gz", ".json"), name)
    said = await forager("archive", "verify")
    assert (said.code, "0 damaged or missing, and 1 of their copies" in said.err) == (1, True), said.err


async def test_a_purge_reaches_the_copies_or_does_not_begin(
    forager: Any, world: Past, folder: Path, copies: BucketFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    await forager("archive")
    month, right = month_of(100 * DAY), os.environ["AWS_SECRET_ACCESS_KEY"]
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a wrong one")
    said = await forager("purge", "cold", month, "--yes")
    assert (said.code != 0, "refuses our credentials" in said.err, said.err.count("\n")) == (True, True, 1)
    assert await world.conn.fetchval("SELECT count(*) FROM purges") == 0
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", right)
    left = files(folder, f"visits/{month}/*")
    kept = {path: path.read_bytes() for path in left}
    assert (await forager("purge", "cold", month, "--yes")).code == 0
    assert not any(month in name for name in copies.files())
    for path, content in kept.items():  # as if it had been killed before it deleted anything
        path.write_bytes(content)
        copies.put(path, path.relative_to(folder).as_posix())
    await forager("archive")
    assert not any(month in name for name in copies.files())
    assert not files(folder, f"visits/{month}/*")
    assert (await forager("check")).code == 0


async def test_without_a_copy_nothing_leaves(
    forager: Any, world: Past, folder: Path, copies: BucketFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await world.tasks()
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a wrong one")
    said = await forager("archive")
    assert (said.code != 0, "refuses our credentials" in said.err, said.err.count("\n")) == (True, True, 1)
    assert await world.tasks() == before
    assert await world.broken() == {}


STOPPED = """
import sys, time
from forager.cli.main import run
from forager.storage.bucket_folder import BucketFolder
def stop(self, name):
    print("sent", flush=True)
    time.sleep(10**6)
BucketFolder.digest = stop
run(sys.argv[1:])
"""


@pytest.mark.timeout(60)
async def test_a_kill_between_the_copy_and_the_database_leaves_nothing_behind(
    forager: Any, world: Past, folder: Path, copies: BucketFolder
) -> None:
    before = await world.tasks()
    kill_when_it_says("sent", STOPPED, "archive")
    assert await world.tasks() == before
    (first,) = [name for name in copies.files() if name.endswith(".csv.gz")]
    assert (await forager("archive")).code == 0
    assert set(copies.files()) == names_here(folder)
    assert first not in copies.files(), "it counted for nothing"
    assert len(await world.tasks()) == len(before) - LEAVE
    assert await world.broken() == {}


async def test_another_instance_in_the_same_folder_is_refused(
    forager: Any, world: Past, folder: Path, copies: BucketFolder, tmp_path: Path
) -> None:
    month = date.fromisoformat(month_of(100 * DAY) + "-01")
    foreign = f"visits/{month:%Y-%m}/visits-{month:%Y-%m}-000001.csv.gz"
    (tmp_path / "foreign").write_bytes(b"theirs")
    copies.put(tmp_path / "foreign", foreign)
    before = await world.tasks()
    await world.conn.execute("ALTER TABLE archive_parts ALTER COLUMN id RESTART")
    said = await forager("archive")
    assert (said.code, "is not ours: give each instance a bucket or folder of its own" in said.err) == (1, True)
    assert await world.tasks() == before
    assert copies.read(foreign) == b"theirs"
