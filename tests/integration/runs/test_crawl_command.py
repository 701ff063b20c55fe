"""`forager crawl` as a person runs it: real processes, a real web on loopback, real signals."""

import asyncio
import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from tests import starter

from forager_playground import Running, read_log, requests_per_path, start_playground

SITE = "docs=12"
RELIED_ON = {
    *("url", "status", "status_code", "outcome", "depth", "title", "description", "language", "content_hash"),
    "links_count",
}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "requests.jsonl"


@pytest.fixture
def web(log: Path) -> Iterator[Running]:
    with start_playground([SITE], log_path=log, host_base="127.0.0.81") as running:
        yield running


@pytest.fixture
def environ(database_url: str, tmp_path: Path) -> dict[str, str]:
    own = {"FORAGER_DATABASE_URL": database_url, "FORAGER_HOME": str(tmp_path), "FORAGER_CRAWL_MAX_WAIT": "5"}
    return os.environ | own


@pytest.fixture
def forager(environ: dict[str, str], web: Running, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def call(*arguments: str, allow: bool = True) -> subprocess.CompletedProcess[str]:
        extra = {"FORAGER_FETCH_ALLOW_NETWORKS": ",".join(web.networks)} if allow else {}
        return starter.run(arguments, environ | extra, tmp_path, timeout_s=120)

    return call


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_crawl_brings_everything_home(forager: Any, web: Running, tmp_path: Path) -> None:
    ended = forager("crawl", web.urls[0], "--delay", "0", "-o", "out.jsonl", "--json")
    assert ended.returncode == 0, ended.stderr
    rows = rows_of(tmp_path / "out.jsonl")
    key = web.answer_key
    assert {row["url"] for row in rows if row["status_code"] == 200} == key.expected_success()
    for row in rows:
        assert set(row) >= RELIED_ON
        assert row["title"] == key.by_url[row["url"]].title
        assert row["depth"] == key.by_url[row["url"]].depth
    report = json.loads(ended.stdout)
    assert report["end"] == "finished"
    assert report["pages_done"] == len(rows)
    assert "Finished: nothing is left" in ended.stderr
    assert f"{len(rows)} pages written to out.jsonl." in ended.stderr
    assert "\x1b" not in ended.stderr
    assert forager("check").returncode == 0


def test_a_limit_ends_with_15_and_the_same_command_goes_on(
    forager: Any, web: Running, log: Path, tmp_path: Path
) -> None:
    command = ("crawl", web.urls[0], "--delay", "0", "-o", "out.csv")
    first = forager(*command, "--max-pages", "3")
    assert first.returncode == 15, first.stderr
    assert "over --max-pages 3" in first.stderr
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 3
    assert forager(*command).returncode == 0
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        urls = {row["url"] for row in csv.DictReader(file) if row["status_code"] == "200"}
    assert urls == web.answer_key.expected_success()
    asked = requests_per_path(visit for visit in read_log(log) if visit.target != "/robots.txt")
    assert set(asked.values()) == {1}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_cleanly_and_the_same_command_resumes(
    forager: Any, environ: dict[str, str], web: Running, log: Path, number: signal.Signals
) -> None:
    tmp_path = log.parent
    environ["FORAGER_FETCH_ALLOW_NETWORKS"] = ",".join(web.networks)
    command = [sys.executable, "-m", "forager", "crawl", web.urls[0], "-o", "out.jsonl"]
    with subprocess.Popen(
        [*command, "--delay", "0.2"], env=environ, cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as crawl:
        wait_for_requests(log, 4)
        crawl.send_signal(number)
        _, said = crawl.communicate(timeout=60)
    assert crawl.returncode == 11, said
    assert "stopping: open requests finish" in said
    assert "The same command resumes." in said
    before = len(rows_of(tmp_path / "out.jsonl"))
    assert before >= 1
    assert forager("check").returncode == 0
    assert forager("crawl", web.urls[0], "--delay", "0", "-o", "out.jsonl").returncode == 0
    found = {row["url"] for row in rows_of(tmp_path / "out.jsonl") if row["status_code"] == 200}
    assert found == web.answer_key.expected_success()
    asked = requests_per_path(visit for visit in read_log(log) if visit.target != "/robots.txt")
    assert set(asked.values()) == {1}


def wait_for_requests(log: Path, count: int) -> None:
    """The web's own log is the event: it grows by a line per request."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if log.exists() and len(read_log(log)) >= count:
            return
        time.sleep(0.02)
    raise AssertionError(f"the crawl made fewer than {count} requests in a minute")


def test_loopback_is_refused_unless_allowed(forager: Any, web: Running, log: Path) -> None:
    ended = forager("crawl", web.urls[0], "--delay", "0", "--json", allow=False)
    assert ended.returncode == 6
    assert not log.exists() or read_log(log) == []
    assert json.loads(ended.stdout)["pages_ok"] == 0


def test_robots_of_a_site(forager: Any, web: Running) -> None:
    answer = json.loads(forager("robots", web.urls[0], "--json").stdout)
    assert answer["allowed"] is True
    assert answer["status_code"] in {200, 404}
    refused = json.loads(forager("robots", web.urls[0], "--json", allow=False).stdout)
    assert refused["allowed"] is False
    assert "allow_networks" in refused["error"]


def test_nothing_is_drawn_and_nothing_said_when_quiet(forager: Any, web: Running) -> None:
    ended = forager("crawl", web.urls[0], "--delay", "0", "--max-pages", "2", "--quiet", "-o", "-")
    assert ended.returncode == 15
    assert ended.stderr == ""
    assert len(ended.stdout.splitlines()) == 2


def test_the_demo_finds_every_page(home: Path) -> None:
    environ = os.environ | {"FORAGER_HOME": str(home)}
    command = [sys.executable, "-m", "forager", "demo", "--scale", "0.2", "--json"]
    ended = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=240)
    assert ended.returncode == 0, ended.stderr
    report = json.loads(ended.stdout)
    assert report["is_perfect"] is True
    assert report["found"] == report["expected"] > 50
    assert len(report["sites"]) == 8


def test_a_flag_that_replaces_a_setting_says_so_and_is_on_record(forager: Any, web: Running, database_url: str) -> None:
    site = web.urls[0].removeprefix("http://").rstrip("/")
    assert forager("domain", site, "set", "--delay", "0.1").returncode == 0
    command = ("crawl", web.urls[0], "--max-pages", "1", "--delay")
    assert f"delay: 100ms → 200ms, remembered for {site}." in forager(*command, "0.2").stderr
    assert "remembered" not in forager(*command, "0.2").stderr
    assert forager(*command, "0.1", "-q").stderr == ""
    assert asyncio.run(replaced(database_url)) == [
        [{"domain": site, "name": "delay", "before": "100ms", "after": "200ms"}],
        None,
        [{"domain": site, "name": "delay", "before": "200ms", "after": "100ms"}],
    ]


async def replaced(database_url: str) -> list[Any]:
    connection = await asyncpg.connect(database_url)
    query = "SELECT details ->> 'replaced' AS replaced FROM audit_log WHERE action = 'run.start' ORDER BY id"
    found = [json.loads(row["replaced"] or "null") for row in await connection.fetch(query)]
    await connection.close()
    return found
