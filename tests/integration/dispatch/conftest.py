import threading
from collections.abc import AsyncIterator, Iterator

import pytest
from celery.worker import state
from tests.ground import database, database_url, ground
from tests.queues import BROKER, Queues, queues, wire

from forager.dispatch.broker import Broker, open_broker

__all__ = ["broker", "database", "database_url", "ground", "queues", "wire"]


@pytest.fixture(autouse=True)
def _one_celery_at_a_time() -> Iterator[None]:
    """Celery's word for stopping is one for the whole process. A thread that was not waited for, because its broker was
    silent, would hear it later, and so would that of the next test."""
    yield
    for thread in threading.enumerate():
        if thread.name == "celery":
            thread.join(30)
            assert not thread.is_alive()
    state.should_terminate = None


@pytest.fixture
async def broker(queues: Queues) -> AsyncIterator[Broker]:
    async with open_broker(BROKER, queues.names.prefix) as opened:
        yield opened
