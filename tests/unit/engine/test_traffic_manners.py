"""How traffic spares servers: distance between the moments requests leave, breakers, addresses, and its own limits."""

import asyncio
from collections.abc import Callable
from itertools import pairwise

import pytest
from tests.builders import a_fetched, a_lane, a_target
from tests.unit.engine.road import Road, hasty, script, targets_of
from tests.unit.engine.scripted import Answer, ScriptedClient, trouble

from forager import clock, errors
from forager.engine.dispatcher import Dispatcher
from forager.frontier.models import OutcomeKind
from forager.politeness.breaker import BreakerState
from forager.politeness.throttle import LatencyTracker
from forager.robots import rules as robots

__all__ = ["hasty"]
pytestmark = pytest.mark.timeout(20)


def moments(client: ScriptedClient) -> list[float]:
    return [at for _, at in client.asked]


def gaps(client: ScriptedClient) -> list[float]:
    """None was shorter than this says: a busy machine sees a request a while after it left."""
    return [later - earlier for earlier, later in zip(client.ready[:-1], moments(client)[1:], strict=True)]


# The moment of leaving ----------------------------------------------------------------------------------------------


async def test_a_slow_dial_brings_no_request_closer_to_the_next() -> None:
    """Every other connection takes longer than the delay: started on time, those requests leave late."""
    client = ScriptedClient()
    dials = 0

    async def dial(_url: str) -> None:
        nonlocal dials
        dials += 1
        await asyncio.sleep(0.07 if dials % 2 else 0.0)

    client.dial = dial
    road = Road(client)
    road.drive(a_lane(1, delay_s=0.05, max_in_flight=5), *targets_of(1, 6))
    outcomes = await road.until(6)
    assert min(gaps(client)) >= 0.049
    said = sorted(outcome.requested_at for outcome in outcomes if outcome.requested_at)
    assert min((later - earlier).total_seconds() for earlier, later in pairwise(said)) >= 0.049


async def test_what_is_written_is_the_moment_of_leaving() -> None:
    client = ScriptedClient()
    started = asyncio.Event()

    async def dial(url: str) -> None:
        if not url.endswith("robots.txt"):
            started.set()
            await asyncio.sleep(0.1)

    client.dial = dial
    road = Road(client)
    road.drive(a_lane(1, delay_s=0.01), *targets_of(1, 1))
    await started.wait()
    before = clock.now()
    (outcome,) = await road.until(1)
    assert outcome.requested_at is not None
    assert (outcome.requested_at - before).total_seconds() >= 0.09
    assert outcome.waited_s is not None
    assert outcome.waited_s < 0.09


async def test_a_connection_that_cannot_be_had_counts_from_its_first_moment() -> None:
    client = ScriptedClient()

    async def dial(url: str) -> None:
        if url.endswith("/1"):
            raise errors.TlsError("nobody we trust")

    client.dial = dial
    road = Road(client)
    road.drive(a_lane(1, delay_s=0.05), *targets_of(1, 2))
    outcomes = await road.until(2)
    tried, asked = (outcome.requested_at for outcome in outcomes)
    assert tried
    assert asked
    assert (asked - tried).total_seconds() >= 0.049
    assert [outcome.waited_s is None for outcome in outcomes] == [True, False]


async def test_a_request_whose_lease_ended_while_it_dialled_does_not_leave() -> None:
    client = ScriptedClient()
    queue = a_lane(1, delay_s=0.01)
    queue.robots.save("http://d1.example", robots.parse("").rules_for("Forager"))

    async def dial(_url: str) -> None:
        queue.lease_until = clock.monotonic()

    client.dial = dial
    road = Road(client)
    road.drive(queue, *targets_of(1, 2))
    await road.traffic.finish()
    assert (client.asked, road.outcomes) == ([], [])
    assert [target.url for target in queue.targets] == [target.url for target in targets_of(1, 2)]


# Slow servers -------------------------------------------------------------------------------------------------------


async def test_a_server_that_slows_down_is_asked_less_often_and_the_evidence_says_so() -> None:
    client = ScriptedClient()
    road = Road(client)
    queue = a_lane(1, delay_s=0.01, max_in_flight=1)
    queue.robots.save("http://d1.example", robots.parse("").rules_for("Forager"))
    queue.pace.tempo = LatencyTracker(normal_s=0.001)
    client.gate.clear()
    road.drive(queue, *targets_of(1, 3))
    await client.arrived.wait()
    asyncio.get_running_loop().call_later(0.1, client.gate.set)
    outcomes = await road.until(3)
    paces = [outcome.pace_ms for outcome in outcomes if outcome.pace_ms is not None]
    assert paces[0] == 10
    assert paces[1] > 40  # two more seconds for each that it took too long
    assert paces[2] < paces[1]  # and less again, as it answers faster
    for gap_s, pace_ms in zip(gaps(client), paces, strict=False):
        assert gap_s * 1000 >= pace_ms - 1


