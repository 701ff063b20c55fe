"""One crawl over all bad servers at once, beside a good one that must not notice: who gets what, and at what cost."""

import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.stage import Forager, tell
from tests.conftest import Server, _database, _template
from tests.web.cases import BOMBS, CASES, Case, bomb_of
from tests.web.serving import NETWORK, NO_FILE, Site, a_page, serve

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180), pytest.mark.xdist_group("bad servers")]

GOOD_PAGES = 75
ALONE_PAGES = 25
LIMIT = 80
DELAY_S = 0.2
SETTINGS = {
    "FORAGER_FETCH_ALLOW_NETWORKS": NETWORK,
    "FORAGER_POLITENESS_DELAY": str(DELAY_S),
    "FORAGER_FETCH_CONNECT_TIMEOUT": "3",
    "FORAGER_FETCH_TIMEOUT": "4",
    "FORAGER_FETCH_FIRST_BYTE_TIMEOUT": "2",
    "FORAGER_FETCH_MIN_RATE_WINDOW": "1",
    "FORAGER_FETCH_MIN_RATE": "200",
    "FORAGER_FAILURES_MAX_RETRIES": "0",
    "FORAGER_FAILURES_BREAKER_RESET": "1",
    "FORAGER_CRAWL_MAX_WAIT": "5",
    "FORAGER_POLITENESS_ADAPTIVE_DELAY": "false",
}
"""As in production but hasty: what takes half a minute there takes some seconds here. One try, so one task."""


@dataclass
class Play:
    """What is left of the crawl when it is over."""

    sites: dict[str, Site]
    tasks: dict[str, list[Any]]
    """URL → its tasks, with what is known of the page."""
    took_s: float
    rate_alone: float
    rate_beside: float
    worker_bytes_alone: int
    worker_bytes_beside: int
    said: str
    broken: str
    """What `forager check` found broken; nothing where every promise was kept."""


def good_site(name: str, pages: int) -> Site:
    home = a_page("Home", *(f"/{number}" for number in range(1, pages)))
    return Site(name, lambda path: home if path == "/" else a_page(f"Page {path}"))


def rate_of(site: Site) -> float:
    moments = [at for at, path in site.asked if path != "/robots.txt"]
    return (len(moments) - 1) / (moments[-1] - moments[0])


def crawl(forager: Forager, *arguments: str) -> tuple[int, str]:
    """The most memory a worker and its readers had at any time, and what was said."""
    run = forager.start(*arguments, "--scope", "any", "--max-pages-per-domain", str(LIMIT))
    most = 0
    while run.is_running:
        most = max([most, *map(peak_with_readers, run.workers())])
        time.sleep(0.1)
    assert run.wait() in {0, 15}, run.said[-3000:]
    return most, run.said


def peak_with_readers(worker: int) -> int:
    """Of a worker and of the processes that read its pages, each at its worst moment."""
    try:
        children = Path(f"/proc/{worker}/task/{worker}/children").read_text().split()
    except OSError:
        return 0
    return sum(map(peak_bytes, [worker, *map(int, children)]))


def peak_bytes(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0)


