"""Archiving and backing up, killed at random moments: no visit is lost, none stays in both places, no half backup."""

import json
import random
import signal
import time
from pathlib import Path

import pytest
from tests.acceptance.stage import Forager, until

from forager.backup import archive as backup
from forager.retention import archive_file as cold_file

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]

VISITS = 20_000
KILLS = 2
HISTORY = """
    INSERT INTO runs (spec, max_depth) VALUES ('{"seeds": [], "scope": "host", "include": [], "exclude": []}', 10);
    INSERT INTO domains (name, parent_domain, base_url, status, pages_discovered, pages_crawled, depth_reached)
    VALUES ('old.example', 'old.example', 'http://old.example/', 'active', 1000, %(visits)s, 1);
    INSERT INTO pages (domain_id, url, url_hash, depth, priority, status)
    SELECT 1, u, substring(sha256(convert_to(u, 'UTF8')) FROM 1 FOR 16), 1, 5, 'fetched'
    FROM (SELECT 'http://old.example/' || n AS u FROM generate_series(1, 1000) n) x;
    INSERT INTO crawl_tasks (page_id, domain_id, run_id, status, outcome, status_code, completed_at, bytes)
    SELECT 1 + n %% 1000, 1, 1, 'completed', 'success', 200, now() - interval '100 days' + n * interval '4 minutes', 100
    FROM generate_series(0, %(visits)s - 1) n;
    INSERT INTO run_outcomes VALUES (1, 'success', '200', %(visits)s, 0, 0);
    INSERT INTO domain_days VALUES (1, now()::date, 0, 0, 0, 0, 0, 0)
"""


def fill(forager: Forager) -> None:
    forager.do("check")
    for statement in (HISTORY % {"visits": VISITS}).split(";\n"):
        forager.ask(statement)


def test_archiving_killed_again_and_again_loses_nothing(forager: Forager, rng: random.Random) -> None:
    fill(forager)
    forager.check()
    cold = Path(forager.environ["FORAGER_HOME"]) / "cold"
    for _ in range(KILLS):
        archiving = forager.spawn("archive")
        hot = forager.value("SELECT count(*) FROM crawl_tasks")
        until(
            lambda hot=hot, archiving=archiving: (  # type: ignore[misc]
                not archiving.is_running or forager.value("SELECT count(*) FROM crawl_tasks") < hot
            ),
            "visits leave",
        )
        time.sleep(rng.random() * 0.2)
        archiving.kill_parent()
        forager.check()
    forager.do("archive")
    forager.check()
    in_files = [int(row["id"]) for path in sorted(cold.rglob("*.csv.gz")) for row in cold_file.read_rows(path)]
    in_tables = [row["id"] for row in forager.ask("SELECT id FROM crawl_tasks")]
    assert sorted(in_files + in_tables) == list(range(1, VISITS + 1))
    assert len(in_tables) >= 1000
    assert "0 damaged" in forager.run("archive", "verify").stderr
    assert list(cold.rglob("*.part")) == []


def test_a_killed_backup_is_no_backup(forager: Forager, rng: random.Random) -> None:
    fill(forager)
    folder = Path(forager.environ["FORAGER_HOME"]) / "backups"
    for _ in range(2):
        saving = forager.spawn("backup")
        until(lambda: list(folder.glob("*.part")), "a backup is being made")
        time.sleep(rng.random() * 0.1)
        saving.signal(signal.SIGKILL)
        saving.process.wait()
        assert all(backup.read(path) for path in folder.glob("forager-*Z"))
    forager.do("backup")
    found = json.loads(forager.do("backups", "--verify", "--json"))
    assert (len(found) >= 1, [row["troubles"] for row in found if row["troubles"]]) == (True, [])
    assert list(folder.glob("*.part")) == []
