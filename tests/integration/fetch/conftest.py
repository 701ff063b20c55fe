from collections.abc import AsyncIterator

import pytest
from tests.integration.fetch.raw_server import a_client

from forager.fetch.client import Client


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with a_client() as client:
        yield client
