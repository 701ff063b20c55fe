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
from forager.frontier.models import Lease, Outcome
from forager.proxies import pool, store
from forager.proxies.pool import PoolRules
from forager.proxies.registry import ProxyRegistry
from forager.proxies.store import DefaultRow, PoolRow, ProxyStateRow


class WorkerPools:
    """The pools of one worker, so that all its domains share the state of a proxy."""

    def __init__(self, cipher: PasswordCipher) -> None:
        self._registry = ProxyRegistry(cipher)

    async def open(self, conn: Connection, leases: Sequence[Lease]) -> Mapping[int, ProxyPool]:
        rules = _rules_of(leases)
        rows, defaults = await _read_pools(conn, rules, with_default=True)
        return self._registry.open_pools(rules, rows, clock.monotonic(), defaults)

    async def refresh(
        self, database: Database, held: Sequence[tuple[Lease, ProxyPool | None]]
    ) -> Mapping[int, ProxyPool]:
        """Reloads the pools: operators assign and switch proxies, and other workers use the same ones. What this worker
        knows of the default pool's proxies with a domain is newer than the database, as it holds the lease."""
        rules = _rules_of([lease for lease, _ in held])
        rows, defaults = await in_transaction(database, partial(_read_pools, rules=rules, with_default=False))
        known = {
            lease.domain_id: each
            for lease, each in held
            if isinstance(each, pool.ProxyPool) and lease.domain_id in rules
        }
        now = clock.monotonic()
        self._registry.renew(known, [row for row in rows if row.domain_id in known], now, defaults)
        others = {domain: rule for domain, rule in rules.items() if domain not in known}
        new = self._registry.open_pools(others, [row for row in rows if row.domain_id in others], now, defaults)
        return {domain: each for domain, each in (known | new).items() if not each.may_go_direct}

    def update(self, rows: Iterable[ProxyStateRow]) -> None:
        """Updates the states after a batch, which includes what other workers did with these proxies."""
        self._registry.update(rows, clock.monotonic())


def _rules_of(leases: Sequence[Lease]) -> dict[int, PoolRules]:
    """Returns the rules of domains that may be requested through proxies."""
    rules = {lease.domain_id: PoolRules.of(lease.settings) for lease in leases}
    return {domain: rule for domain, rule in rules.items() if rule.mode != "never"}


async def _read_pools(
    conn: Connection, rules: Mapping[int, PoolRules], *, with_default: bool
) -> tuple[list[PoolRow], list[DefaultRow]]:
    defaults = await store.find_defaults(conn)
    return await store.find_pools(conn, list(rules), with_default=with_default and bool(defaults)), defaults


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
