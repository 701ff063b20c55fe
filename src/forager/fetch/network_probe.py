"""Checks whether our own network works: resolves names and opens connections, and makes no request.

A crawl that fails everywhere at once runs this check before a site is blamed. Addresses pass the same guard as a
request's.
"""

import asyncio
import errno
import struct
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path

from forager.errors import AddressBlockedError
from forager.fetch.connect import connect
from forager.fetch.dns import GuardedResolver, is_address, is_no_name, probe_dns_server
from forager.fetch.origin import split_url

PROBE_S = 3.0
NAME_SERVER_S = 2.0
MOST_ADDRESSES = 2
ANSWERED = frozenset({errno.ECONNREFUSED, errno.ECONNRESET})
"""The host exists, although it rejects the connection."""
NO_ROUTE = frozenset({errno.ENETUNREACH, errno.ENETDOWN})
ROOT_QUERY = struct.pack(">6H", 0x464F, 0x0100, 1, 0, 0, 0) + b"\0" + struct.pack(">2H", 2, 1)
"""Query for the root name servers: every resolver responds to it, if only with an error."""


class ProbeResult(Enum):
    REACHED = "reached"
    FAILED = "failed"
    NO_ROUTE = "no route"
    """The kernel has no route."""
    NO_NAME = "no such name"
    """A name server, or the hosts file, reports that the name does not exist."""
    SKIPPED = "needs no look-up"


class NetworkProbe:
    def __init__(self, resolver: GuardedResolver) -> None:
        self._resolver = resolver

    @property
    def name_found_at(self) -> float:
        """Returns when a lookup last succeeded, on the monotonic clock."""
        return self._resolver.found_at

    def forget_failures(self) -> None:
        """Drops failed lookups from the cache, so that the next request looks these names up again."""
        self._resolver.forget_failures()

    async def look_up(self, url: str) -> ProbeResult:
        """Looks the name of a site up without the cache."""
        origin, _ = split_url(url)
        if is_address(origin.host):
            return ProbeResult.SKIPPED
        try:
            async with asyncio.timeout(PROBE_S):
                await self._resolver.resolve_uncached(origin.host, origin.port)
        except AddressBlockedError:
            return ProbeResult.REACHED
        except OSError as error:
            return ProbeResult.NO_NAME if is_no_name(error) else ProbeResult.FAILED
        return ProbeResult.REACHED

    async def reach(self, url: str) -> ProbeResult:
        """Opens a connection to the site and closes it."""
        origin, _ = split_url(url)
        result = ProbeResult.FAILED
        try:
            async with asyncio.timeout(PROBE_S):
                for address in (await self._resolver.resolve(origin.host, origin.port))[:MOST_ADDRESSES]:
                    result = await _reach(address, origin.port)
                    if result is ProbeResult.REACHED:
                        return result
        except AddressBlockedError:
            return ProbeResult.SKIPPED
        except OSError:
            return ProbeResult.FAILED
        return result


class _Caller(asyncio.Protocol):
    """Closes the connection as soon as it is established."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


async def _reach(address: str, port: int) -> ProbeResult:
    try:
        await connect(_Caller(), address, port, None, "")
    except TimeoutError:
        return ProbeResult.FAILED
    except OSError as error:
        if error.errno in ANSWERED:
            return ProbeResult.REACHED
        return ProbeResult.NO_ROUTE if error.errno in NO_ROUTE else ProbeResult.FAILED
    return ProbeResult.REACHED


def has_default_route(routes: Path = Path("/proc/net/route"), routes_v6: Path = Path("/proc/net/ipv6_route")) -> bool:
    """Returns whether the kernel has a default route. True where it does not report its routes."""
    try:
        lines = [line.split() for line in routes.read_text(encoding="ascii").splitlines()[1:]]
    except OSError:
        return True
    if any(fields[1] == "00000000" and fields[7] == "00000000" for fields in lines if len(fields) > 7):
        return True
    with suppress(OSError):
        lines = [line.split() for line in routes_v6.read_text(encoding="ascii").splitlines()]
        return any(fields[1] == "00" and set(fields[0]) == {"0"} and fields[9] != "lo" for fields in lines)
    return False


def name_servers(file: Path = Path("/etc/resolv.conf")) -> list[str]:
    try:
        lines = [line.split() for line in file.read_text(encoding="utf-8", errors="replace").splitlines()]
    except OSError:
        return []
    return [fields[1] for fields in lines if len(fields) > 1 and fields[0] == "nameserver"]


async def is_name_server_up(servers: Sequence[str], port: int = 53) -> bool:
    """Returns whether one of the machine's name servers responds at all. Also True where the machine's configuration
    has none, since it cannot be determined."""
    if not servers:
        return True
    asked = (probe_dns_server(server, port, ROOT_QUERY, NAME_SERVER_S) for server in servers[:3])
    return any(await asyncio.gather(*asked))
