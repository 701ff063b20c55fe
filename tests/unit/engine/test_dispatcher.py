"""Traffic: queues keep moving, each at its pace; every target ends in exactly one outcome."""

import asyncio
from itertools import pairwise

import pytest
from tests.builders import COOLDOWN_S, a_fetched, a_lane, a_target
from tests.unit.engine.road import Road, hasty, script, targets_of
from tests.unit.engine.scripted import Answer, ScriptedClient, trouble

from forager import clock, errors
from forager.domains.store import Release
from forager.engine import retry_policy
from forager.engine.domain_queue import DomainQueue
from forager.politeness import robots
from forager.records import OutcomeKind

__all__ = ["hasty"]
pytestmark = pytest.mark.timeout(20)


# Moving -------------------------------------------------------------------------------------------------------------


async def test_robots_txt_is_asked_for_once_and_before_everything_else() -> None:
    road = Road(ScriptedClient())
    road.drive(a_lane(1), *targets_of(1, 3))
    await road.until(3)
    assert road.client.asked[0][0] == "http://d1.example/robots.txt"
    assert sorted(road.client.urls) == [target.url for target in targets_of(1, 3)]
    assert len(road.client.asked) == 4
    assert len(road.copies) == 1


async def test_every_origin_of_a_domain_has_its_own_robots_txt() -> None:
    road = Road(ScriptedClient({"https://d1.example/robots.txt": [a_fetched(200, b"User-agent: *\nDisallow: /x")]}))
    secure = [a_target(f"https://d1.example/{name}", task=number) for number, name in enumerate(["x", "y"], 1)]
    road.drive(a_lane(1), a_target("http://d1.example/x", task=3), *secure)
    outcomes = {outcome.target.url: outcome.kind for outcome in await road.until(3)}
    assert outcomes == {
        "http://d1.example/x": OutcomeKind.SUCCESS,
        "https://d1.example/x": OutcomeKind.BLOCKED_ROBOTS,
        "https://d1.example/y": OutcomeKind.SUCCESS,
    }


async def test_many_lanes_share_few_requests_and_none_is_forgotten() -> None:
    """More domains than requests that may be open: the cap holds, and all of them get through."""
    road = Road(ScriptedClient(), max_requests_in_flight=3)
    for domain in range(1, 9):
        road.drive(a_lane(domain), *targets_of(domain, 10))
    outcomes = await road.until(80)
    assert len({outcome.target.task_id for outcome in outcomes}) == 80
    assert road.client.most_open <= 3


async def test_lanes_that_wait_for_a_free_request_take_turns() -> None:
    road = Road(ScriptedClient(), max_requests_in_flight=1)
    for domain in (1, 2):
        road.drive(a_lane(domain), *targets_of(domain, 20))
    outcomes = await road.until(40)
    first_half = [outcome.target.domain_id for outcome in outcomes[:20]]
    assert 5 <= first_half.count(1) <= 15


async def test_a_new_site_does_not_wait_behind_slow_ones_that_are_asked_again_and_again() -> None:
    road = Road(ScriptedClient(), max_requests_in_flight=32)
    rules = robots.parse("").rules_for("forager")
    road.client.gate.clear()
    for domain in range(2, 62):
        slow = a_lane(domain, max_in_flight=1, response_s=30.0)
        slow.robots.save(f"http://d{domain}.example", rules, clock.monotonic() + 3600)
        road.drive(slow, *targets_of(domain, 3))
    await road.client.arrived.wait()
    await asyncio.sleep(0)
    before = len(road.client.urls)
    new = a_lane(1, max_in_flight=1)
    new.robots.save("http://d1.example", rules, clock.monotonic() + 3600)
    road.drive(new, *targets_of(1, 3))
    road.client.gate.set()
    await road.until(183)
    assert road.client.most_open <= 32
    assert road.client.urls[before:].index("http://d1.example/1") < 4


async def test_requests_of_one_domain_keep_their_distance_and_their_cap() -> None:
    road = Road(ScriptedClient())
    road.drive(a_lane(1, delay_s=0.05, max_in_flight=2), *targets_of(1, 4))
    await road.until(4)
    moments = [at for _, at in road.client.asked]
    assert min(later - earlier for earlier, later in pairwise(moments)) >= 0.049


async def test_no_more_requests_are_open_than_the_domain_takes() -> None:
    road = Road(ScriptedClient())
    road.drive(a_lane(1, max_in_flight=2), *targets_of(1, 20))
    await road.until(20)
    assert road.client.most_open == 2


