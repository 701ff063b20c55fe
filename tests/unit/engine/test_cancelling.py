"""A worker's loops can be cancelled at any moment: one that swallows it would keep a stopped worker alive for ever."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.builders import a_success, a_target, an_order
from tests.unit.engine.scripted import ScriptedClient, a_pipeline

from forager.domains.store import RobotsCopy
from forager.engine.stop import StopRequest
from forager.engine.worker import Services, Worker
from forager.engine.write_buffer import WriteBuffer

NO_DATABASE: Any = None


def pausing() -> tuple[Coroutine[Any, Any, None], Callable[[], None]]:
    worker = Worker(NO_DATABASE, an_order(), a_pipeline(ScriptedClient()), Services(), StopRequest())
    return worker._pause(), worker._queues.wake


def gathering() -> tuple[Coroutine[Any, Any, None], Callable[[], None]]:
    buffer = WriteBuffer(an_order(batch_pages=1, batch_interval_s=60).buffer)
    buffer.add_robots(RobotsCopy(1, "http://a.example", None, 404, None, 60.0))

    async def gather() -> None:
        await buffer.wait_batch()
        await asyncio.sleep(60)

    return gather(), lambda: buffer.add(a_success(a_target()))


@pytest.mark.parametrize("make", [pausing, gathering])
@pytest.mark.parametrize("steps", range(6))
async def test_a_cancellation_is_never_swallowed(make: Any, steps: int) -> None:
    """Also not when what is waited for happens in the very same moment."""
    work, happen = make()
    task = asyncio.create_task(work)
    for _ in range(3):
        await asyncio.sleep(0)
    happen()
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task}, timeout=5)
    assert task.cancelled()
