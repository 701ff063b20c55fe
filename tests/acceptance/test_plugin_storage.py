"""A crawl whose bodies a plug-in stores: read, checked and replayed; and the plug-in failing meanwhile."""

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import SMALL, Forager, until
from tests.integration.storage.kept import home_of, refs_of

from forager.storage.refs import parse

EXAMPLE = Path(__file__).parents[2] / "examples/plugins/sqlite_bodies.py"
AWAY = """

import os

class FailingLocation(SqliteLocation):
    def _transaction(self):
        if os.path.exists(self._path + ".away"):
            raise ConnectionError("the file is away")
        return super()._transaction()


@forager.hookimpl
def register_storage():
    return [Storage("sqlite", FailingLocation)]
"""


@pytest.mark.timeout(240)
def test_a_plug_in_that_stores_bodies_may_fail_for_a_while(forager: Forager, open_web: OpenWeb) -> None:
    home = home_of(forager)
    (home / "plugins").mkdir(parents=True)
    shutil.copy(EXAMPLE, home / "plugins")
    with (home / "plugins" / EXAMPLE.name).open("a") as file:
        file.write(AWAY)
    forager.environ["FORAGER_STORAGE_BUCKET"] = f"sqlite:{home}/bodies.db"
    away = home / "bodies.db.away"
    web = open_web("docs=20")
    crawl = forager.start(*web.urls, "--delay", "0.05", "--keep", "snapshot", "-o", "out.jsonl", **SMALL)
    web.wait_past(8)
    away.touch()
    until(lambda: forager.ask("SELECT FROM workers WHERE pause_reason = 'store_unavailable'"), "the worker is paused")
    ended = forager.run("bodies", "--json")
    assert ended.returncode == 0
    refused = forager.run("check")
    assert "The plug-in sqlite_bodies failed to open sqlite:" in refused.stderr
    away.unlink()
    crawl.finish()
    assert forager.pages() == web.key.expected_success()
    refs = refs_of(forager)
    assert set(refs) == web.key.expected_success()
    assert forager.value("SELECT sum(total_error_count) FROM domains") == 0
    assert forager.value("SELECT count(*) FROM plugin_errors WHERE hook = 'register_storage'") == 1
    assert [path for path in (home / "bodies").rglob("*") if path.is_file()] == []
    url = min(refs)
    assert "<" in forager.run("body", url).stdout
    assert forager.run("text", url).stdout.strip()
    forager.do("replay", "--shadow")
    forager.do("check", "--deep")
    forager.do("export", "warc", "-o", "out.warc.gz")
    assert (forager.folder / "out.warc.gz").stat().st_size > 1000
    forager.do("plugins")
    kept = parse(refs[url])
    _change(home / "bodies.db", "UPDATE bodies SET used_at = used_at - 40 * 86400 WHERE key <> ?", kept.key)
    forager.ask("UPDATE bodies SET used_at = now() - interval '31 days' WHERE name <> $1", kept.name)
    forager.do("schedule", "run", "bodies", "--once")
    forager.do("check", "--deep")
    assert _change(home / "bodies.db", "DELETE FROM bodies WHERE key = ?", kept.key) == 1
    assert _change(home / "bodies.db", "DELETE FROM bodies WHERE key <> ?", kept.key) == 0
    ended = forager.run("check", "--deep")
    assert ended.returncode == 1
    assert "is not in the store" in ended.stdout


def _change(file: Path, statement: str, key: str) -> int:
    with contextlib.closing(sqlite3.connect(file)) as opened, opened:
        return opened.execute(statement, (key,)).rowcount