async def test_a_lane_that_waits_for_a_retry_wakes_earlier_for_new_targets() -> None:
    road = Road(ScriptedClient())
    queue = a_lane(1, delay_s=0.05)
    road.drive(queue, *targets_of(1, 1))
    await road.until(1)
    queue.delay(targets_of(1, 1, first=9)[0], until=clock.monotonic() + 3600)
    road.traffic.start_requests(queue)
    road.drive(queue, *targets_of(1, 2, first=2))
    await road.until(3)


async def test_nothing_leaves_after_the_lease() -> None:
    road = Road(ScriptedClient())
    queue = a_lane(1)
    queue.lease_until = clock.monotonic()
    road.drive(queue, *targets_of(1, 3))
    await road.traffic.finish()
    assert road.client.asked == []
    assert len(queue.targets) == 3


async def test_what_comes_back_for_a_lost_lane_is_dropped() -> None:
    road = Road(ScriptedClient())
    queue = a_lane(1)
    road.client.gate.clear()
    road.drive(queue, *targets_of(1, 2))
    await road.client.arrived.wait()
    road.traffic.remove(queue)
    road.client.gate.set()
    await road.traffic.finish()
    assert (road.outcomes, road.copies) == ([], [])


# Trouble ------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("hasty")
async def test_trouble_that_passes_costs_tries_but_gives_one_outcome() -> None:
    (target,) = targets_of(1, 1)
    answers: list[Answer] = [a_fetched(500), trouble(errors.ConnectionLostError), a_fetched(200)]
    road = Road(ScriptedClient({target.url: answers}))
    queue = a_lane(1)
    road.drive(queue, target)
    (outcome,) = await road.until(1)
    assert (outcome.kind, len(road.client.urls)) == (OutcomeKind.SUCCESS, 3)
    assert not queue.history


@pytest.mark.usefixtures("hasty")
async def test_trouble_that_stays_closes_the_task_and_schedules_another() -> None:
    (target,) = targets_of(1, 1)
    road = Road(ScriptedClient({target.url: [a_fetched(500)]}))
    road.drive(a_lane(1), target)
    (outcome,) = await road.until(1)
    assert (outcome.kind, outcome.retry_in_s) == (OutcomeKind.BLOCKED_5XX, 60.0)
    assert len(road.client.urls) == retry_policy.QUICK_TRIES + 1


async def test_a_page_that_is_gone_is_not_asked_for_twice() -> None:
    (target,) = targets_of(1, 1)
    road = Road(ScriptedClient({target.url: [a_fetched(404)]}))
    road.drive(a_lane(1), target)
    (outcome,) = await road.until(1)
    assert (outcome.kind, outcome.retry_in_s, len(road.client.urls)) == (OutcomeKind.BLOCKED_4XX, None, 1)


@pytest.mark.usefixtures("hasty")
async def test_a_site_that_asks_for_silence_gets_it_from_the_whole_domain() -> None:
    one, two = targets_of(1, 2)
    road = Road(ScriptedClient({one.url: [a_fetched(429, retry_after="0.3"), a_fetched(200)]}))
    road.drive(a_lane(1, max_in_flight=1), one, two)
    await road.until(2)
    moments = [at for url, at in road.client.asked if not url.endswith("robots.txt")]
    assert moments[1] - moments[0] >= 0.3
    assert all(outcome.kind is OutcomeKind.SUCCESS for outcome in road.outcomes)


async def test_a_site_that_asks_for_a_long_rest_is_left() -> None:
    (target,) = targets_of(1, 1)
    road = Road(ScriptedClient({target.url: [a_fetched(503, retry_after="3600")]}), longest_wait_s=5.0)
    queue = a_lane(1)
    road.drive(queue, target, *targets_of(1, 5, first=100))
    (outcome, *_) = await road.until(1)
    await road.until_closing(queue)
    assert queue.closing is not None
    assert (queue.closing.rest_s, queue.closing.status) == (3600.0, None)
    assert "3600" in (queue.closing.reason or "")
    assert outcome.target.task_id in {given.target.task_id for given in road.outcomes}


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(
    ("earlier", "rest_s"), [(0, 300.0), (1, 900.0), (2, 3600.0), (5, COOLDOWN_S), (99, COOLDOWN_S)]
)
async def test_a_domain_nobody_answers_for_is_left_for_longer_each_time(earlier: int, rest_s: float) -> None:
    road = Road(ScriptedClient(script(1, trouble(errors.ConnectError), count=9)))
    queue = a_lane(1, max_in_flight=1, unreachable_cooldowns=earlier)
    road.drive(queue, *targets_of(1, 9))
    await road.until_closing(queue)
    assert queue.closing is not None
    assert (queue.closing.status, queue.closing.reason_code) == ("unreachable", "connect_error")
    assert queue.closing.rest_s == rest_s
    assert len(road.outcomes) == 5


