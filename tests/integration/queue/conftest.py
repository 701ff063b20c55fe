from collections.abc import AsyncIterator

import pytest
from tests.ground import database, database_url, ground
from tests.queues import BROKER, Queues, queues, wire

from forager.queue.broker import Broker, open_broker

__all__ = ["broker", "database", "database_url", "ground", "queues", "wire"]


@pytest.fixture
async def broker(queues: Queues) -> AsyncIterator[Broker]:
    async with open_broker(BROKER, queues.names.prefix) as opened:
        yield opened