@pytest.mark.usefixtures("hasty")
async def test_of_several_tries_nothing_is_promised_that_was_not_in_force_for_the_first() -> None:
    """The history has one distance for all requests of a task."""
    client = ScriptedClient({targets_of(1, 1)[0].url: [a_fetched(500), a_fetched(200)]})
    road = Road(client)
    queue = a_lane(1, delay_s=0.01)
    queue.robots.save("http://d1.example", robots.parse("").rules_for("Forager"))
    queue.pace.tempo = LatencyTracker(normal_s=1e-6)
    client.gate.clear()
    road.drive(queue, *targets_of(1, 1))
    await client.arrived.wait()
    asyncio.get_running_loop().call_later(0.05, client.gate.set)
    (outcome,) = await road.until(1)
    assert (len(outcome.earlier_requests), outcome.pace_ms) == (1, 10)
    assert gaps(client)[0] > 0.03
    assert not queue.history


async def test_a_server_that_times_out_counts_as_slow() -> None:
    road = Road(ScriptedClient({targets_of(1, 1)[0].url: [trouble(errors.VisitTimeoutError)]}))
    queue = a_lane(1, delay_s=0.01)
    queue.pace.tempo = LatencyTracker(normal_s=1e-6)
    road.drive(queue, *targets_of(1, 1))
    while not queue.history:  # noqa: ASYNC110 (a queue has no event for a try)
        await asyncio.sleep(0)
    assert queue.pace.delay_s > 0.01


# The breaker --------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(
    "answer", [a_fetched(500), trouble(errors.ConnectionLostError), trouble(errors.VisitTimeoutError)], ids=str
)
async def test_after_five_failed_requests_nothing_leaves_until_the_pause_is_over(answer: Answer) -> None:
    road = Road(ScriptedClient(script(1, answer, count=9)))
    queue = a_lane(1, max_in_flight=1, breaker_reset_s=0.3)
    road.drive(queue, *targets_of(1, 9))
    await road.until(2)
    assert len(road.client.urls) == 5
    assert queue.breaker.state is BreakerState.OPEN
    assert road.outcomes[1].retry_in_s == 60.0  # closed at once: another quick try would be one too many
    while len(road.client.urls) < 6:
        road.client.arrived.clear()
        await road.client.arrived.wait()
    assert gaps(road.client)[5] >= 0.299


async def test_a_half_open_breaker_lets_one_request_through_at_a_time_and_closes_after_two() -> None:
    road = Road(ScriptedClient())
    queue = a_lane(1, max_in_flight=5, breaker_reset_s=60.0)
    queue.robots.save("http://d1.example", robots.parse("").rules_for("Forager"))
    queue.breaker.resume("open", 5, opened_at=clock.monotonic() - 60.0)
    road.client.gate.clear()
    road.drive(queue, *targets_of(1, 8))
    await road.client.arrived.wait()
    assert (road.client.open, queue.breaker.state) == (1, BreakerState.HALF_OPEN)
    road.client.gate.set()
    await road.until(1)
    assert road.client.most_open == 1
    await road.until(8)
    assert (road.client.most_open > 1, queue.breaker.state) == (True, BreakerState.CLOSED)


@pytest.mark.usefixtures("hasty")
async def test_a_pause_that_is_longer_than_anybody_waits_gives_the_domain_back() -> None:
    road = Road(ScriptedClient(script(1, trouble(errors.ConnectionLostError), count=9)), longest_wait_s=5.0)
    queue = a_lane(1, max_in_flight=1, breaker_reset_s=60.0)
    road.drive(queue, *targets_of(1, 9))
    await road.until_closing(queue)
    assert queue.closing is not None
    assert queue.closing.status is None
    assert 59 < queue.closing.rest_s <= 60
    assert "5 requests in a row failed" in (queue.closing.reason or "")
    standing = queue.standing(clock.monotonic())
    assert (standing.breaker_state, standing.breaker_failures) == ("open", 5)
    assert 59 < standing.wait_s <= 60


@pytest.mark.usefixtures("hasty")
async def test_pages_that_are_gone_or_forbidden_are_no_failures() -> None:
    answers: dict[str, list[Answer]] = {
        target.url: [a_fetched(404 if target.task_id % 2 else 403)] for target in targets_of(1, 12)
    }
    road = Road(ScriptedClient(answers))
    queue = a_lane(1, max_in_flight=1, breaker_reset_s=60.0)
    road.drive(queue, *targets_of(1, 12))
    await road.until(12)
    assert (queue.breaker.state, queue.breaker.failures) == (BreakerState.CLOSED, 0)


@pytest.mark.usefixtures("hasty")
async def test_a_broken_proxy_and_our_own_bugs_are_no_failures_of_the_server() -> None:
    answers: list[Answer] = [trouble(errors.ProxyError), ZeroDivisionError("a bug")]
    wanted = targets_of(1, 10)
    road = Road(ScriptedClient({target.url: [answers[number % 2]] for number, target in enumerate(wanted)}))
    queue = a_lane(1, max_in_flight=1, breaker_reset_s=60.0)
    road.drive(queue, *wanted)
    await road.until(10)
    assert (queue.breaker.state, queue.breaker.failures) == (BreakerState.CLOSED, 0)


