"""kill -9 of workers, of everything, of the parent alone: nothing is lost or recorded twice, it goes on by itself.

A worker that is only told to stop loses nothing at all.
"""

import os
import random
import signal
import time

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import (
    AT_RISK,
    SMALL,
    TRANSPORT_S,
    Forager,
    assert_exact,
    kill,
    tell,
    until,
    wait_for_end,
)

from forager_playground import smallest_gap_s

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

AT_WORK = """SELECT w.pid FROM workers w WHERE w.status = 'running'
             AND EXISTS (SELECT FROM domains d WHERE d.claimed_by = w.id) ORDER BY w.pid"""


def spread(rng: random.Random, kills: int, pages: int) -> list[int]:
    """Numbers of requests at which to kill: one in each part of the crawl."""
    part = pages // (kills + 1)
    return [rng.randrange(number * part, (number + 1) * part) for number in range(kills)]


def workers_at_work(forager: Forager) -> list[int]:
    return [row["pid"] for row in forager.ask(AT_WORK)]


def test_workers_killed_at_random_moments(forager: Forager, open_web: OpenWeb, rng: random.Random) -> None:
    web = open_web("uniform=12x20")
    crawl = forager.start(*web.urls, "--delay", "0.2", "--workers", "2", "-o", "out.jsonl", **SMALL)
    kills = 0
    for number in spread(rng, 3, len(web.key.by_url)):
        web.wait_past(number)
        time.sleep(rng.uniform(0, 0.2))  # fetches, batches and commits are hit in all their phases
        at_work = until(lambda: workers_at_work(forager), "a worker has leases")
        victims = rng.sample(at_work, rng.randint(1, len(at_work)))
        kill(*victims)
        kills += len(victims)
    crawl.finish()
    assert_exact(forager, web, at_risk=kills * AT_RISK)
    assert forager.value("SELECT count(*) FROM workers WHERE status = 'dead'") == kills
    counted = "SELECT metric, amount FROM series_totals UNION ALL SELECT metric, amount FROM series_parts"
    visits = forager.value("SELECT count(*) FROM crawl_tasks WHERE outcome IS NOT NULL")
    assert forager.value(f"SELECT sum(amount)::int FROM ({counted}) c WHERE metric = 'visits'") == visits


def test_everything_killed_and_started_again(forager: Forager, open_web: OpenWeb, rng: random.Random) -> None:
    web = open_web("uniform=12x16")
    command = (*web.urls, "--delay", "0.2", "--workers", "2", "-o", "out.jsonl")
    crawl = forager.start(*command, **SMALL)
    moments = spread(rng, 2, len(web.key.by_url))
    for number in moments:
        web.wait_past(number)
        time.sleep(rng.uniform(0, 0.2))  # fetches, batches and commits are hit in all their phases
        crawl.kill_all()
        before = web.count()
        forager.check()
        crawl = forager.start(*command, **SMALL)
        web.wait_past(before)
        tell(f"went on after {web.visits()[before].started_s - crawl.started_s:.1f} s")
    crawl.finish()
    assert_exact(forager, web, at_risk=len(moments) * 2 * AT_RISK)
    forager.check(deep=True)


def test_a_worker_that_is_told_to_stop_hands_its_domains_on(forager: Forager, open_web: OpenWeb) -> None:
    """SIGTERM to one of two: what it holds goes to the other, and no page is asked for twice."""
    web = open_web("uniform=6x25")
    crawl = forager.start(*web.urls, "--delay", "0.05", "--workers", "2", "-o", "out.jsonl")
    until(lambda: len(workers_at_work(forager)) == 2, "both workers have leases")
    web.wait_past(20)
    told, other = crawl.workers()
    os.kill(told, signal.SIGTERM)
    wait_for_end(told)
    assert web.count() < len(web.key.by_url)
    assert forager.value("SELECT status::text FROM workers WHERE pid = $1", told) == "stopped"
    crawl.finish()
    assert_exact(forager, web, at_risk=0)
    assert forager.value("SELECT count(*) FROM workers") == 2
    assert forager.value("SELECT count(*) FROM workers WHERE pid = $1", other) == 1


def test_workers_without_their_parent_stop_cleanly(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=6x30")
    command = (*web.urls, "--workers", "2", "-o", "out.jsonl")
    crawl = forager.start(*command, "--delay", "0.2")
    until(lambda: len(workers_at_work(forager)) == 2, "both workers have leases")
    web.wait_past(30)
    workers = crawl.kill_parent()
    wait_for_end(*workers)
    assert forager.value("SELECT count(*) FROM workers WHERE status = 'stopped'") == 2
    assert forager.value("SELECT count(*) FROM domains WHERE claimed_by IS NOT NULL") == 0
    assert forager.value("SELECT count(*) FROM crawl_tasks WHERE locked_by IS NOT NULL") == 0
    assert web.count() < len(web.key.by_url)
    forager.check()
    forager.start(*command, "--delay", "0.02").finish()
    assert_exact(forager, web, at_risk=0)


def test_a_successor_keeps_the_pace_of_the_dead(forager: Forager, open_web: OpenWeb) -> None:
    """The dead worker's last requests are in no database: whoever comes next waits as if they had just been made."""
    web, delay_s = open_web("uniform=4x3"), 3.0
    crawl = forager.start(*web.urls, "--delay", str(delay_s), "-o", "out.jsonl", FORAGER_WORKER_BATCH_INTERVAL="2500ms")
    until(lambda: web.count() >= 4, "each site was asked for its first page")
    kill(*crawl.workers())
    crawl.finish()
    assert_exact(forager, web, at_risk=4)
    gaps = [smallest_gap_s(web.everything(), host) for host in web.hosts]
    assert min(gaps) >= delay_s - TRANSPORT_S
