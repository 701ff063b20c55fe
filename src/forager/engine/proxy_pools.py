"""Proxies of a worker's queues: pools are opened with the claim and renewed with every heartbeat; what requests taught
about them is noted at once, and is written with the outcomes.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import partial

from forager import clock
from forager.config.cipher import PasswordCipher
from forager.db.database import Database
from forager.engine.domain_queue import DomainQueue
from forager.engine.request_timing import RequestTiming
from forager.engine.transaction_retry import in_transaction
from forager.errors import ProxyError, VisitError, VisitTimeoutError
from forager.fetch.client import Client
from forager.fetch.models import Fetched
from forager.proxies import store
from forager.proxies.models import Proxy
from forager.proxies.pool import ProxyPool
from forager.proxies.registry import ProxyRegistry
from forager.proxies.rotation import get_proxy_result
from forager.proxies.store import PoolRow, ProxyStateRow
from forager.robots.fetch import TIMEOUT_S

POOL_REST_S = 300.0
"""Of a domain whose pool is dead; what failed is tried again after as long."""


class ProxyPools:
    """Of one worker, so that all its queues know the same about a proxy."""

    def __init__(self, vault: PasswordCipher, queues: Mapping[int, DomainQueue]) -> None:
        self._roster = ProxyRegistry(vault)
        self._queues = queues

    def open(self, rows: Iterable[PoolRow]) -> dict[int, ProxyPool]:
        return self._roster.open_pools(rows, clock.monotonic())

    async def refresh(self, database: Database) -> None:
        """Operators assign and switch, others use the same proxies. A domain without any is asked directly again."""
        asked = list(self._queues)
        rows = await in_transaction(database, partial(store.find_pools, domain_ids=asked))
        queues = [self._queues[domain] for domain in asked if domain in self._queues]  # others were not asked for
        known = {queue.lease.domain_id: queue.pool for queue in queues if queue.pool is not None}
        now = clock.monotonic()
        self._roster.renew(known, [row for row in rows if row.domain_id in known], now)
        new = self._roster.open_pools([row for row in rows if row.domain_id not in known], now)
        for queue in queues:
            pool = known.get(queue.lease.domain_id, new.get(queue.lease.domain_id))
            queue.pool = None if pool is None or pool.is_empty else pool

    def update(self, rows: Iterable[ProxyStateRow]) -> None:
        self._roster.update(rows, clock.monotonic())


def record_proxy_result(
    queue: DomainQueue, via: Proxy, error: VisitError | None, *, at: datetime, response_time_ms: int | None = None
) -> None:
    """What a request through a proxy taught about it."""
    if queue.pool is not None:
        words = str(error) if error else None
        queue.pool.note(via, get_proxy_result(error), at=at, response_time_ms=response_time_ms, error=words)


class TimedClient:
    """Asks for robots.txt the way the present trip goes: through its proxy, or directly where the queue has no pool."""

    def __init__(self, client: Client, queue: DomainQueue, trips: list[RequestTiming]) -> None:
        self._client = client
        self._queue = queue
        self._trips = trips

    async def get(
        self, url: str, *, read_body: Callable[[str], bool], cut_at: int | None, on_sent: Callable[[], None]
    ) -> Fetched:
        trip = self._trips[-1]
        if trip.via is None:
            if self._queue.pool is not None:
                raise ProxyError("no proxy of its pool may be used now")
            return await self._client.get(url, read_body=read_body, cut_at=cut_at, on_sent=on_sent)
        error: VisitError | None = None
        try:
            async with asyncio.timeout(TIMEOUT_S * 0.9):  # before the one around it, which cannot say whose fault it is
                return await self._client.get(url, read_body=read_body, cut_at=cut_at, on_sent=on_sent, via=trip.via)
        except VisitError as trouble:
            error = trouble
            raise
        except TimeoutError:
            late = f"{trip.via.name} did not answer in time"
            error = VisitTimeoutError("it took too long to answer") if trip.has_left else ProxyError(late)
            raise error from None
        finally:
            record_proxy_result(self._queue, trip.via, error, at=trip.requested_at)
