"""A page that ends the process that reads it, by a crash or by its limits: it is read apart, then left alone."""

from pathlib import Path

import pytest
from tests.acceptance.stage import Forager
from tests.web.serving import NETWORK, Site, a_page, serve

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(120)]

KILLER = """
import os, signal
from forager import parsing
from forager.engine import crash_marker, parser_limits
from forager.parsing import page

crash_marker.LONGEST_READ_S = parser_limits.SHARED_CPU_S = parser_limits.ISOLATED_CPU_S = 0.5
real = page.read

def read(fetched, **how):
    if b"Killer" in fetched.body:
        {end}
    return real(fetched, **how)

parsing.read = page.read = read
"""
STUCK = "__import__('re').match('(a|a)*b', 'a' * 64)"
SETTINGS = {
    "FORAGER_FETCH_ALLOW_NETWORKS": NETWORK,
    "FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK,
    "FORAGER_CRAWL_MAX_WAIT": "10",
    "FORAGER_POLITENESS_DELAY": "0",
    "FORAGER_WORKER_PARSER_PROCESSES": "0",
}


@pytest.mark.parametrize(
    ("end", "code", "says"),
    [
        pytest.param("os.kill(os.getpid(), signal.SIGSEGV)", "parser_crash", "twice: signal 11", id="crash"),
        pytest.param("os.kill(os.getpid(), signal.SIGKILL)", "parser_crash", "was killed", id="killed"),
        pytest.param(STUCK, "parser_limit", "out of processor time", id="stuck in C"),
    ],
)
def test_a_page_that_kills_its_worker_is_quarantined_after_two(
    forager: Forager, tmp_path: Path, end: str, code: str, says: str
) -> None:
    patch = tmp_path / "patch"
    patch.mkdir()
    (patch / "sitecustomize.py").write_text(KILLER.format(end=end))
    pages = {
        "/": a_page("Home", "/killer", *(f"/{number}" for number in range(20))),
        "/killer": a_page("Killer", "/behind"),
    }
    site, other = (Site(name, lambda path: pages.get(path, a_page("Page"))) for name in ("bad", "good"))
    with serve([site, other]):
        crawl = forager.start(site.url("/"), other.url("/1"), **SETTINGS, PYTHONPATH=str(patch))
        crawl.finish()
    (task,) = forager.ask(
        "SELECT t.outcome::text, t.error_code, t.error_message, t.blame, p.crashes, p.status::text FROM crawl_tasks t"
        " JOIN pages p ON p.id = t.page_id WHERE p.url = $1",
        site.url("/killer"),
    )
    assert (task["outcome"], task["error_code"], task["blame"]) == ("failed", code, "parser")
    assert (task["crashes"], task["status"]) == (1, "failed")
    assert says in task["error_message"]
    assert site.pages_asked().count("/killer") == 2
    assert crawl.said.count("worker.died") == 1
    assert forager.value("SELECT count(*) FROM pages WHERE status <> 'fetched' AND url <> $1", site.url("/killer")) == 0
    assert forager.value("SELECT count(*) FROM pages") == 23
    assert list((tmp_path / "reading").iterdir()) == []
    forager.check()


@pytest.mark.parametrize(
    ("end", "code"),
    [
        pytest.param("os.kill(os.getpid(), signal.SIGSEGV)", "parser_crash", id="crash"),
        pytest.param(STUCK, "parser_limit", id="stuck in C"),
        pytest.param("bytes(1024**3)", "parser_limit", id="eats memory"),
    ],
)
def test_a_page_that_ends_parser_processes_costs_no_worker(
    forager: Forager, tmp_path: Path, end: str, code: str
) -> None:
    patch = tmp_path / "patch"
    patch.mkdir()
    (patch / "sitecustomize.py").write_text(KILLER.format(end=end))
    pages = {
        "/": a_page("Home", "/killer", *(f"/{number}" for number in range(20))),
        "/killer": a_page("Killer", "/behind"),
    }
    site = Site("bad", lambda path: pages.get(path, a_page("Page")))
    with serve([site]):
        crawl = forager.start(
            site.url("/"), **SETTINGS | {"FORAGER_WORKER_PARSER_PROCESSES": "1"}, PYTHONPATH=str(patch)
        )
        crawl.finish()
    (task,) = forager.ask(
        "SELECT t.outcome::text, t.error_code, t.error_message, t.blame, p.status::text FROM crawl_tasks t"
        " JOIN pages p ON p.id = t.page_id WHERE p.url = $1",
        site.url("/killer"),
    )
    assert (task["outcome"], task["error_code"], task["blame"]) == ("failed", code, "parser")
    assert site.pages_asked().count("/killer") == 1
    assert crawl.said.count("worker.died") == 0
    assert crawl.said.count("parser.died") == 2
    assert forager.value("SELECT count(*) FROM pages WHERE status = 'fetched'") == 21
    forager.check()


def test_a_page_that_was_innocent_is_read_all_the_same(forager: Forager, tmp_path: Path) -> None:
    """Its worker was killed for another reason: the next one reads it apart, and it is a page like others."""
    patch = tmp_path / "patch"
    patch.mkdir()
    once = tmp_path / "once"
    die_once = f"open({str(once)!r}, 'x'); os.kill(os.getpid(), signal.SIGKILL)"
    (patch / "sitecustomize.py").write_text(
        KILLER.format(end=f"if not os.path.exists({str(once)!r}):\n            {die_once}")
    )
    pages = {"/": a_page("Home", "/killer"), "/killer": a_page("Killer", "/behind")}
    site = Site("bad", lambda path: pages.get(path, a_page("Page")))
    with serve([site]):
        forager.start(site.url("/"), **SETTINGS, PYTHONPATH=str(patch)).finish()
    rows = forager.ask("SELECT url, title, status::text, crashes FROM pages ORDER BY id")
    assert [(row["title"], row["status"], row["crashes"]) for row in rows] == [
        ("Home", "fetched", 0),
        ("Killer", "fetched", 1),
        ("Page", "fetched", 0),
    ]
    forager.check()
