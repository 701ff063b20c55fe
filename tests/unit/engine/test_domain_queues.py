"""The queues a worker holds: by domain, and by the lease they were opened for."""

import asyncio

from tests.builders import a_lane, queues_of


def test_a_queue_is_found_by_its_own_lease_only() -> None:
    older, newer = a_lane(1, version=1), a_lane(1, version=3)
    queues = queues_of(7, older)
    assert queues.find((1, 1)) is older
    queues.add(newer)
    assert (queues.find((1, 1)), queues.find((1, 3)), len(queues)) == (None, newer, 1)


def test_a_queue_whose_domain_was_leased_again_is_not_removed_in_its_place() -> None:
    older, newer = a_lane(1, version=1), a_lane(1, version=3)
    queues = queues_of(7, newer)
    assert not queues.remove(older)
    assert queues.remove(newer)
    assert (list(queues), queues.get(1)) == ([], None)


async def test_a_loop_that_waits_is_woken_once() -> None:
    queues = queues_of()
    waiting = asyncio.create_task(queues.wait_for_wake())
    await asyncio.sleep(0)
    assert not waiting.done()
    queues.wake()
    await asyncio.wait_for(waiting, 5)
    queues.clear_wake()
    again = asyncio.create_task(queues.wait_for_wake())
    await asyncio.sleep(0)
    assert not again.done()
    again.cancel()