@pytest.mark.usefixtures("hasty")
async def test_one_answer_between_failures_shows_that_somebody_is_there() -> None:
    wanted = targets_of(1, 9)
    answers: dict[str, list[Answer]] = {target.url: [trouble(errors.ConnectError)] for target in wanted}
    answers[wanted[4].url] = [a_fetched(404)]
    road = Road(ScriptedClient(answers))
    queue = a_lane(1, max_in_flight=1)
    road.drive(queue, *wanted)
    await road.until(9)
    assert queue.closing is None


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(
    ("status", "code", "after"),
    [(403, "forbidden", 10), (401, "login_required", 10), (429, "rate_limited", 5), (500, "server_error", 10)],
)
async def test_a_domain_that_keeps_refusing_is_blocked_for_its_reason(status: int, code: str, after: int) -> None:
    road = Road(ScriptedClient(script(1, a_fetched(status, retry_after="0"), count=30)))
    queue = a_lane(1, max_in_flight=1)
    road.drive(queue, *targets_of(1, 30))
    await road.until_closing(queue)
    assert queue.closing is not None
    assert (queue.closing.status, queue.closing.reason_code, queue.closing.rest_s) == ("blocked", code, COOLDOWN_S)
    assert len(road.outcomes) == after


@pytest.mark.usefixtures("hasty")
async def test_refusals_before_this_lease_count_too() -> None:
    road = Road(ScriptedClient(script(1, a_fetched(403), count=9)))
    queue = a_lane(1, max_in_flight=1, error_streak_code="forbidden", errors_in_a_row=8)
    road.drive(queue, *targets_of(1, 9))
    await road.until_closing(queue)
    assert len(road.outcomes) == 2


async def test_a_private_corner_does_not_block_a_site() -> None:
    wanted = targets_of(1, 30)
    answers: dict[str, list[Answer]] = {target.url: [a_fetched(403)] for target in wanted if target.task_id % 5}
    road = Road(ScriptedClient(answers))
    queue = a_lane(1, max_in_flight=1)
    road.drive(queue, *wanted)
    await road.until(30)
    assert queue.closing is None


@pytest.mark.usefixtures("hasty")
async def test_every_request_leaves_its_evidence() -> None:
    target = targets_of(1, 1)[0]
    road = Road(ScriptedClient({target.url: [a_fetched(500), a_fetched(500), a_fetched(200, b"x")]}))
    queue = a_lane(1, delay_s=0.02)
    road.drive(queue, target)
    (outcome,) = await road.until(1)
    assert outcome.requested_at is not None
    moments = [*road.copies[0].requests, *outcome.earlier_requests, outcome.requested_at]
    assert len(moments) == len(road.client.asked) == 4
    assert all((later - earlier).total_seconds() >= 0.019 for earlier, later in pairwise(moments))
    assert (outcome.pace_ms, road.copies[0].pace_ms) == (20, 20)


# robots.txt ---------------------------------------------------------------------------------------------------------


async def test_a_site_that_forbids_everything_is_blocked_without_a_request() -> None:
    road = Road(ScriptedClient({"http://d1.example/robots.txt": [a_fetched(200, b"User-agent: *\nDisallow: /")]}))
    queue = a_lane(1)
    road.drive(queue, *targets_of(1, 3))
    outcomes = await road.until(3)
    assert {outcome.kind for outcome in outcomes} == {OutcomeKind.BLOCKED_ROBOTS}
    assert road.client.urls == []
    assert queue.closing is not None
    assert (queue.closing.status, queue.closing.reason_code) == ("blocked", "robots_denied")


@pytest.mark.usefixtures("hasty")
async def test_a_site_whose_robots_txt_cannot_be_had_is_not_crawled() -> None:
    road = Road(ScriptedClient({"http://d1.example/robots.txt": [trouble(errors.ConnectError)]}))
    queue = a_lane(1)
    road.drive(queue, *targets_of(1, 3))
    (outcome,) = await road.until(1)
    assert isinstance(outcome.error, errors.RobotsUnreachableError)
    assert (outcome.kind, outcome.retry_in_s) == (OutcomeKind.FAILED, 3600.0)
    assert road.client.urls == []
    assert queue.closing is not None
    assert (queue.closing.status, queue.closing.rest_s) == ("unreachable", 3600.0)


