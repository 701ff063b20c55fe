"""The proxy interface of the engine: a leased domain may have a pool, its own or the default one, and is then requested
only through it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from forager.db.database import Database
from forager.db.types import Connection
from forager.errors import VisitError
from forager.frontier.models import Lease
from forager.proxies.models import Proxy, ProxyUse

POOL_COOLDOWN_S = 300.0
"""Cooldown of a domain none of whose proxies works; failed proxies are retried after the same time."""


class ProxyPool(Protocol):
    """The proxies of one leased domain."""

    paces_per_proxy: bool

    def split_delay(self, delay_s: float) -> float:
        """Returns the delay of the domain as a whole, given that each proxy keeps `delay_s`."""

    def wait_s(self, now: float) -> float | None:
        """Returns the seconds until a request may leave; None when no proxy works."""

    def take(self, now: float) -> Proxy | None:
        """Returns the next proxy; None when none may be used now."""

    def wait_reason(self) -> str:
        """Returns why all proxies wait."""

    def note_sent(self, proxy: Proxy, now: float) -> None:
        """Restarts the rest of a proxy at the moment its request is sent."""

    def record(
        self, proxy: Proxy, error: VisitError | None, *, at: datetime, response_time_ms: int | None = None
    ) -> None:
        """Updates a proxy's state from a request made through it."""

    def take_pending(self) -> tuple[ProxyUse, ...]:
        """Returns the results since the last call, to be recorded with an outcome."""

    def exhausted_reason(self) -> str: ...


class ProxyPools(Protocol):
    """The pools of all domains of a worker."""

    async def open(self, conn: Connection, leases: Sequence[Lease]) -> Mapping[int, ProxyPool]:
        """Returns the pools of domains that this transaction leases."""

    async def refresh(
        self, database: Database, held: Sequence[tuple[Lease, ProxyPool | None]]
    ) -> Mapping[int, ProxyPool]:
        """Returns the pools of these domains as they are in the database now."""


class NoProxies:
    """Every domain is requested directly."""

    async def open(self, _conn: Any, _leases: Sequence[Lease]) -> Mapping[int, ProxyPool]:
        return {}

    async def refresh(
        self, _database: Database, _held: Sequence[tuple[Lease, ProxyPool | None]]
    ) -> Mapping[int, ProxyPool]:
        return {}
