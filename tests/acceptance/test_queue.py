"""Crawls through a real RabbitMQ: exact whatever happens to the queue, and on without it."""

import json
import random
import signal
import time
from collections.abc import Callable

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import AT_RISK, SMALL, Forager, assert_exact, count_leases, kill, until
from tests.acceptance.test_clocks import test_clocks_that_jump_change_nothing as clocks
from tests.acceptance.test_database_away import test_backends_that_are_killed as killed_backends
from tests.acceptance.test_database_away import test_refusing_connections_for_a_while as refusing
from tests.acceptance.test_equal_workers import test_workers_that_look_alike_share_the_work as equals
from tests.acceptance.test_kills import spread, workers_at_work
from tests.acceptance.test_lost_lease import test_late_results_of_a_lost_lease_are_refused as late_results
from tests.acceptance.test_sharing import assert_pace
from tests.acceptance.test_sharing import test_many_workers_on_one_domain_keep_its_pace as one_domain
from tests.acceptance.test_stop_and_resume import INTERRUPTED
from tests.acceptance.test_up import visited
from tests.integration.cache.conftest import OwnRedis, redis
from tests.queues import Queues, queues, wire
from tests.wire import Wire

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

__all__ = ["queues", "redis", "wire"]

ALONE = {"FORAGER_WORKER_PARSER_PROCESSES": "0"}
"""Pages are read by the workers themselves: half as many processes have to start."""

FROZEN = {"FORAGER_FETCH_FIRST_BYTE_TIMEOUT": "120", "FORAGER_POLITENESS_ADAPTIVE_DELAY": "false"}
"""A frozen web is waited for, and not spared afterwards."""

HELD_BY = "SELECT count(*) FROM domains d JOIN workers w ON w.id = d.claimed_by WHERE w.pid = $1"
WORKERS = "SELECT count(*) FROM workers WHERE status = 'running'"


def test_killed_workers_wiped_queues_and_a_broker_that_is_lost(
    forager: Forager, open_web: OpenWeb, queues: Queues, wire: Wire, rng: random.Random
) -> None:
    """F1 and F6. First the queues are gone and a worker with them, then all of the broker, for good."""
    web = open_web("uniform=8x15")
    settings = (
        SMALL | queues.settings | {"FORAGER_WORKER_LEASE_MAX_PAGES": "8", "FORAGER_DISPATCH_BROKER_URL": wire.url}
    )
    crawl = forager.start(*web.urls, "--delay", "0.1", "--workers", "2", "-o", "out.jsonl", **ALONE, **settings)
    queues.runs.add(1)
    killing, losing = spread(rng, 2, len(web.key.by_url))
    web.wait_past(killing)
    time.sleep(rng.uniform(0, 0.2))  # fetches, batches and commits are hit in all their phases
    queues.wipe()
    kill(rng.choice(until(lambda: workers_at_work(forager), "a worker has leases")))
    web.wait_past(losing)
    wire.cut()
    queues.wipe()
    crawl.finish()
    assert_exact(forager, web, at_risk=AT_RISK)
    assert count_leases(forager, "hinted") > 0


@pytest.mark.parametrize("proof", [refusing, killed_backends, late_results, one_domain, clocks, equals])
def test_the_same_holds_through_the_queue(
    proof: Callable[[Forager, OpenWeb], None], forager: Forager, open_web: OpenWeb, queues: Queues
) -> None:
    """F3, F5, F9 to F12: the lease decides, wherever its holder heard of the domain, and what was fetched is kept while
    the database is away."""
    forager.environ |= ALONE | queues.settings
    queues.runs.add(1)
    proof(forager, open_web)
    assert count_leases(forager, "hinted") > 0


def test_a_redis_that_is_wiped_killed_and_comes_back_empty(
    forager: Forager, open_web: OpenWeb, queues: Queues, redis: OwnRedis
) -> None:
    """F6: another speed, the same result."""
    web = open_web("uniform=6x30")
    settings = (
        SMALL | ALONE | queues.settings | {"FORAGER_REDIS_URL": redis.url, "FORAGER_WORKER_LEASE_MAX_PAGES": "10"}
    )
    queues.runs.add(1)
    crawl = forager.start(*web.urls, "--delay", "0.1", "--workers", "2", "-o", "out.jsonl", **settings)
    web.wait_past(30)
    until(redis.names, "something is shared")
    redis.wipe()
    web.wait_past(60)
    until(redis.names, "something is shared again")
    redis.kill()
    web.wait_past(120)
    redis.start()
    crawl.finish()
    assert_exact(forager, web, at_risk=0)
    assert count_leases(forager, "hinted") > 0


