"""kill -9 of parser processes again and again, also while they start: a fault of our own ends no page."""

import random
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from tests.acceptance.conftest import NETWORK, OpenWeb
from tests.acceptance.stage import Crawl, Forager, kill, tell, until

from forager.db.embedded.processes import command_of

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

UNPACED = {"FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK}
ENDED = 0
FAILED = "SELECT count(*) FROM crawl_tasks WHERE outcome = 'failed'"


def parsers_of(crawl: Crawl) -> list[int]:
    """Parser processes of its workers and the servers that fork them, those that are starting among them."""
    servers = [pid for worker in crawl.workers() for pid in children_of(worker) if is_parser(pid)]
    return servers + [pid for server in servers for pid in children_of(server)]


def is_parser(pid: int) -> bool:
    return "forager.engine.parser_server" in command_of(pid)


def children_of(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def new_parsers(crawl: Crawl, killed: set[int]) -> set[int]:
    """Those that were not killed yet; a crawl that has ended has none any more."""
    return set(parsers_of(crawl)) - killed or (set() if crawl.is_running else {ENDED})


def test_parsers_killed_again_and_again_end_no_page(forager: Forager, open_web: OpenWeb, rng: random.Random) -> None:
    """Each round one in the middle of its pages, then twice its successor, before that is ready."""
    web = open_web("uniform=6x60")
    crawl = forager.start(*web.urls, "--delay", "0.05", "-o", "out.jsonl")
    killed: set[int] = set()
    for number in (20, 90, 160):
        web.wait_past(number)
        for _ in range(3):
            victims = until(partial(new_parsers, crawl, killed), "there is a parser process")
            time.sleep(rng.uniform(0.0, 0.2))
            kill(*(victims - {ENDED}))
            killed |= victims - {ENDED}
    crawl.finish()
    tell(f"{len(killed)} parsers were killed")
    assert len(killed) >= 3
    assert forager.value(FAILED) == 0
    assert forager.pages() == web.key.expected_success()
    assert "Traceback" not in crawl.said
    forager.check()


def test_without_a_parser_the_worker_is_paused_and_resumes(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=2x20")
    fault = forager.folder / "broken"
    fault.mkdir()
    guilty = "import sys\nif 'parser_server' in ' '.join(sys.orig_argv):\n    raise SystemExit('out of order')\n"
    (fault / "sitecustomize.py").write_text(guilty)
    crawl = forager.start(*web.urls, "-o", "out.jsonl", PYTHONPATH=str(fault), **UNPACED)
    paused = until(lambda: forager.ask("SELECT pause_detail FROM workers WHERE pause_reason = 'no_parser'"), "a pause")
    assert "out of order" in paused[0]["pause_detail"]
    assert web.count() == 0
    (fault / "sitecustomize.py").unlink()
    crawl.finish()
    assert forager.pages() == web.key.expected_success()
    assert forager.value(FAILED) == 0