@pytest.mark.usefixtures("hasty")
async def test_three_failures_for_robots_txt_and_other_origins_are_not_asked_for_theirs() -> None:
    """The domain has one origin that answers; of the others one is tried, and the next one is spared."""
    silent: dict[str, list[Answer]] = {
        f"http://d1.example:{port}/robots.txt": [trouble(errors.ConnectError)] for port in (81, 82)
    }
    road = Road(ScriptedClient(silent))
    queue = a_lane(1, max_in_flight=1)
    others = [a_target(f"http://d1.example:{port}/x", task=port, domain=1) for port in (81, 82)]
    road.drive(queue, *targets_of(1, 1), *others)
    outcomes = await road.until(3)
    assert [outcome.error and outcome.error.code for outcome in outcomes] == [
        None,
        "robots_unreachable",
        "robots_unreachable",
    ]
    assert {url for url, _ in road.client.asked if ":82/" in url} == set()
    assert queue.robots.breaker.state is BreakerState.OPEN


# One server, many hosts ---------------------------------------------------------------------------------------------


async def test_hosts_on_one_address_share_its_cap() -> None:
    client = ScriptedClient()
    road = Road(client, max_requests_per_ip=2)
    for domain in range(1, 7):
        road.drive(a_lane(domain, delay_s=0.001), *targets_of(domain, 4))
    await road.until(24)
    assert client.most_open <= 2


async def test_hosts_on_one_address_share_its_pace_robots_txt_counted() -> None:
    client = ScriptedClient()
    road = Road(client, delay_per_ip_s=0.02)
    for domain in range(1, 5):
        road.drive(a_lane(domain, delay_s=0.001), *targets_of(domain, 2))
    outcomes = await road.until(8)
    assert len(client.asked) == 12
    assert min(gaps(client)) >= 0.019
    first_four = {outcome.target.domain_id for outcome in outcomes[:4]}
    assert len(first_four) >= 3  # they take turns


async def test_hosts_on_different_addresses_do_not_wait_for_each_other() -> None:
    client = ScriptedClient()
    client.places = {f"d{domain}.example": f"192.0.2.{domain}" for domain in range(1, 5)}
    road = Road(client, delay_per_ip_s=0.1)
    for domain in range(1, 5):
        road.drive(a_lane(domain, delay_s=0.001), *targets_of(domain, 1))
    await road.until(4)
    assert min(gaps(client)) < 0.05


async def test_an_unpaced_host_and_one_without_an_address_are_exempt() -> None:
    client = ScriptedClient()
    client.places = {"d2.example": None}
    road = Road(client, delay_per_ip_s=60.0, max_requests_per_ip=1)
    road.drive(a_lane(1), *targets_of(1, 5))
    road.drive(a_lane(2, delay_s=0.001), *targets_of(2, 5))
    await road.until(10)


async def test_a_lane_that_was_lost_while_it_waited_for_an_address_keeps_nobody_waiting() -> None:
    client = ScriptedClient()
    road = Road(client, max_requests_per_ip=1)
    queues = [a_lane(domain, delay_s=0.001) for domain in (1, 2, 3)]
    for queue in queues:
        queue.robots.save(f"http://d{queue.lease.domain_id}.example", robots.parse("").rules_for("Forager"))
    client.gate.clear()
    for queue in queues:
        road.drive(queue, *targets_of(queue.lease.domain_id, 2))
    await client.arrived.wait()
    road.traffic.remove(queues[1])
    client.gate.set()
    outcomes = await road.until(4)
    assert {outcome.target.domain_id for outcome in outcomes} == {1, 3}


# Room for what comes back -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("go_on", [Dispatcher.start_waiting, Dispatcher.resume])
async def test_no_request_leaves_whose_answer_could_not_be_kept(go_on: Callable[[Dispatcher], None]) -> None:
    road = Road(ScriptedClient())
    road.room = 7
    for domain in (1, 2):
        road.drive(a_lane(domain), *targets_of(domain, 20))
    await road.until(6)
    await road.traffic.finish()
    assert len(road.outcomes) <= 7
    assert len(road.client.urls) == len(road.outcomes)
    road.room = 1_000_000
    go_on(road.traffic)
    await road.until(40)
    assert all(outcome.kind is OutcomeKind.SUCCESS for outcome in road.outcomes)


async def test_lanes_that_resume_let_others_have_a_turn_between() -> None:
    """What is written next is not to wait until all of them have started."""
    road = Road(ScriptedClient())
    road.room = 0
    for domain in range(1, 9):
        queue = a_lane(domain)
        queue.robots.save(f"http://d{domain}.example", robots.parse("").rules_for("Forager"))
        road.drive(queue, *targets_of(domain, 2))
    road.room = 1_000_000
    road.client.gate.clear()
    road.traffic.resume()
    started = [len(road.client.urls)]
    while started[-1] < 16:
        await asyncio.sleep(0)
        started.append(len(road.client.urls))
    assert max(later - earlier for earlier, later in pairwise(started)) == 2
    road.client.gate.set()
    await road.until(16)
