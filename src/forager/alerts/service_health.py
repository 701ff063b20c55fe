"""Checks whether the services beside the database respond: Redis, broker, search server, each only where configured.

A probe takes at most a second and never raises: no data depends on these services, so no caller waits for one.
"""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forager.config.settings import Settings
from forager.db.types import Connection
from forager.dispatch import store as queue
from forager.errors import SearchServerError
from forager.search.backend import open_searching

if TYPE_CHECKING:
    from forager.cache.server import Server
    from forager.search.server import SearchServer

WITHIN_S = 1.0
"""A service that takes longer to respond counts as unavailable."""
BROKER_LATE_S = 30.0
"""The scheduler polls the broker's queues every second; after this time without a poll the broker counts as
unavailable."""


@dataclass(frozen=True, slots=True)
class Services:
    has_broker: bool = False
    redis: "Server | None" = None
    search: "SearchServer | None" = None

    async def probe(self, conn: Connection) -> Mapping[str, bool]:
        """Returns for each configured service whether it responds."""
        redis, search = await asyncio.gather(self.is_redis_up(), self.is_search_up())
        found = {"redis": redis, "search": search, "broker": await self._is_broker_up(conn)}
        return {name: answers for name, answers in found.items() if answers is not None}

    async def is_redis_up(self) -> bool | None:
        if self.redis is None:
            return None
        from forager.cache.server import RedisUnavailableError

        try:
            async with asyncio.timeout(WITHIN_S):
                await self.redis.ask(lambda client: client.ping(), retries=0)
        except (RedisUnavailableError, TimeoutError):
            return False
        return True

    async def is_search_up(self) -> bool | None:
        if self.search is None:
            return None
        try:
            async with asyncio.timeout(WITHIN_S):
                await self.search.ask("GET", "/")
        except (SearchServerError, TimeoutError):
            return False
        return True

    async def _is_broker_up(self, conn: Connection) -> bool | None:
        """Returns the state that the scheduler observed when polling the queues: a connection of our own would take
        seconds to fail."""
        if not self.has_broker:
            return None
        silent_s = await queue.seconds_since_poll(conn)
        return silent_s is not None and silent_s <= BROKER_LATE_S


async def probe_services(settings: Settings, conn: Connection) -> Mapping[str, bool]:
    """Probes over connections opened for this call."""
    from forager.cache.server import open_server

    async with AsyncExitStack() as stack:
        redis = await stack.enter_async_context(open_server(settings.redis.url)) if settings.redis.url else None
        elsewhere = await stack.enter_async_context(open_searching(settings))
        search = elsewhere.server if elsewhere else None
        return await Services(settings.dispatch.mode == "celery", redis, search).probe(conn)
