"""All proxies a worker knows, with one shared state each: what one domain learns about a proxy applies to its other
domains."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from forager.config.cipher import PasswordCipher
from forager.errors import ConfigurationError
from forager.proxies.models import Proxy
from forager.proxies.pool import PoolRules, ProxyPool
from forager.proxies.rotation import HOUR_S, Member, ProxyState
from forager.proxies.store import DefaultRow, EncryptedProxy, PoolRow, ProxyStateRow


class _Found(NamedTuple):
    """The proxies of one domain: those of its own pool, and those of the default pool that were used for it."""

    assigned: list[Member]
    used: list[Member]


_NOTHING = _Found([], [])


class ProxyRegistry:
    def __init__(self, vault: PasswordCipher) -> None:
        self._vault = vault
        self._standings: dict[int, ProxyState] = {}
        self._sealed: dict[int, EncryptedProxy] = {}

    def open_pools(
        self,
        rules: Mapping[int, PoolRules],
        rows: Iterable[PoolRow],
        now: float,
        defaults: Sequence[DefaultRow] = (),
    ) -> dict[int, ProxyPool]:
        """Returns the pool of each domain that has one: its own, else the default pool. A domain that is never
        requested directly has a pool even if that is empty; one that is always requested directly has none."""
        found, reserve = self._members(rows, now), self._reserve(defaults, now)
        pools = {}
        for domain, rule in rules.items():
            if rule.mode == "never":
                continue
            own = found.get(domain, _NOTHING)
            if own.assigned:
                pools[domain] = ProxyPool(domain, own.assigned, rule)
            elif reserve or rule.mode == "always":
                pools[domain] = ProxyPool(domain, own.used, rule, reserve)
        return pools

    def renew(
        self,
        pools: Mapping[int, ProxyPool],
        rows: Iterable[PoolRow],
        now: float,
        defaults: Sequence[DefaultRow] = (),
    ) -> None:
        """Updates the pools from the database. A pool that has no rows any more is replaced by the default pool."""
        found, reserve = self._members(rows, now), self._reserve(defaults, now)
        for domain, pool in pools.items():
            if own := found.get(domain, _NOTHING).assigned:
                pool.renew(own)
            else:
                pool.renew([], reserve)

    def update(self, rows: Iterable[ProxyStateRow], now: float) -> None:
        """Updates the states after a batch, which includes what other workers did."""
        for row in rows:
            standing = self._standings.get(row.id)
            if standing is not None:
                standing.is_active, standing.failures = row.is_active, row.failures
                standing.reduce_pending(row.written)
                standing.hour_requests = row.hour_requests + standing.unwritten
                standing.hour_ends_at = now + row.hour_left_s

    def _reserve(self, rows: Sequence[DefaultRow], now: float) -> list[ProxyState]:
        return [self._get_state(row, now) for row in rows]

    def _members(self, rows: Iterable[PoolRow], now: float) -> dict[int, _Found]:
        found: dict[int, _Found] = {}
        for row in rows:
            own = found.setdefault(row.domain_id, _Found([], []))
            (own.assigned if row.is_assigned else own.used).append(
                Member(
                    self._get_state(row, now),
                    priority=row.priority,
                    is_active=row.is_member_active,
                    failures=row.member_failures,
                    average_ms=row.average_ms,
                    last_turn=float("-inf") if row.unused_s is None else -row.unused_s,
                    used_at=None if row.unused_s is None else now - row.unused_s,
                    hour_requests=row.member_hour_requests,
                    hour_ends_at=now + min(row.member_hour_left_s, HOUR_S),
                )
            )
        return found

    def _get_state(self, row: PoolRow | DefaultRow, now: float) -> ProxyState:
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
