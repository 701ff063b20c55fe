"""Hints in a worker's hands: every one is answered for, and a broker that is away is not waited for."""

import asyncio

import pytest

from forager import clock
from forager.dispatch import inbox as module
from forager.dispatch.inbox import GRACE_S, HOLD_S, OVERDUE_S, PATIENCE_S, MessageInbox, MessageReply
from forager.dispatch.message import CrawlHint


class Time:
    now = 1000.0


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    moment = Time()
    monkeypatch.setattr(clock, "monotonic", lambda: moment.now)
    return moment


@pytest.fixture
def given() -> list[tuple[str, MessageReply]]:
    return []


@pytest.fixture
def inbox(time: Time, given: list[tuple[str, MessageReply]]) -> MessageInbox:
    made = MessageInbox(lambda key, verdict: given.append((key, verdict)))
    made.come()
    return made


def test_hints_are_taken_in_the_order_they_came_and_as_far_as_there_is_room(inbox: MessageInbox) -> None:
    for number in range(3):
        inbox.put(str(number), CrawlHint(1, number, 0))
    assert [offer.key for offer in inbox.take(2)] == ["0", "1"]
    assert [offer.key for offer in inbox.take(2)] == ["2"]


def test_the_urgent_are_taken_first_and_the_others_in_the_order_they_came(inbox: MessageInbox) -> None:
    for number in range(6):
        inbox.put(str(number), CrawlHint(1, number, 0), number in {2, 5})
    assert [offer.key for offer in inbox.take(3)] == ["2", "5", "0"]
    assert [offer.key for offer in inbox.take(5)] == ["1", "3", "4"]


def test_closed_it_gives_back_what_waits_and_what_still_comes(time: Time) -> None:
    said: list[object] = []
    inbox = MessageInbox(lambda key, verdict: said.append((key, verdict)), lambda: said.append("listens no more"))
    inbox.put("a", CrawlHint(1, 1, 0))
    (taken,) = inbox.take(1)
    inbox.put("b", CrawlHint(1, 2, 0))
    inbox.close()
    inbox.put("c", CrawlHint(1, 3, 0))
    assert said == ["listens no more", ("b", MessageReply.LATER), ("c", MessageReply.LATER)]
    assert inbox.take(5) == []
    inbox.settle([taken], MessageReply.DONE)
    assert said[-1] == ("a", MessageReply.DONE)


def test_what_a_full_worker_has_in_hand_for_long_goes_back(
    inbox: MessageInbox, time: Time, given: list[tuple[str, MessageReply]]
) -> None:
    inbox.put("a", CrawlHint(1, 1, 0))
    assert inbox.take(0) == []
    assert given == []
    time.now += HOLD_S
    assert inbox.take(0) == []
    assert given == [("a", MessageReply.LATER)]
    assert inbox.take(5) == []


async def test_somebody_elses_share_goes_back_after_a_while(
    inbox: MessageInbox, given: list[tuple[str, MessageReply]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HOLD_S", 0.0)
    inbox.put("a", CrawlHint(1, 1, 0))
    inbox.hold(inbox.take(1))
    assert given == []
    await asyncio.sleep(0.01)
    assert given == [("a", MessageReply.LATER)]


def test_a_broker_that_is_away_is_done_without_after_a_moment(inbox: MessageInbox, time: Time) -> None:
    inbox.go()
    assert not inbox.should_poll()
    time.now += GRACE_S
    assert inbox.should_poll()
    assert inbox.should_poll()
    inbox.come()
    assert not inbox.should_poll()


def test_now_and_then_a_worker_looks_for_itself_whatever_it_hears(inbox: MessageInbox, time: Time) -> None:
    """The other hints may be in the hands of somebody who never answers."""
    for _ in range(2):
        time.now += PATIENCE_S / 2
        inbox.put("a", CrawlHint(1, 1, 0))
        assert not inbox.should_poll()
        time.now += PATIENCE_S / 2
        inbox.put("b", CrawlHint(1, 2, 0))
        assert inbox.should_poll()
        assert not inbox.should_poll()


def test_an_idle_worker_that_is_not_told_of_what_is_ready_looks_for_itself(inbox: MessageInbox, time: Time) -> None:
    inbox.see(is_ready=True)
    time.now += OVERDUE_S / 2
    inbox.see(is_ready=True)
    assert not inbox.should_poll()
    time.now += OVERDUE_S / 2
    assert inbox.should_poll()
    assert not inbox.should_poll()


def test_hints_that_only_others_can_use_keep_no_idle_worker_waiting(inbox: MessageInbox, time: Time) -> None:
    inbox.see(is_ready=True)
    for _ in range(2):
        inbox.put("a", CrawlHint(1, 1, 0))
        time.now += OVERDUE_S / 2
    assert inbox.should_poll()


def test_who_claims_or_sees_nothing_ready_waits_on(inbox: MessageInbox, time: Time) -> None:
    inbox.see(is_ready=True)
    inbox.succeed()
    time.now += OVERDUE_S
    assert not inbox.should_poll()
    inbox.see(is_ready=True)
    inbox.see(is_ready=False)
    time.now += OVERDUE_S
    assert not inbox.should_poll()


def test_hints_of_a_lost_connection_are_forgotten(inbox: MessageInbox) -> None:
    inbox.put("a", CrawlHint(1, 1, 0))
    inbox.go()
    assert inbox.take(5) == []
