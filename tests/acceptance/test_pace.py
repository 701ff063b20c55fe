"""The pace as the servers see it: 200 sites, three workers, and the web's own log as the witness."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import TRANSPORT_S, Forager, Web, tell

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

DELAY_S = 0.5
JITTER_S = 0.02


@contextmanager
def watching_the_machine() -> Iterator[list[float]]:
    """How much later than asked for a process that sleeps is woken, again and again while this lasts."""
    late, is_over = [], threading.Event()

    def watch() -> None:
        while not is_over.is_set():
            began = time.monotonic()
            time.sleep(0.005)
            late.append(time.monotonic() - began - 0.005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield late
    finally:
        is_over.set()
        watcher.join()


def gaps_of(web: Web) -> list[float]:
    """Seconds between requests that follow each other, of all hosts, robots.txt counted; the shortest first."""
    moments: dict[str, list[float]] = {}
    for visit in web.everything():
        moments.setdefault(visit.host, []).append(visit.received_s)
    return sorted(later - earlier for at in moments.values() for earlier, later in pairwise(sorted(at)))


def test_two_hundred_sites_and_three_workers_keep_the_pace(forager: Forager, open_web: OpenWeb) -> None:
    """A request may be read late by a busy machine, and the one after it is then close behind: a little, and no more
    often than this machine wakes anybody late."""
    web = open_web("uniform=200x4")
    seeds = forager.folder / "seeds.txt"
    seeds.write_text("\n".join(web.urls))
    crawl = forager.start("-f", str(seeds), "--delay", str(DELAY_S), "--workers", "3", "-o", "out.jsonl")
    with watching_the_machine() as late:
        crawl.finish()
    assert forager.pages() == web.key.expected_success()
    assert len(forager.ask("SELECT id FROM workers")) == 3
    gaps = gaps_of(web)
    early = [gap for gap in gaps if gap < DELAY_S - JITTER_S]
    busy = sum(moment > JITTER_S for moment in late) / len(late)
    tell(f"{len(gaps)} gaps, the shortest {gaps[0]:.3f} s, {len(early)} below {DELAY_S - JITTER_S} s, busy {busy:.1%}")
    assert len(gaps) == 200 * 4
    assert gaps[0] >= DELAY_S - TRANSPORT_S
    assert len(early) <= len(gaps) * (0.02 + busy)
    forager.do("audit", "politeness")
    forager.check()