@pytest.mark.usefixtures("hasty")
async def test_an_origin_that_does_not_answer_leaves_the_domains_others_alone() -> None:
    """A site on http only, with one link to its https: the rest of it is crawled all the same."""
    road = Road(ScriptedClient({"https://d1.example/robots.txt": [trouble(errors.ConnectError)]}))
    queue = a_lane(1)
    plain = targets_of(1, 2)
    road.drive(queue, plain[0], a_target("https://d1.example/x", task=7, domain=1), plain[1])
    outcomes = {outcome.target.url: outcome for outcome in await road.until(3)}
    assert {outcomes[target.url].kind for target in plain} == {OutcomeKind.SUCCESS}
    refused = outcomes["https://d1.example/x"]
    assert isinstance(refused.error, errors.RobotsUnreachableError)
    assert (refused.kind, refused.retry_in_s) == (OutcomeKind.FAILED, 3600.0)
    assert queue.closing is None


async def test_an_address_the_guard_forbids_is_no_fault_of_the_domain() -> None:
    road = Road(ScriptedClient({"http://d1.example/robots.txt": [trouble(errors.AddressBlockedError)]}))
    queue = a_lane(1)
    road.drive(queue, *targets_of(1, 3))
    outcomes = await road.until(3)
    assert {(outcome.kind, outcome.retry_in_s) for outcome in outcomes} == {(OutcomeKind.FAILED, None)}
    assert {type(outcome.error) for outcome in outcomes} == {errors.AddressBlockedError}
    assert (queue.closing, road.client.urls) == (None, [])


async def test_robots_txt_may_ask_for_a_slower_pace() -> None:
    body = b"User-agent: *\nCrawl-delay: 0.1"
    road = Road(ScriptedClient({"http://d1.example/robots.txt": [a_fetched(200, body)]}))
    road.drive(a_lane(1, delay_s=0.01), *targets_of(1, 2))
    await road.until(2)
    moments = [at for _, at in road.client.asked]
    assert min(later - earlier for earlier, later in pairwise(moments)) >= 0.099


# Stopping -----------------------------------------------------------------------------------------------------------


async def test_a_request_to_stop_lets_open_requests_finish_and_starts_no_other() -> None:
    road = Road(ScriptedClient())
    queue = a_lane(1, max_in_flight=2)
    queue.robots.save("http://d1.example", robots.parse("").rules_for("Forager"))
    road.client.gate.clear()
    road.drive(queue, *targets_of(1, 9))
    road.stop.ask()
    finishing = asyncio.create_task(road.traffic.finish())
    await road.client.arrived.wait()
    road.client.gate.set()
    await finishing
    assert len(road.outcomes) == 2
    assert len(queue.targets) == 7


async def test_insisting_cuts_open_requests_off() -> None:
    road = Road(ScriptedClient())
    road.client.gate.clear()
    road.drive(a_lane(1), *targets_of(1, 9))
    await road.client.arrived.wait()
    road.stop.stop_now()
    await asyncio.wait_for(road.traffic.finish(), 5)
    assert road.outcomes == []


async def test_a_stopping_lane_sets_no_alarm_that_would_ring_for_nothing() -> None:
    road = Road(ScriptedClient())
    queue = a_lane(1, delay_s=0.01)
    road.stop.ask()
    road.drive(queue, *targets_of(1, 3))
    assert road.traffic._timers == {}


async def wait_for_a_turn(road: Road, queue: DomainQueue) -> None:
    """Until its robots.txt could not be had, and is to be asked for again in an hour."""
    road.drive(queue, *targets_of(1, 3))
    await road.client.arrived.wait()
    while queue.pace.in_flight:  # noqa: ASYNC110
        await asyncio.sleep(0)


def a_slow_road() -> Road:
    answers: dict[str, list[Answer]] = {"http://d1.example/robots.txt": [a_fetched(503)]}
    return Road(ScriptedClient(answers), longest_wait_s=9999.0)


@pytest.mark.usefixtures("hasty")
async def test_a_stop_does_not_wait_for_a_turn_to_ask_for_robots_txt() -> None:
    road, queue = a_slow_road(), a_lane(1, delay_s=3600.0)
    await wait_for_a_turn(road, queue)
    assert queue.is_fetching_robots
    road.stop.ask()
    await asyncio.wait_for(road.traffic.finish(), 5)
    assert len(road.client.asked) == 1
    assert (len(queue.targets), road.outcomes, road.copies) == (3, [], [])


@pytest.mark.usefixtures("hasty")
async def test_a_lease_that_ends_does_not_wait_for_it_either() -> None:
    road, queue = a_slow_road(), a_lane(1, delay_s=3600.0)
    await wait_for_a_turn(road, queue)
    queue.close(Release(queue.lease, wait_s=3600.0))
    while queue.is_fetching_robots:
        await road.stirred()
    assert queue.is_over
    assert len(road.client.asked) == 1


