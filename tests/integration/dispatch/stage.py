"""A crawl in one process that hears of its domains through a real RabbitMQ."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from tests.builders import an_order
from tests.integration.engine.stage import Stage, build_services, open_pipeline
from tests.integration.scheduler.stage import a_context
from tests.queues import BROKER, Queues

from forager import clock
from forager.dispatch.broker import Broker, open_broker
from forager.dispatch.errors import BrokerUnavailableError
from forager.dispatch.jobs import DispatchJob
from forager.dispatch.listener import QueueListener, open_listener
from forager.engine.stop import StopRequest
from forager.engine.worker import Worker

OFTEN_S = 0.1


async def send(stage: Stage, broker: Broker) -> str:
    async with stage.database.pool.acquire() as conn:
        return await DispatchJob().run(a_context(conn, broker=broker))


@contextlib.asynccontextmanager
async def sending(stage: Stage, broker: Broker) -> AsyncIterator[None]:
    """What is due is offered again and again, inside."""

    async def keep() -> None:
        while True:
            with contextlib.suppress(BrokerUnavailableError):
                await send(stage, broker)
            await asyncio.sleep(OFTEN_S)

    task = asyncio.create_task(keep())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@contextlib.asynccontextmanager
async def listening(stage: Stage, queues: Queues, url: str = BROKER) -> AsyncIterator[QueueListener]:
    queues.runs.add(stage.run)
    async with open_listener(url, queues.names, run=stage.run, on_replay=lambda _key, _replay: None) as opened:
        yield opened


async def work(stage: Stage, queues: Queues, *, url: str = BROKER, sends: bool = True, **order: Any) -> None:
    """The life of one worker; somebody offers domains meanwhile."""
    stage.stop = StopRequest()
    async with contextlib.AsyncExitStack() as stack:
        pipeline = await stack.enter_async_context(open_pipeline(stage.spec))
        consumption = await stack.enter_async_context(listening(stage, queues, url))
        broker = await stack.enter_async_context(open_broker(url, queues.names.prefix))
        given = an_order(stage.run, stage.spec, **order)
        services = build_services(stage.database, given, inbox=consumption.inbox)
        stage.worker = Worker(stage.database, given, pipeline, services, stage.stop)
        if sends:
            await stack.enter_async_context(sending(stage, broker))
        await asyncio.wait_for(stage.worker.work(), 60)


async def becomes(is_so: Callable[[], Any]) -> None:
    """Of what another thread, or the broker, does in its own time."""
    give_up_at = clock.monotonic() + 20
    while not is_so():
        assert clock.monotonic() < give_up_at
        await asyncio.sleep(0.02)


async def leases(stage: Stage) -> dict[str, int]:
    rows = await stage.fetch(
        "SELECT label, sum(amount)::int AS n FROM series_parts WHERE metric = 'leases' GROUP BY label"
    )
    return {row["label"]: row["n"] for row in rows}