@pytest.fixture(scope="module")
def play(embedded_server: Server, run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Play:
    folder = tmp_path_factory.mktemp("bad-servers")
    alone, beside = good_site("alone", ALONE_PAGES), good_site("beside", GOOD_PAGES)
    sites = {case.name: case.site() for case in CASES}
    for coding in BOMBS:
        bomb_of(coding)  # now, and not while the good site is timed
    template = _template(embedded_server, run_folder)
    with _database(embedded_server, f"{run_folder.name}-{folder.parent.name}-bad-servers", template) as dsn:
        environ = SETTINGS | {"FORAGER_HOME": str(folder), "FORAGER_DATABASE_URL": dsn}
        forager = Forager(folder, environ, dsn)
        with serve([alone, beside, *sites.values()]):
            bytes_alone, _ = crawl(forager, alone.url("/"))
            seeds = [sites[case.name].url(path) for case in CASES for path in case.seeds]
            began = time.monotonic()
            bytes_beside, said = crawl(forager, beside.url("/"), *seeds)
            took_s = time.monotonic() - began
        checked = forager.run("check")
        tell(checked.stdout)
        tasks = read_tasks(forager)
        forager.close()
    return Play(
        sites=sites | {"beside": beside},
        tasks=tasks,
        took_s=took_s,
        rate_alone=rate_of(alone),
        rate_beside=rate_of(beside),
        worker_bytes_alone=bytes_alone,
        worker_bytes_beside=bytes_beside,
        said=said,
        broken=checked.stdout + checked.stderr if checked.returncode else "",
    )


def read_tasks(forager: Forager) -> dict[str, list[Any]]:
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for row in forager.ask(
        "SELECT p.url, p.status::text AS page_status, p.title, p.flags, t.outcome::text, t.error_code, t.error_message,"
        " t.status_code, t.completed_at FROM pages p LEFT JOIN crawl_tasks t ON t.page_id = p.id ORDER BY t.id"
    ):
        found[row["url"]].append(row)
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_bad_page_ends_as_it_should(play: Play, case: Case) -> None:
    site = play.sites[case.name]
    (task,) = play.tasks[site.url("/bad")]
    assert (task["outcome"], task["error_code"], task["status_code"]) == (
        case.outcome,
        case.error_code,
        case.status_code,
    ), task["error_message"]
    assert case.flags <= set(task["flags"] or ())
    if case.title is not None:
        assert task["title"] == case.title
    assert len(site.pages_asked()) <= case.most_requests


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_next_page_of_the_same_site_is_fetched(play: Play, case: Case) -> None:
    found = play.tasks[play.sites[case.name].url("/next")]
    if case.is_next_fetched:
        assert [(row["outcome"], row["title"]) for row in found] == [("success", "Next page")]
    else:
        assert all(row["outcome"] != "success" for row in found)


def test_every_task_has_a_named_end(play: Play) -> None:
    closed = [row for rows in play.tasks.values() for row in rows if row["completed_at"]]
    assert all(row["outcome"] == "success" or row["error_code"] for row in closed)
    assert not [row["error_message"] for row in closed if row["error_code"] == "broken"]


def test_nobody_else_was_asked(play: Play) -> None:
    """What led to the metadata address was followed to the guard, and no further."""
    (task,) = play.tasks["http://169.254.169.254/latest/meta-data/"]
    assert (task["outcome"], task["error_code"]) == ("failed", "address_refused")


def test_no_worker_died_and_nobody_saw_a_stack_trace(play: Play) -> None:
    assert "worker.died" not in play.said
    assert "Traceback" not in play.said


def test_the_good_site_kept_its_pace(play: Play) -> None:
    tell(f"alone {play.rate_alone:.2f} pages/s, beside {len(CASES)} bad servers {play.rate_beside:.2f}")
    assert len(play.sites["beside"].pages_asked()) == GOOD_PAGES
    assert play.rate_beside >= 0.8 * play.rate_alone


def test_every_promise_was_kept(play: Play) -> None:
    assert not play.broken, play.broken


def test_memory_stayed_within_bounds(play: Play) -> None:
    """All at once, several of 10 MB among them, and pages of a million tags, which a reader of their own has."""
    growth = play.worker_bytes_beside - play.worker_bytes_alone
    tell(f"with its readers {play.worker_bytes_alone / 1e6:.0f} MB, beside bad servers {growth / 1e6:.0f} MB more")
    assert growth < 450_000_000


def test_bombs_cost_little_memory(forager: Forager) -> None:
    """One after the other, 10 GB each; what the worker had before is told by a crawl without them."""
    bombs = {f"/{number}": bomb_of(coding) for number, coding in enumerate(BOMBS)}
    calm, good = good_site("calm", 5), good_site("good", 5)
    site = Site("bombs", lambda path: bombs.get(path, NO_FILE))
    forager.environ |= SETTINGS
    with serve([calm, good, site]):
        before, _ = crawl(forager, calm.url("/"))
        after, _ = crawl(forager, good.url("/"), *map(site.url, bombs), "--delay", "0.6")
    tell(f"{(after - before) / 1e6:.0f} MB more for bombs")
    ends = forager.ask("SELECT error_code FROM crawl_tasks WHERE error_code IS NOT NULL")
    assert [row["error_code"] for row in ends] == ["too_large"] * len(bombs)
    assert after - before < 60_000_000


def test_it_was_over_soon(play: Play) -> None:
    """All there is to fetch of the largest of them, at the rate this machine has today, and some time-outs."""
    at_most_s = max(60.0, LIMIT / play.rate_alone + 30)
    tell(f"{play.took_s:.1f} s of {at_most_s:.1f} s")
    assert play.took_s < at_most_s
