"""`forager seed` and `forager crawl -f` as a person runs them: real processes, a real web on loopback."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import starter
from tests.acceptance.stage import until
from tests.conftest import in_thread

from forager.db.pool import close, connect
from forager.runs.commands.ending import LIMIT_REACHED
from forager.seeds.service import MOST_NAMED
from forager_playground import Running, start_playground

Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def web() -> Iterator[Running]:
    with start_playground(["docs=12"], host_base="127.0.0.83") as running:
        yield running


@pytest.fixture
def environ(database_url: str, tmp_path: Path) -> dict[str, str]:
    own = {
        "FORAGER_DATABASE_URL": database_url,
        "FORAGER_HOME": str(tmp_path),
        "FORAGER_CRAWL_MAX_WAIT": "5",
        "FORAGER_FETCH_ALLOW_NETWORKS": "127.0.0.0/8",
    }
    return os.environ | own


@pytest.fixture
def forager(environ: dict[str, str], tmp_path: Path) -> Call:
    def call(*arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
        if given is None:
            return starter.run(arguments, environ, tmp_path, timeout_s=120)
        command = [sys.executable, "-m", "forager", *arguments]
        return subprocess.run(
            command, env=environ, cwd=tmp_path, input=given, capture_output=True, text=True, check=False, timeout=120
        )

    return call


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_ranking_from_standard_input_with_bad_lines(forager: Call) -> None:
    lines = [f"{number},host{number}.example" for number in range(1, 61)]
    for place in range(0, 60, 2):
        lines[place] = f"{place + 1},no host"
    ended = forager("seed", "-f", "-", "--source", "tranco", "--json", given="\n".join(lines))
    assert ended.returncode == 2, ended.stderr
    summary = json.loads(ended.stdout)
    assert (summary["lines"], summary["seeds"], summary["new_domains"], summary["new_pages"]) == (60, 30, 30, 30)
    assert [bad["line"] for bad in summary["bad_lines"]] == list(range(1, 61, 2))
    assert "line 39 of standard input: 'no host' is no URL" in ended.stderr
    assert "line 41" not in ended.stderr
    assert "and 10 more" in ended.stderr
    found = json.loads(forager("domains", "--status", "pending", "--json").stdout)
    assert len(found) == 30
    again = forager("seed", "-f", "-", given="2,host2.example\n")
    assert again.returncode == 0
    assert "1  page known before" in again.stderr
    assert forager("check").returncode == 0


def test_a_dry_run_opens_nothing(forager: Call, environ: dict[str, str], tmp_path: Path) -> None:
    environ["FORAGER_DATABASE_URL"] = "postgresql://127.0.0.1:9/none"
    (tmp_path / "list.csv").write_text("rank,domain\n4,a.example\nx,b.example\n")
    ended = forager("seed", "c.example", "-f", "list.csv", "--dry-run", "--json")
    assert ended.returncode == 2
    assert [json.loads(line) for line in ended.stdout.splitlines()] == [
        {"line": 1, "url": "https://c.example/", "domain": "c.example", "rank": None, "source": "seed"},
        {"line": 2, "url": "https://a.example/", "domain": "a.example", "rank": 4, "source": "list.csv"},
        {"line": 3, "error": "its rank 'x' is no whole number from 1 to 2,147,483,647."},
    ]
    assert "2 seeds would be taken, 1 line not" in ended.stderr
    assert forager("seed", "c.example").returncode == 5


def test_a_sitemap_in_a_file(forager: Call, tmp_path: Path) -> None:
    (tmp_path / "sitemap.xml").write_text(
        "<urlset><url><loc>https://a.example/1</loc></url><url><loc>https://a.example/2</loc></url></urlset>"
    )
    (tmp_path / "index.xml").write_text(
        "<sitemapindex><sitemap><loc>https://a.example/s.xml</loc></sitemap></sitemapindex>"
    )
    ended = forager("seed", "--sitemap", "sitemap.xml")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(forager("domain", "a.example", "--json").stdout)["source"] == "sitemap"
    ended = forager("seed", "--sitemap", "index.xml")
    assert ended.returncode == 2
    assert "not followed from a file; --sitemap https://a.example/s.xml does" in ended.stderr


def test_what_was_seeded_is_crawled_later(forager: Call, web: Running, tmp_path: Path) -> None:
    page = next(url for url in web.answer_key.expected_success() if url != web.urls[0])
    assert forager("seed", page, "--source", "mine").returncode == 0
    ended = forager("crawl", web.urls[0], "--depth", "0", "--delay", "0", "-o", "out.jsonl")
    assert ended.returncode == LIMIT_REACHED, ended.stderr
    assert {row["url"] for row in rows_of(tmp_path / "out.jsonl")} == {page, web.urls[0]}


def test_a_crawl_takes_the_good_lines_and_tells_the_bad(forager: Call, web: Running, tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text(f"# mine\n{web.urls[0]}\nnot a url\n")
    ended = forager("crawl", "-f", "seeds.txt", "--delay", "0", "-o", "out.jsonl", "--json")
    assert ended.returncode == 0, ended.stderr
    assert "forager: line 3 of seeds.txt: 'not a url' is no URL" in ended.stderr
    assert "1 bad line of the list left out." in ended.stderr
    assert json.loads(ended.stdout)["bad_lines"] == 1
    found = {row["url"] for row in rows_of(tmp_path / "out.jsonl") if row["status_code"] == 200}
    assert found == web.answer_key.expected_success()


def test_a_crawl_of_a_long_list(forager: Call, web: Running, tmp_path: Path) -> None:
    """Longer than an order can name; the same command again finds the same crawl and asks for nothing."""
    lines = [web.urls[0]] * (MOST_NAMED + 50)
    lines[7] = lines[MOST_NAMED + 20] = "not a url"
    (tmp_path / "seeds.txt").write_text("\n".join(lines))
    command = ("crawl", "-f", "seeds.txt", "--delay", "0", "-o", "out.jsonl", "--json")
    ended = forager(*command)
    assert ended.returncode == 0, ended.stderr
    assert f"line {MOST_NAMED + 21:,} of seeds.txt" in ended.stderr
    rows = rows_of(tmp_path / "out.jsonl")
    assert {row["url"] for row in rows if row["status_code"] == 200} == web.answer_key.expected_success()
    assert len(rows) == json.loads(ended.stdout)["pages_done"]
    again = forager(*command)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["pages_done"] == 0
    assert rows_of(tmp_path / "out.jsonl") == rows
    assert f"{MOST_NAMED + 45:,} more" in forager("runs").stdout
    assert forager("check").returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_load_that_is_interrupted_goes_on(
    forager: Call, environ: dict[str, str], tmp_path: Path, number: signal.Signals
) -> None:
    many = "".join(f"host{number}.example\n" for number in range(20_000))
    command = [sys.executable, "-m", "forager", "seed", "-f", "-"]
    with subprocess.Popen(
        command, env=environ, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as loading:
        assert loading.stdin is not None
        begun = many.splitlines(keepends=True)[:19_000]  # more than is read at once, and not all: it waits for the rest
        loading.stdin.write("".join(begun))
        loading.stdin.flush()
        until(lambda: count_pages(environ) > 0, "the first piece is there")
        loading.send_signal(number)
        _, said = loading.communicate(timeout=60)
    assert loading.returncode == (11 if number is signal.SIGINT else -number), said
    assert ("the same command adds the rest" in said) == (number is signal.SIGINT)
    assert 0 < count_pages(environ) < 20_000
    assert forager("check").returncode == 0
    ended = forager("seed", "-f", "-", "--json", given=many)
    assert ended.returncode == 0, ended.stderr
    summary = json.loads(ended.stdout)
    assert (summary["new_pages"] + summary["known"], count_pages(environ)) == (20_000, 20_000)
    assert forager("check").returncode == 0


def count_pages(environ: dict[str, str]) -> int:
    async def ask() -> int:
        connection = await connect(environ["FORAGER_DATABASE_URL"], application="forager test")
        try:
            found: int = await connection.fetchval("SELECT count(*) FROM pages")
            return found
        finally:
            await close(connection)

    return in_thread(ask())
