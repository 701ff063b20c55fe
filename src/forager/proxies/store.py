"""One short function per statement of `queries.sql`. Opens no transactions: the caller does."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from forager.config.cipher import PasswordCipher
from forager.db import statements
from forager.db.query import BulkCommand, BulkQuery, fetch_one
from forager.db.types import Connection, Row
from forager.proxies import counters as tally
from forager.proxies.models import Proxy, ProxyUse
from forager.proxies.rotation import FIRST_PROBE_S, MOST_FAILURES, MOST_FAILURES_TOGETHER, probe_wait_s
from forager.proxies.rows import PairUseColumns, ProxyState, UseColumns

SQL = statements.load("forager.proxies")
COUNT_USES = BulkQuery(SQL["count_uses"], UseColumns, ProxyState)
COUNT_PAIR_USES = BulkCommand(SQL["count_pair_uses"], PairUseColumns)


@dataclass(frozen=True, slots=True)
class EncryptedProxy:
    """A proxy as stored in the database, with its password encrypted."""

    id: int
    protocol: str
    host: str
    port: int
    username: str | None = None
    sealed_password: str | None = field(default=None, repr=False)
    is_forwarding: bool = False

    def open(self, vault: PasswordCipher) -> Proxy:
        """Returns the proxy with its password decrypted; raises ConfigurationError where the key is missing or
        wrong."""
        bare = Proxy(self.id, self.protocol, self.host, self.port)
        password = vault.open(self.sealed_password, bare.name) if self.sealed_password else None
        return Proxy(self.id, self.protocol, self.host, self.port, self.username, password, self.is_forwarding)


class DefaultRow(NamedTuple):
    """One proxy of the default pool."""

    proxy: EncryptedProxy
    country: str | None
    is_active: bool
    failures: int
    hourly_cap: int | None
    hour_requests: int
    hour_left_s: float


class PoolRow(NamedTuple):
    """A proxy and a domain that it is used for."""

    domain_id: int
    is_assigned: bool
    """In the pool of the domain; False: of the default pool, and used for the domain before."""
    priority: int
    is_member_active: bool
    member_failures: int
    average_ms: float | None
    unused_s: float | None
    """Seconds since the last request of this domain through it; None: never."""
    member_hour_requests: int
    member_hour_left_s: float
    proxy: EncryptedProxy
    country: str | None
    is_active: bool
    failures: int
    hourly_cap: int | None
    hour_requests: int
    hour_left_s: float


class ProxyStateRow(NamedTuple):
    """State of a proxy after a batch, including other workers' requests."""

    id: int
    is_active: bool
    failures: int
    hour_requests: int
    hour_left_s: float
    written: int = 0
    """How many of its requests were in the batch."""


class ProbeRow(NamedTuple):
    proxy: EncryptedProxy
    failed_probes: int
    domain_id: int | None
    """Set when the pair of proxy and domain is probed."""
    url: str | None
    """A site to probe it with; None: there is none, only the proxy itself is contacted."""


class ProbeResult(NamedTuple):
    row: ProbeRow
    error: str | None
    """None: it works."""


class Route(NamedTuple):
    """How a domain that may be unknown is requested."""

    domain_id: int | None
    chosen: str | None


async def find_pools(conn: Connection, domain_ids: Sequence[int], *, with_default: bool = True) -> list[PoolRow]:
    """Returns the pools of domains; with the default pool, also its proxies that were used for them."""
    return [
        PoolRow(
            row["domain_id"],
            row["is_assigned"],
            row["priority"],
            row["is_member_active"],
            row["member_failures"],
            row["average_ms"],
            row["unused_s"],
            row["member_hour_requests"],
            row["member_hour_left_s"],
            *_build_default(row),
        )
        for row in await conn.fetch(SQL["find_pools"], domain_ids, with_default)
    ]


async def find_defaults(conn: Connection) -> list[DefaultRow]:
    return [_build_default(row) for row in await conn.fetch(SQL["find_defaults"])]


async def find_route(conn: Connection, domain: str) -> Route:
    return Route(*(await fetch_one(conn, SQL["find_route"], domain)))


async def delete_old_pairs(conn: Connection, limit: int) -> None:
    await conn.execute(SQL["delete_old_pairs"], limit)


async def count_uses(conn: Connection, uses: Sequence[ProxyUse]) -> list[ProxyStateRow]:
    """Updates the health of proxies, and of pairs of proxy and domain, in the transaction that records the visits."""
    if not uses:
        return []
    if new := sorted({(use.domain_id, use.proxy_id) for use in uses if use.is_default}):
        await conn.execute(SQL["add_pairs"], [domain for domain, _ in new], [proxy for _, proxy in new])
    pairs = tally.by_pair(uses)
    pair_columns = PairUseColumns(
        domain_id=[domain for domain, _ in pairs],
        proxy_id=[proxy for _, proxy in pairs],
        **tally.columns(pairs.values()),
        most_failures=MOST_FAILURES_TOGETHER,
        first_probe_s=FIRST_PROBE_S,
    )
    await COUNT_PAIR_USES.execute(conn, pair_columns)
    proxies = tally.by_proxy(uses)
    columns = UseColumns(
        id=list(proxies),
        **tally.columns(proxies.values()),
        most_failures=MOST_FAILURES,
        first_probe_s=FIRST_PROBE_S,
    )
    return [ProxyStateRow(*state, proxies[state.id].uses) for state in await COUNT_USES.fetch(conn, columns)]


async def find_probes(conn: Connection, limit: int) -> list[ProbeRow]:
    return [_probe(row) for row in await conn.fetch(SQL["find_probes"], limit)]


async def find_for_probe(conn: Connection, proxy_ids: Sequence[int] | None) -> list[ProbeRow]:
    """Returns these proxies, or all, for a probe."""
    return [_probe(row) for row in await conn.fetch(SQL["find_for_probe"], proxy_ids)]


async def end_probes(conn: Connection, probed: Iterable[ProbeResult]) -> None:
    done = list(probed)
    proxies = [each for each in done if each.row.domain_id is None]
    pairs = [each for each in done if each.row.domain_id is not None]
    if proxies:
        await conn.execute(SQL["end_probes"], [each.row.proxy.id for each in proxies], *_results(proxies))
    if pairs:
        ids = [each.row.domain_id for each in pairs], [each.row.proxy.id for each in pairs]
        await conn.execute(SQL["end_pair_probes"], *ids, *_results(pairs))


def _results(probed: Sequence[ProbeResult]) -> tuple[list[bool], list[float], list[str | None]]:
    waits = [probe_wait_s(each.row.failed_probes + 1) for each in probed]
    errors = [each.error and each.error[: tally.LONGEST_ERROR] for each in probed]
    return [each.error is None for each in probed], waits, errors


def _build_default(row: Row) -> DefaultRow:
    return DefaultRow(
        _build_proxy(row),
        row["country_code"],
        row["is_active"],
        row["consecutive_failures"],
        row["max_requests_per_hour"],
        row["hour_requests"],
        row["hour_left_s"] or 0.0,
    )


def _build_proxy(row: Row) -> EncryptedProxy:
    names = ("id", "protocol", "host", "port", "username", "sealed_password", "is_forwarding")
    return EncryptedProxy(*(row[name] for name in names))


def _probe(row: Row) -> ProbeRow:
    return ProbeRow(_build_proxy(row), row["failed_probes"], row["domain_id"], row["url"])
