"""Backups in a bucket: whole or not there, each file sent once, restored from there alone."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from tests.integration.backup.test_backup import clock_at
from tests.integration.objects.killing import kill_when_it_says
from tests.integration.retention.conftest import world
from tests.integration.world import forager

from forager.backup import bucket as backup_bucket
from forager.backup.service import _copy, back_up
from forager.config.loader import load
from forager.storage.bucket import Bucket
from forager.storage.bucket_folder import BucketFolder

__all__ = ["forager", "world"]
pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def bodies(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "bodies" / "ab"
    folder.mkdir(parents=True)
    for number in range(3):
        (folder / f"{number}.zst").write_bytes(b"body %d" % number)
    (folder / "again.zst").write_bytes(b"body 0")
    return folder


async def test_what_is_saved_there_comes_back(
    forager: Any, bucket: Bucket, bodies: Path, empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, other = bodies.parents[1], bodies.parents[1].with_name("other")
    said = await forager("backup", str(bucket))
    url = said.out.strip()
    assert (said.code, url.startswith(f"{bucket}/forager-"), "3 files sent" in said.err) == (0, True, True), said.err
    assert not list((home / "backups").glob("*forager*")), "nothing of it stays here"
    (bodies / "new.zst").write_bytes(b"new")
    clock_at(monkeypatch, timedelta(seconds=5))
    assert "1 file sent" in (await forager("backup", str(bucket))).err
    (row, _) = json.loads((await forager("backups", str(bucket), "--verify", "--json")).out)
    assert (row["path"], row["file_count"], row["troubles"]) == (url, 4, [])
    monkeypatch.setenv("FORAGER_DATABASE_URL", empty_database_url)
    said = await forager("restore", url, "--into", str(other))
    assert (said.code, "✗" in said.out, f"{url}/forager.toml" in said.err) == (0, False, True), said.err
    assert (other / "bodies/ab/again.zst").read_bytes() == b"body 0"
    assert not (other / "restore.part").exists()
    there = await asyncpg.connect(empty_database_url)
    assert await there.fetchval("SELECT object_id FROM audit_log WHERE action = 'backup.restore'") == url
    await there.close()
    used = await forager("restore", url, "--into", str(other))
    assert (used.code, "is not empty" in used.err) == (2, True)


async def test_mistakes_are_one_sentence(
    forager: Any, bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = await forager("restore", f"{bucket}/forager-20260101T000000Z", "--into", str(tmp_path / "other"))
    assert (said.code, "is no backup: it has no manifest.json; there is none in" in said.err) == (3, True), said.err
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a wrong one")
    for command in (("backup", str(bucket)), ("backups", str(bucket)), ("restore", f"{bucket}/x")):
        said = await forager(*command)
        assert (said.code != 0, "refuses our credentials" in said.err) == (True, True), said.err
        assert (said.err.count("\n"), "a wrong one" in said.err) == (1, False)
    assert not (tmp_path / "other").exists()


@pytest.mark.usefixtures("world")
async def test_old_ones_go_with_the_files_only_they_had(
    database_url: str, bucket: Bucket, bodies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load({"home": bodies.parents[1], "database.url": database_url, "backup.bucket": str(bucket)}, {})
    there = BucketFolder(bucket)

    async def a_night(later: timedelta) -> str:
        clock_at(monkeypatch, later)
        made, _ = await back_up(settings, database_url)
        return await _copy(settings, made)

    assert "with 3 new files" in await a_night(timedelta())
    (bodies / "1.zst").unlink()
    assert "with 0 new files" in await a_night(timedelta(days=6))
    assert len(there.files("files")) == 3
    assert "1 old one removed" in await a_night(timedelta(days=2))
    assert len(backup_bucket.list_backups(there)) == 2
    assert len(there.files("files")) == 2
    assert len(there.files()) == 2 * 4 + 2


STOPPED = """
import sys, time
from forager.cli.main import run
from forager.storage.bucket_folder import BucketFolder
send = BucketFolder.put
def stop(self, path, name, **more):
    if name.endswith("files.jsonl.gz"):
        print("under way", flush=True)
        time.sleep(10**6)
    send(self, path, name, **more)
BucketFolder.put = stop
run(sys.argv[1:])
"""


async def test_one_that_was_killed_is_no_backup_and_the_next_goes_on(
    forager: Any, bucket: Bucket, bodies: Path, tmp_path: Path
) -> None:
    kill_when_it_says("under way", STOPPED, "backup", str(bucket))
    assert "There is no backup in" in (await forager("backups", str(bucket))).err
    said = await forager("backup", str(bucket))
    assert (said.code, "0 files sent" in said.err) == (0, True), said.err
    assert not list((tmp_path / "home" / "backups").glob("bucket-*"))
