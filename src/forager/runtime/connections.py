"""Limits how many clients may be connected to the API at once, in total and from one address.

A full table does not lock clients out: the connection that has been idle longest (no request, or half of one) is closed
for the new one. The new one is rejected only if every connection has a request under way.
"""

import ipaddress
import resource
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from forager.logs import log

HANDLES_KEPT = 128
"""File handles reserved for the database, files and DNS lookups."""
FEWEST = 8
MOST_LINGERING = 32
"""Rejected connections that may stay open while their client reads the reason."""
LOG_EVERY_S = 10.0


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits for a client before it is authenticated."""

    in_all: int = 2000
    per_address: int = 500
    head_bytes: int = 64 * 1024
    head_s: float = 10.0
    """From the first byte of a request (for a new connection: from its start) to the end of its headers."""
    write_s: float = 30.0
    """A response that waits for its client has to progress by `write_bytes` in every such interval."""
    write_bytes: int = 32 * 1024
    trusted: Sequence[str] = ()
    """Networks of proxies: each of their connections may be another client's, so only `in_all` counts."""

    def within_handles(self) -> "ConnectionLimits":
        """Returns the limits reduced to the file handles of this process, of which one address gets half."""
        handles = raise_handles(self.in_all + HANDLES_KEPT)
        in_all = max(min(self.in_all, handles - HANDLES_KEPT), FEWEST)
        return ConnectionLimits(
            in_all,
            max(min(self.per_address, in_all // 2), FEWEST // 2),
            self.head_bytes,
            self.head_s,
            self.write_s,
            self.write_bytes,
            self.trusted,
        )


def raise_handles(wanted: int) -> int:
    """Raises the soft limit on file handles to `wanted` where the hard one allows it; returns the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if most > soft:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        except (OSError, ValueError):
            return soft
    return max(most, soft)


class Evictable(Protocol):
    def evict(self) -> None:
        """Closes the connection at once; it has no request under way."""


class ConnectionTable:
    """All connections of one server."""

    def __init__(self, limits: ConnectionLimits, events: "EventLog") -> None:
        self.limits = limits
        self.events = events
        self._trusted = tuple(ipaddress.ip_network(each, strict=False) for each in limits.trusted)
        self._address: dict[Evictable, str] = {}
        self._number: dict[str, int] = {}
        self._idle: dict[Evictable, None] = {}
        """In the order in which they became idle."""
        self._idle_of: dict[str, dict[Evictable, None]] = {}
        self._lingering: set[Evictable] = set()

    def __len__(self) -> int:
        return len(self._address)

    def add(self, connection: Evictable, peer: str | None) -> bool:
        """Registers a connection, idle at first. Returns False if the table is full."""
        address = group_of(peer or "")
        is_at_limit = self._number.get(address, 0) >= self.limits.per_address and not self._is_trusted(peer)
        if is_at_limit:
            self.events.note("too many connections of one address", "connections", address)
            if not self._evict(self._idle_of.get(address, {})):
                return False
        elif len(self._address) >= self.limits.in_all:
            self.events.note("too many connections", "connections", address)
            if not self._evict(self._idle):
                return False
        self._address[connection] = address
        self._number[address] = self._number.get(address, 0) + 1
        self.set_idle(connection, is_idle=True)
        return True

    def set_idle(self, connection: Evictable, *, is_idle: bool) -> None:
        address = self._address.get(connection)
        if address is None:
            return
        own = self._idle_of.setdefault(address, {})
        self._idle.pop(connection, None)
        own.pop(connection, None)
        if is_idle:
            self._idle[connection] = own[connection] = None
        elif not own:
            del self._idle_of[address]

    def add_rejected(self, connection: Evictable) -> bool:
        """Registers a connection that `add` rejected. Returns False if too many of those are still open."""
        if len(self._lingering) >= MOST_LINGERING:
            return False
        self._lingering.add(connection)
        return True

    def remove(self, connection: Evictable) -> None:
        self._lingering.discard(connection)
        self.set_idle(connection, is_idle=False)
        address = self._address.pop(connection, None)
        if address is not None:
            self._number[address] -= 1
            if not self._number[address]:
                del self._number[address]

    def _evict(self, idle: dict[Evictable, None]) -> bool:
        oldest = next(iter(idle), None)
        if oldest is None:
            return False
        self.remove(oldest)
        oldest.evict()
        return True

    def _is_trusted(self, peer: str | None) -> bool:
        return bool(self._trusted) and is_within(peer or "", self._trusted)


class EventLog:
    """Logs events that clients cause at a bounded rate: the first of a kind at once, the others as a count later."""

    def __init__(self, call_later: Callable[[float, Callable[[], None]], Any]) -> None:
        self._call_later = call_later
        self._waiting: dict[tuple[str, str], tuple[int, str]] = {}

    def note(self, event: str, reason: str, address: str) -> None:
        kind = event, reason
        if kind in self._waiting:
            self._waiting[kind] = self._waiting[kind][0] + 1, address
            return
        log().warning(event, action="api.limited", reason=reason, address=address, times=1)
        self._open_window(kind)

    def _open_window(self, kind: tuple[str, str]) -> None:
        self._waiting[kind] = 0, ""
        self._call_later(LOG_EVERY_S, lambda: self._flush(kind))

    def _flush(self, kind: tuple[str, str]) -> None:
        times, address = self._waiting.pop(kind)
        if times:
            event, reason = kind
            log().warning(event, action="api.limited", reason=reason, address=address, times=times)
            self._open_window(kind)


@lru_cache(maxsize=4096)
def group_of(peer: str) -> str:
    """Returns the address that connections are counted by: for IPv6 the /64, which is what one household gets."""
    try:
        ip = ipaddress.ip_address(peer.partition("%")[0])
    except ValueError:
        return peer
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ip.ipv4_mapped or ipaddress.ip_network((ip, 64), strict=False))
    return str(ip)


@lru_cache(maxsize=4096)
def is_within(peer: str, networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]) -> bool:
    try:
        ip = ipaddress.ip_address(peer.partition("%")[0])
    except ValueError:
        return False
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return any((mapped or ip) in network for network in networks)
