"""Proxies as the engine sees them: a leased domain may have a pool, and is then requested through it only."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from forager.db.database import Database
from forager.db.types import Connection
from forager.errors import VisitError
from forager.proxies.models import Proxy, ProxyUse

POOL_COOLDOWN_S = 300.0
"""Of a domain none of whose proxies works; what failed is tried again after as long."""


class ProxyPool(Protocol):
    """The proxies of one leased domain."""

    paces_per_proxy: bool

    def split_delay(self, delay_s: float) -> float:
        """Each proxy keeps the delay; returns what is left of it for the domain as a whole."""

    def wait_s(self, now: float) -> float | None:
        """Returns the seconds until a request may leave; None when no proxy works."""

    def take(self, now: float) -> Proxy | None:
        """Returns the next one; None when none may be used now."""

    def record(
        self, proxy: Proxy, error: VisitError | None, *, at: datetime, response_time_ms: int | None = None
    ) -> None:
        """Learns from a request that went through a proxy."""

    def take_pending(self) -> tuple[ProxyUse, ...]:
        """Returns what was learned since the last call, to be recorded with an outcome."""

    def exhausted_reason(self) -> str: ...


class ProxyPools(Protocol):
    """The pools of all domains of a worker."""

    async def open(self, conn: Connection, domain_ids: Sequence[int]) -> Mapping[int, ProxyPool]:
        """Returns the pools of domains that are leased by this transaction."""

    async def refresh(self, database: Database, held: Mapping[int, ProxyPool | None]) -> Mapping[int, ProxyPool]:
        """Returns the pools of these domains as the database has them now."""


class NoProxies:
    """Every domain is requested directly."""

    async def open(self, _conn: Any, _domain_ids: Sequence[int]) -> Mapping[int, ProxyPool]:
        return {}

    async def refresh(self, _database: Database, _held: Mapping[int, ProxyPool | None]) -> Mapping[int, ProxyPool]:
        return {}
