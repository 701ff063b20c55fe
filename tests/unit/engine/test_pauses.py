"""Pauses: a fault of our own stops requests that need what is missing, and nothing else."""

import asyncio

import pytest
from tests.builders import a_lane
from tests.unit.engine.road import Road, targets_of
from tests.unit.engine.scripted import ScriptedClient

from forager.engine.domain_queue import DomainQueue
from forager.engine.pauses import Pauses
from forager.records import PauseReason, describe_pause

pytestmark = pytest.mark.timeout(20)


def test_the_pause_that_began_first_is_the_one_that_is_told() -> None:
    pauses, changes = Pauses(), []
    pauses.on_change(lambda: changes.append(pauses.current))
    pauses.begin(PauseReason.NO_PARSER, "exit code 1")
    pauses.begin(PauseReason.NETWORK_DOWN, "no route")
    pauses.begin(PauseReason.NETWORK_DOWN, "no route")
    assert pauses.current is not None
    assert (pauses.current.reason, pauses.current.detail) == (PauseReason.NO_PARSER, "exit code 1")
    pauses.end(PauseReason.NO_PARSER)
    assert pauses.current is not None
    assert pauses.current.reason is PauseReason.NETWORK_DOWN
    pauses.end(PauseReason.NETWORK_DOWN)
    assert len(changes) == 4
    assert changes[-1] is None


def test_a_newer_detail_keeps_the_beginning() -> None:
    pauses = Pauses()
    pauses.begin(PauseReason.NO_PARSER, "exit code 1")
    first = pauses.current
    pauses.begin(PauseReason.NO_PARSER, "exit code 2")
    assert first is not None
    assert pauses.current is not None
    assert (pauses.current.detail, pauses.current.since) == ("exit code 2", first.since)


def test_a_pause_is_described_in_words() -> None:
    assert describe_pause("store_unavailable", "No space left") == "bodies cannot be stored (No space left)"
    assert describe_pause("moon_phase", None) == "moon phase"


async def test_no_request_starts_while_paused_and_all_start_afterwards() -> None:
    road = Road(ScriptedClient())
    road.pauses.begin(PauseReason.NO_PARSER, "exit code 1")
    for domain in (1, 2):
        road.drive(a_lane(domain), *targets_of(domain, 5))
    await asyncio.sleep(0)
    assert road.client.asked == []
    road.pauses.end(PauseReason.NO_PARSER)
    assert len(await road.until(10)) == 10


async def test_without_a_store_only_domains_that_store_something_wait() -> None:
    road = Road(ScriptedClient())
    road.pauses.begin(PauseReason.STORE_UNAVAILABLE, "full")
    stores, drops = a_lane(1, content_policy="snapshot"), a_lane(2)
    road.drive(stores, *targets_of(1, 3))
    road.drive(drops, *targets_of(2, 3))
    assert {outcome.target.domain_id for outcome in await road.until(3)} == {2}
    assert len(stores.targets) == 3
    road.pauses.end(PauseReason.STORE_UNAVAILABLE)
    await road.until(6)


async def test_a_lane_that_is_lost_while_paused_is_forgotten() -> None:
    road = Road(ScriptedClient())
    road.pauses.begin(PauseReason.NETWORK_DOWN, "no route")
    queue: DomainQueue = a_lane(1)
    road.drive(queue, *targets_of(1, 3))
    road.traffic.remove(queue)
    road.pauses.end(PauseReason.NETWORK_DOWN)
    await road.traffic.finish()
    assert road.client.asked == []