@pytest.mark.usefixtures("hasty")
async def test_a_turn_that_nobody_waits_for_ends_the_lease() -> None:
    road, queue = a_slow_road(), a_lane(1, delay_s=99_999.0)
    await wait_for_a_turn(road, queue)
    await road.until_closing(queue)
    assert queue.closing is not None
    assert queue.closing.rest_s > 99_000
    assert "waits until" in (queue.closing.reason or "")
    assert (queue.closing.status, road.outcomes, len(road.client.asked)) == (None, [], 1)


async def test_a_failure_at_a_pace_nobody_waits_for_is_recorded_and_tried_later() -> None:
    (target,) = targets_of(1, 1)
    road = Road(ScriptedClient({target.url: [a_fetched(500)]}), longest_wait_s=5.0)
    queue = known(a_lane(1, delay_s=3600.0))
    road.drive(queue, target, *targets_of(1, 2, first=2))
    (outcome,) = await road.until(1)
    await road.until_closing(queue)
    assert (outcome.kind, outcome.retry_in_s, len(road.client.asked)) == (OutcomeKind.BLOCKED_5XX, 60.0, 1)


@pytest.mark.usefixtures("hasty")
async def test_rules_that_grew_old_and_cannot_be_refreshed_are_asked_for_once() -> None:
    """Without rules nothing may be asked (RFC 9309); the pages say so instead of waiting for ever."""
    road = Road(ScriptedClient({"http://d1.example/robots.txt": [trouble(errors.ConnectError)] * 9}))
    queue = a_lane(1)
    queue.robots.save("http://d1.example", robots.parse("").rules_for("Forager"), 0.0)
    road.drive(queue, *targets_of(1, 3))
    outcomes = await road.until(3)
    assert {outcome.error.code for outcome in outcomes if outcome.error} == {"robots_unreachable"}
    assert [url for url, _ in road.client.asked] == ["http://d1.example/robots.txt"] * 3


# A crowd ------------------------------------------------------------------------------------------------------------


async def open_up(road: Road, count: int) -> None:
    """Until so many requests for pages are open."""
    while road.client.open < count:
        road.client.arrived.clear()
        await asyncio.wait_for(road.client.arrived.wait(), 5)


def known(queue: DomainQueue) -> DomainQueue:
    """With its robots.txt, so that no request is made for it."""
    domain = queue.lease.domain_id
    queue.robots.save(f"http://d{domain}.example", robots.parse("").rules_for("Forager"))
    return queue


async def test_servers_that_keep_us_waiting_do_not_take_all_requests() -> None:
    """Each has one open in a crowd; a prompt site goes on beside them with several."""
    road = Road(ScriptedClient(), max_requests_in_flight=64)
    road.client.gate.clear()
    for domain in range(1, 80):
        road.drive(known(a_lane(domain, max_in_flight=5)), *targets_of(domain, 5))
    await open_up(road, 56)
    prompt = known(a_lane(90, max_in_flight=5, response_s=0.1))
    road.drive(prompt, *targets_of(90, 5))
    await open_up(road, 61)
    asked = [url for url in road.client.urls if "//d90." in url]
    assert len(asked) == 5
    road.client.gate.set()
    outcomes = await road.until(79 * 5 + 5)
    assert len({outcome.target.task_id for outcome in outcomes}) == 400


async def test_a_crowd_of_prompt_sites_does_not_shut_a_new_one_out() -> None:
    road = Road(ScriptedClient(), max_requests_in_flight=32)
    busy = [known(a_lane(domain, max_in_flight=16, response_s=0.1)) for domain in range(1, 5)]
    for queue in busy:
        road.drive(queue, *targets_of(queue.lease.domain_id, 300))
    road.drive(known(a_lane(9)), *targets_of(9, 3))
    await road.until(1200 + 3)
    last = max(number for number, outcome in enumerate(road.outcomes) if outcome.target.domain_id == 9)
    assert last < 600


async def test_a_lane_that_was_forgotten_leaves_all_lines() -> None:
    road = Road(ScriptedClient(), max_requests_in_flight=24)
    road.client.gate.clear()
    queues = [known(a_lane(domain)) for domain in range(1, 40)]
    for queue in queues:
        road.drive(queue, *targets_of(queue.lease.domain_id, 2))
    await open_up(road, 21)
    assert any(road.traffic._waiting.values())
    for queue in queues:
        road.traffic.remove(queue)
    road.client.gate.set()
    await road.traffic.finish()
    assert not any(road.traffic._waiting.values())
    assert road.traffic._slots.taken == 0
