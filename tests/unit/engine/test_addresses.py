"""Turns at one server: whoever waits is called, whenever the clock is looked at."""

import asyncio
from itertools import chain, repeat

import pytest

from forager import clock
from forager.engine.addresses import Addresses
from forager.engine.config import RequestLimits

SERVER = "192.0.2.1"


class Nowhere:
    async def locate(self, _url: str) -> str | None:
        return None


def with_delay(delay_s: float, most: int | None = None) -> Addresses:
    return Addresses(Nowhere(), RequestLimits(64, most, delay_s))


async def test_a_turn_that_comes_between_two_looks_at_the_clock_is_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was too early when it asked, and not any more when the alarm was to be set: nobody would have called it."""
    addresses = with_delay(0.015)
    addresses.start(SERVER, "before", 0.0)
    addresses.sent(SERVER, 0.0)
    looks = chain([0.0149], repeat(0.0151))
    monkeypatch.setattr(clock, "monotonic", lambda: next(looks))
    await asyncio.wait_for(addresses.turn(SERVER, "late"), 5)


async def test_an_alarm_that_comes_too_early_rings_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop's timers are rounded to milliseconds. It is still too early for those who wait, and a moment later not."""
    addresses = with_delay(0.015)
    addresses.start(SERVER, "before", 0.0)
    addresses.sent(SERVER, 0.0)
    looks = chain([0.0140, 0.0140, 0.0149], repeat(0.0151))
    monkeypatch.setattr(clock, "monotonic", lambda: next(looks))
    await asyncio.wait_for(addresses.turn(SERVER, "late"), 5)


async def test_who_waits_for_a_place_is_called_when_one_is_free() -> None:
    addresses = with_delay(0.0, most=1)
    await addresses.turn(SERVER, "first")
    second = asyncio.create_task(addresses.turn(SERVER, "second"))
    third = asyncio.create_task(addresses.turn(SERVER, "third"))
    await asyncio.sleep(0)
    addresses.sent(SERVER, clock.monotonic())
    await asyncio.sleep(0)
    assert not second.done()
    addresses.finish(SERVER, has_left=True)
    await asyncio.wait_for(second, 5)
    assert not third.done()
    addresses.finish(SERVER, has_left=False)
    await asyncio.wait_for(third, 5)


async def test_nobody_stands_behind_one_who_went_away() -> None:
    addresses = with_delay(0.01)
    await addresses.turn(SERVER, "first")
    gone = asyncio.create_task(addresses.turn(SERVER, "gone"))
    waiting = asyncio.create_task(addresses.turn(SERVER, "waiting"))
    await asyncio.sleep(0)
    gone.cancel()
    addresses.sent(SERVER, clock.monotonic())
    await asyncio.wait_for(waiting, 5)
    assert gone.cancelled()
