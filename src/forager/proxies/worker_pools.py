"""Proxy pools of a worker's domains: opened with the claim and renewed with every heartbeat; results of requests are
applied at once and written with the outcomes."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from forager import clock
from forager.config.cipher import PasswordCipher
from forager.db.database import Database
from forager.db.types import Connection
from forager.engine.batch import BatchPart
from forager.engine.proxying import ProxyPool
from forager.engine.transaction_retry import in_transaction
from forager.frontier.models import Outcome
from forager.proxies import pool, store
from forager.proxies.registry import ProxyRegistry
from forager.proxies.store import ProxyStateRow


class WorkerPools:
    """The pools of one worker, so that all its domains share the state of a proxy."""

    def __init__(self, cipher: PasswordCipher) -> None:
        self._registry = ProxyRegistry(cipher)

    async def open(self, conn: Connection, domain_ids: Sequence[int]) -> Mapping[int, ProxyPool]:
        return self._registry.open_pools(await store.find_pools(conn, domain_ids), clock.monotonic())

    async def refresh(self, database: Database, held: Mapping[int, ProxyPool | None]) -> Mapping[int, ProxyPool]:
        """Reloads the pools: operators assign and switch proxies, and other workers use the same ones."""
        rows = await in_transaction(database, partial(store.find_pools, domain_ids=list(held)))
        known = {domain: each for domain, each in held.items() if isinstance(each, pool.ProxyPool)}
        now = clock.monotonic()
        self._registry.renew(known, [row for row in rows if row.domain_id in known], now)
        new = self._registry.open_pools([row for row in rows if row.domain_id not in known], now)
        return {domain: each for domain, each in (known | new).items() if not each.is_empty}

    def update(self, rows: Iterable[ProxyStateRow]) -> None:
        """Updates the states after a batch, which includes what other workers did with these proxies."""
        self._registry.update(rows, clock.monotonic())


class ProxyRecorder:
    """Writes the proxy results of each batch's requests."""

    def __init__(self, pools: WorkerPools) -> None:
        self._pools = pools

    async def prepare(self, _outcomes: Sequence[Outcome]) -> BatchPart:
        return _ProxyPart(self._pools)

    def clear(self) -> None:
        """Does nothing: it keeps no state of pages."""


class _ProxyPart(BatchPart):
    def __init__(self, pools: WorkerPools) -> None:
        self._pools = pools
        self._rows: Sequence[ProxyStateRow] = ()

    async def record_last(self, conn: Connection, done: Sequence[Outcome]) -> None:
        self._rows = await store.count_uses(conn, [use for outcome in done for use in outcome.proxy_uses])

    def commit(self) -> None:
        self._pools.update(self._rows)
