"""Selects the connection for a request: the most recently used one if it is still open, else a new one. Bounds how many
are in use.

Keeps idle connections only for a short time: less than the time after which common servers close them.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress

from forager import clock
from forager.errors import VisitTimeoutError
from forager.fetch.connection import Connection
from forager.fetch.origin import Origin
from forager.fetch.proxy_connector import ProxyConnector
from forager.proxies.models import Proxy

KEEP_ALIVE_S = 4.0
"""Below the five seconds after which common servers close idle connections, so that we rarely use one that is being
closed."""
FAREWELL_S = 5.0


class Pool:
    """Idle connections per origin and proxy, and all open ones, so that none outlives the client."""

    def __init__(self, ways: ProxyConnector, max_connections: int) -> None:
        self._slots = asyncio.Semaphore(max_connections) if max_connections else None
        self._ways = ways
        self._open: set[Connection] = set()
        self._idle: dict[tuple[Origin, int], deque[Connection]] = {}
        self._sweep_timer: asyncio.TimerHandle | None = None
        self._all_gone = asyncio.Event()
        self._is_closed = False

    def slot(self, wait_s: float) -> AbstractAsyncContextManager[None]:
        """Reserves capacity for one more connection in use."""
        return nullcontext() if self._slots is None else self._wait_for_slot(self._slots, wait_s)

    def take(self, origin: Origin, via: Proxy | None = None) -> Connection | None:
        """Removes and returns an idle connection; it is out of the pool until it is given back."""
        idle = self._idle.get((origin, via.id if via else 0))
        if not idle:
            return None
        oldest_at = clock.monotonic() - KEEP_ALIVE_S
        while idle:
            connection = idle.pop()
            if connection.idle_since >= oldest_at and connection.is_open:
                return connection
            connection.close()
        return None

    async def locate(self, origin: Origin, wait_s: float) -> str | None:
        return await self._ways.locate(origin, wait_s)

    async def check_proxy(self, via: Proxy, wait_s: float) -> None:
        await self._ways.check_proxy(via, wait_s)

    async def dial(self, origin: Origin, wait_s: float, via: Proxy | None = None) -> Connection:
        connection = await self._ways.dial(origin, wait_s, self._discard, via)
        if self._is_closed:
            connection.close()
        if connection.is_open:
            self._open.add(connection)
        return connection

    def give_back(self, connection: Connection) -> None:
        if not connection.is_open:
            return
        connection.idle_since = clock.monotonic()
        door = connection.origin, connection.via
        idle = self._idle.get(door)
        if idle is None:
            idle = self._idle[door] = deque()
        idle.append(connection)
        if self._sweep_timer is None:
            self._sweep_timer = asyncio.get_running_loop().call_later(KEEP_ALIVE_S, self._prune)

    async def close(self) -> None:
        """Returns when every socket is closed."""
        self._is_closed = True
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
        self._ways.close()
        self._all_gone.clear()
        for connection in list(self._open):
            connection.close()
        if self._open:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._all_gone.wait(), FAREWELL_S)

    @asynccontextmanager
    async def _wait_for_slot(self, slots: asyncio.Semaphore, wait_s: float) -> AsyncIterator[None]:
        try:
            await asyncio.wait_for(slots.acquire(), wait_s)
        except TimeoutError as error:
            raise VisitTimeoutError("no connection came free in the time a connection may take") from error
        try:
            yield
        finally:
            slots.release()

    def _discard(self, connection: Connection) -> None:
        self._open.discard(connection)
        if not self._open:
            self._all_gone.set()

    def _prune(self) -> None:
        self._sweep_timer = None
        oldest_at = clock.monotonic() - KEEP_ALIVE_S
        for door, idle in list(self._idle.items()):
            while idle and (idle[0].idle_since <= oldest_at or not idle[0].is_open):
                idle.popleft().close()
            if not idle:
                del self._idle[door]
        if self._idle:
            self._sweep_timer = asyncio.get_running_loop().call_later(KEEP_ALIVE_S / 2, self._prune)
