"""A single-page app beside plain sites, crawled by the product: what scripts write is brought home, and nothing else
reaches the browser."""

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.acceptance.conftest import SETTINGS
from tests.acceptance.stage import Crawl, Forager, Web, kill, until

from forager_playground import forbidden_hits, start_playground

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(600), pytest.mark.xdist_group("app_crawl")]
HOST_BASE = "127.77.9.1"
PATIENT = {"FORAGER_BROWSER_TIMEOUT": "60", "FORAGER_CRAWL_MAX_WAIT": "60"}
"""A browser on a busy machine."""


@pytest.fixture
def forager(database_url: str, tmp_path: Path, chromium: Path) -> Iterator[Forager]:
    environ = SETTINGS | PATIENT | {"FORAGER_HOME": str(tmp_path), "FORAGER_DATABASE_URL": database_url}
    product = Forager(tmp_path, environ, database_url)
    yield product
    product.close()


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    log = tmp_path / "requests.jsonl"
    with start_playground(("app=6", "docs=4", "blog=2"), host_base=HOST_BASE, log_path=log) as running:
        yield Web(running, log)


def finish(crawl: Crawl) -> None:
    """Browsers take their time where others work too."""
    assert crawl.process.wait(500) == 0, crawl.said[-4000:]


def rendered(forager: Forager) -> set[str]:
    return {row["url"] for row in forager.ask("SELECT url FROM pages WHERE 'rendered' = ANY (flags)")}


def drawn_pages(web: Web) -> set[str]:
    app = next(site for site in web.key.sites if site.name == "app")
    return {page.url for page in app.pages if not page.url.endswith("/about")}


def test_the_app_is_crawled_exactly_and_plain_pages_never_reach_the_browser(forager: Forager, web: Web) -> None:
    finish(forager.start(*web.urls, "--delay", "0.01", "--rendering", "auto", "-o", "out.jsonl"))
    rows = {row["url"]: row for row in forager.rows()}
    assert {url for url, row in rows.items() if row["status_code"] == 200} == web.key.expected_success()
    assert rendered(forager) == drawn_pages(web)
    assert forager.value("SELECT count(*) FROM pages WHERE 'render_failed' = ANY (flags)") == 0
    for url in drawn_pages(web):
        page = web.key.by_url[url]
        assert (rows[url]["title"], rows[url]["depth"]) == (page.title, page.depth)
    assert forbidden_hits(web.visits(), web.key) == []
    asked = web.requests()
    app = web.urls[0]
    assert not [url for url in asked if "/api/visitors" in url], "robots.txt keeps it from machines"
    assert {url: number for url, number in asked.items() if url in drawn_pages(web)} == dict.fromkeys(
        drawn_pages(web), 1
    )
    assert asked[f"{app}app.js"] <= 2, "what pages share is asked for once in a while"
    assert f"{app}app.css" not in asked
    assert {visit.user_agent.partition("/")[0] for visit in web.visits()} == {"Forager"}
    forager.check()


def test_without_rendering_the_app_is_one_empty_page(forager: Forager, web: Web) -> None:
    forager.start(web.urls[0], "--delay", "0.01", "-o", "out.jsonl").finish()
    assert forager.pages() == {web.urls[0]}
    assert rendered(forager) == set()


def test_a_domain_may_say_otherwise(forager: Forager, web: Web) -> None:
    host = web.hosts[0]
    forager.start(web.urls[0], "--delay", "0.01", "--max-pages", "1").wait()
    assert "rendering auto" in forager.run("domain", host, "set", "--rendering", "auto").stderr
    assert forager.value("SELECT rendering FROM domains WHERE name = $1", host) == "auto"
    assert forager.run("domain", host, "set", "--rendering", "sometimes").returncode == 2
    assert "default" in forager.run("domain", host, "set", "--rendering", "default").stderr
    assert forager.value("SELECT rendering FROM domains WHERE name = $1", host) is None


def browsers_of(pid: int) -> list[int]:
    """Chromium's processes among the descendants of a process."""
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        try:
            if "chromium" in Path(f"/proc/{one}/cmdline").read_text().partition("\0")[0]:
                found.append(one)
            for task in Path(f"/proc/{one}/task").iterdir():
                waiting += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue
    return found


def test_a_browser_that_is_killed_in_the_middle_is_replaced(forager: Forager, web: Web) -> None:
    crawl = forager.start(web.urls[0], "--delay", "0.2", "--rendering", "auto", "-o", "out.jsonl")
    browser = until(lambda: browsers_of(crawl.process.pid), "a browser runs")[0]
    until(lambda: rendered(forager), "a page was drawn")
    os.kill(browser, signal.SIGKILL)
    finish(crawl)
    app = next(site for site in web.key.sites if site.name == "app")
    assert forager.pages() == {page.url for page in app.pages}
    assert rendered(forager) == drawn_pages(web)
    assert forager.value("SELECT sum(total_error_count) FROM domains") == 0


def test_a_killed_worker_leaves_no_browser_behind(forager: Forager, web: Web) -> None:
    crawl = forager.start(web.urls[0], "--delay", "0.2", "--rendering", "auto")
    family = until(lambda: len(found := browsers_of(crawl.process.pid)) > 3 and found, "a browser runs")
    until(lambda: rendered(forager), "a page was drawn")
    family = sorted({*family, *browsers_of(crawl.process.pid)})
    crawl.process.send_signal(signal.SIGSTOP)
    kill(*crawl.workers())
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family), "the browser ended with its worker")


def test_without_a_browser_always_says_what_to_install_and_auto_does_without(forager: Forager, web: Web) -> None:
    ended = forager.run("crawl", web.urls[0], "--rendering", "always", FORAGER_BROWSER_EXECUTABLE="/nowhere/chromium")
    assert ended.returncode == 4
    assert re.search(r"cannot be rendered: /nowhere/chromium is no program", ended.stderr)
    crawl = forager.start(
        web.urls[0], "--delay", "0.01", "--rendering", "auto", FORAGER_BROWSER_EXECUTABLE="/nowhere/chromium"
    )
    crawl.finish()
    assert crawl.said.count("pages are not rendered") == 1
    assert rendered(forager) == set()


@pytest.mark.parametrize(("mode", "title"), [("never", "The Recipe Box"), ("auto", None), ("always", None)])
def test_one_page_is_fetched_as_its_scripts_leave_it(forager: Forager, web: Web, mode: str, title: str | None) -> None:
    url = next(url for url in sorted(drawn_pages(web)))
    done = forager.run("fetch", url, "--rendering", mode, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["reading"]["title"] == (title or web.key.by_url[url].title)
    assert ("rendered" in found["reading"]["flags"]) == (mode != "never")
    assert (found["draw_ms"] is None) == (mode == "never")
    assert forbidden_hits(web.visits(), web.key) == []