def test_work_moves_to_an_idle_worker_and_away_from_one_that_is_drained(
    forager: Forager, open_web: OpenWeb, queues: Queues
) -> None:
    """One has all domains when another comes; then it has to go. The web is frozen until both are there."""
    web = open_web("uniform=6x40")
    forager.environ |= (
        ALONE | FROZEN | queues.settings | {"FORAGER_POLITENESS_DELAY": "0.2", "FORAGER_WORKER_HEARTBEAT": "0.5"}
    )
    forager.do("seed", *web.urls)
    schedule = forager.spawn("schedule", "run", "dispatch")
    first = forager.spawn("worker")
    until(lambda: queues.listeners(queues.names.parse) == 1, "it listens")
    forager.ask("UPDATE domains SET run_id = (SELECT id FROM runs WHERE keeper = 'standing')")
    until(lambda: len({visit.host for visit in web.visits()}) == 6, "it knows all of them")
    with web.frozen():
        until(lambda: forager.value(HELD_BY, first.process.pid) == 6, "it has all of them")
        second = forager.spawn("worker")
        until(lambda: queues.listeners(queues.names.parse) == 2, "the other is there")
    until(lambda: forager.value(HELD_BY, second.process.pid), "the other has some of them")
    assert web.count() < len(web.key.by_url)

    number = forager.value("SELECT id FROM workers WHERE pid = $1", first.process.pid)
    forager.do("worker", "drain", str(number))
    assert first.wait() == 0, first.said
    assert forager.value("SELECT status::text FROM workers WHERE id = $1", number) == "stopped"
    assert forager.value(HELD_BY, first.process.pid) == 0
    assert web.count() < len(web.key.by_url)
    until(lambda: visited(forager) == web.key.expected_success(), "the other visited the rest")
    for process in (second, schedule):
        process.signal(signal.SIGTERM)
        assert process.wait() == 0, process.said
    assert web.repeated() == {}
    assert count_leases(forager, "hinted") > 6
    forager.check()


def test_sixteen_workers_on_one_domain(forager: Forager, open_web: OpenWeb, queues: Queues) -> None:
    """F11. The web is frozen until all of them are there; fifteen have nothing to do, and none of them a request."""
    web, delay_s = open_web("uniform=1x12"), 0.2
    queues.runs.add(1)
    with web.frozen():
        crawl = forager.start(
            *web.urls, "--delay", str(delay_s), "--workers", "16", "-o", "out.jsonl", **ALONE, **queues.settings
        )
        until(lambda: forager.value(WORKERS) == 16, "all workers are there")
    crawl.finish()
    assert forager.pages() == web.key.expected_success()
    assert web.repeated() == {}
    assert_pace(web, forager, web.hosts[0], delay_s)
    assert count_leases(forager, "hinted") > 0
    forager.check()


def test_from_inline_to_celery_and_back(forager: Forager, open_web: OpenWeb, queues: Queues) -> None:
    """One crawl in three parts, stopped by Ctrl-C and then by kill -9: nothing but the setting is changed between."""
    web = open_web("uniform=4x24")
    command = (*web.urls, "--delay", "0.1", "-o", "out.jsonl")
    celery = SMALL | ALONE | queues.settings | {"FORAGER_WORKER_HEARTBEAT": "1"}
    inline = celery | {"FORAGER_DISPATCH_MODE": "inline"}
    queues.runs.add(2)

    crawl = forager.start(*command, **inline)
    web.wait_past(24)
    crawl.signal(signal.SIGINT)
    assert crawl.wait() == INTERRUPTED, crawl.said
    first = web.count()
    assert count_leases(forager, "hinted") == 0
    forager.check()

    crawl = forager.start(*command, **celery)
    web.wait_past(first + 24)
    assert web.repeated() == {}, "what was in flight was finished"
    with web.frozen():  # requests are open when the kill comes, and none ends the crawl before
        until(lambda: count_leases(forager, "hinted"), "a heartbeat has told of them")
        claimed, hinted, second = count_leases(forager, "claimed"), count_leases(forager, "hinted"), web.count()
        crawl.kill_all()
    forager.check()

    forager.start(*command, **inline).finish()
    assert len(web.key.by_url) > second > first + 24
    assert count_leases(forager, "hinted") == hinted, "the last part heard of nothing"
    assert count_leases(forager, "claimed") >= claimed + 4
    assert_exact(forager, web, at_risk=AT_RISK)


def test_standing_workers_hear_of_domains_and_replays_through_the_queue(
    forager: Forager, open_web: OpenWeb, queues: Queues
) -> None:
    """A worker that listens and one that asks the database share the run that never ends; then stored bodies are read
    again by the one that a message asks to."""
    web = open_web("uniform=6x8")
    forager.environ |= ALONE | {"FORAGER_STORAGE_CONTENT_POLICY": "snapshot", "FORAGER_POLITENESS_DELAY": "0.3"}
    forager.do("seed", *web.urls)
    schedule = forager.spawn("schedule", "run", "dispatch", **queues.settings)
    asking = forager.spawn("worker", "--of", "2")
    hearing = forager.spawn("worker", "--of", "2", **queues.settings)
    until(lambda: queues.listeners(queues.names.parse), "a worker listens")
    until(lambda: forager.value(WORKERS) == 2, "both are there")
    forager.ask("UPDATE domains SET run_id = (SELECT id FROM runs WHERE keeper = 'standing')")
    until(lambda: visited(forager) == web.key.expected_success(), "every page was visited")
    until(lambda: forager.value("SELECT count(*) FROM domains WHERE claimed_by IS NOT NULL") == 0, "all are done")
    asking.signal(signal.SIGTERM)
    assert asking.wait() == 0, asking.said
    assert web.repeated() == {}

    told = json.loads(forager.do("replay", "--json", **queues.settings))
    assert (told["is_finished"], told["is_resumed"]) == (True, False), "the worker did it, nobody had to go on with it"
    assert told["tally"]["read"] == len(web.key.expected_success())
    hearing.signal(signal.SIGTERM)
    assert hearing.wait() == 0, hearing.said
    assert 0 < count_leases(forager, "hinted") < count_leases(forager, "claimed")
    schedule.signal(signal.SIGTERM)
    assert schedule.wait() == 0, schedule.said
    forager.check()
