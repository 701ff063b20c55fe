"""A worker's loops can be cancelled at any moment: one that swallows it would keep a stopped worker alive for ever."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.builders import a_success, a_target, an_order
from tests.unit.engine.scripted import ScriptedClient, some_tools

from forager.engine.stop import StopRequest
from forager.engine.worker import Worker
from forager.engine.writer import Writer

NO_DATABASE: Any = None


def pausing() -> tuple[Coroutine[Any, Any, None], Callable[[], None]]:
    worker = Worker(NO_DATABASE, an_order(), some_tools(ScriptedClient()), StopRequest())
    return worker._pause(), worker._stir.set


def gathering() -> tuple[Coroutine[Any, Any, None], Callable[[], None]]:
    order = an_order(batch_pages=1, batch_ms=60_000)
    writer = Writer(NO_DATABASE, order, worker=lambda: 1, queues={}, on_recorded=lambda _written, _held: None)

    async def gather() -> None:
        await writer.batches._wait_for_more()
        await asyncio.sleep(60)

    return gather(), lambda: writer.batches.add(a_success(a_target()))


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
