"""All proxies a worker knows, with one shared state each: what one domain learns about a proxy applies to its other
domains."""

from collections.abc import Iterable

from forager.config.cipher import PasswordCipher
from forager.errors import ConfigurationError
from forager.proxies.models import Proxy
from forager.proxies.pool import ProxyPool
from forager.proxies.rotation import HOUR_S, Member, ProxyState
from forager.proxies.store import EncryptedProxy, PoolRow, ProxyStateRow


class ProxyRegistry:
    def __init__(self, vault: PasswordCipher) -> None:
        self._vault = vault
        self._standings: dict[int, ProxyState] = {}
        self._sealed: dict[int, EncryptedProxy] = {}

    def open_pools(self, rows: Iterable[PoolRow], now: float) -> dict[int, ProxyPool]:
        """Returns the pool of each domain; each proxy keeps the domain's own pace, unless the worker sets another."""
        return {
            domain: ProxyPool(domain, members, country=first.domain_country, paces_per_proxy=first.paces_per_proxy)
            for domain, (first, members) in self._members(rows, now).items()
        }

    def renew(self, pools: dict[int, ProxyPool], rows: Iterable[PoolRow], now: float) -> None:
        """Updates the pools from the database. A pool that has no rows any more becomes empty."""
        found = self._members(rows, now)
        for domain, pool in pools.items():
            if domain in found:
                first, members = found[domain]
                pool.renew(members, country=first.domain_country)
            else:
                pool.renew([], country=None)

    def update(self, rows: Iterable[ProxyStateRow], now: float) -> None:
        """Updates the states after a batch, which includes what other workers did."""
        for row in rows:
            standing = self._standings.get(row.id)
            if standing is not None:
                standing.is_active, standing.failures = row.is_active, row.failures
                standing.reduce_pending(row.written)
                standing.hour_requests = row.hour_requests + standing.unwritten
                standing.hour_ends_at = now + row.hour_left_s

    def _members(self, rows: Iterable[PoolRow], now: float) -> dict[int, tuple[PoolRow, list[Member]]]:
        found: dict[int, tuple[PoolRow, list[Member]]] = {}
        for row in rows:
            _, members = found.setdefault(row.domain_id, (row, []))
            members.append(
                Member(
                    self._get_state(row, now),
                    priority=row.priority,
                    is_active=row.is_member_active,
                    failures=row.member_failures,
                    average_ms=row.average_ms,
                    last_turn=float("-inf") if row.unused_s is None else -row.unused_s,
                    used_at=None if row.unused_s is None else now - row.unused_s,
                )
            )
        return found

    def _get_state(self, row: PoolRow, now: float) -> ProxyState:
        standing = self._standings.get(row.proxy.id)
        if standing is None or self._sealed[row.proxy.id] != row.proxy:
            standing = self._standings[row.proxy.id] = self._open(row.proxy)
            self._sealed[row.proxy.id] = row.proxy
        standing.country, standing.hourly_cap = row.country, row.hourly_cap
        standing.is_active, standing.failures = row.is_active, row.failures
        standing.hour_requests = row.hour_requests + standing.unwritten
        standing.hour_ends_at = now + min(row.hour_left_s, HOUR_S)
        return standing

    def _open(self, sealed: EncryptedProxy) -> ProxyState:
        try:
            return ProxyState(sealed.open(self._vault))
        except ConfigurationError as error:
            closed = Proxy(sealed.id, sealed.protocol, sealed.host, sealed.port)
            return ProxyState(closed, unusable=str(error).rstrip("."))
