"""Resolves names under the address guard, with a cache: names are pinned for a minute, and one blocked address
blocks the name."""

import asyncio
import socket
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from itertools import chain, zip_longest
from typing import TypeGuard

from forager import clock
from forager.errors import AddressBlockedError

CheckAddress = Callable[[str, int], None]
"""Takes an IP address and a port; raises AddressRefusedError if connecting to them is not allowed."""
LookUp = Callable[[str, int], list[tuple[int, str]]]
"""Takes a name and a port; returns address families and addresses. Blocks; runs in a thread."""

DNS_TTL_S = 60.0
NO_ADDRESS_TTL_S = 30.0
"""Cache time for a name that does not exist or resolves to a blocked address: it is requested with every page of its
domain."""
DNS_CACHE_NAMES = 10_000
DNS_THREADS = 32
"""A dead name server blocks a thread for seconds; in the loop's own pool (six threads here) it would starve working
lookups."""


NO_NAME = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})


def look_up(host: str, port: int) -> list[tuple[int, str]]:
    """Looks a name up with the system's resolver. Passes bytes, because Python's own IDNA step rejects names that
    exist in the DNS."""
    try:
        name = host.encode("ascii")
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    except ValueError as error:
        raise socket.gaierror(socket.EAI_NONAME, "the name is not well-formed") from error
    return [(family, _format_address(address)) for family, _, _, _, address in found]


def _format_address(address: tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]) -> str:
    """Formats an address. A link-local address keeps its zone, so that it cannot be used on another link than the
    one checked."""
    ip = str(address[0])
    return f"{ip}%{address[3]}" if len(address) == 4 and address[3] and "%" not in ip else ip


class GuardedResolver:
    """Returns addresses that are all allowed, or raises."""

    def __init__(self, check_address: CheckAddress, look_up: LookUp = look_up) -> None:
        self._check_address = check_address
        self._look_up = look_up
        self._threads = ThreadPoolExecutor(DNS_THREADS, thread_name_prefix="dns")
        self._known: dict[tuple[str, int], tuple[float, list[str] | Exception]] = {}
        """Cache, oldest first: expiry time, and the addresses or the error."""
        self._asked: dict[tuple[str, int], asyncio.Future[list[str]]] = {}
        self._rules: dict[tuple[str, int], CheckAddress] = {}
        """Hosts with ports that have their own rule."""
        self.found_at = 0.0
        """When a lookup last succeeded, on the monotonic clock."""

    def set_rule(self, host: str, port: int, check_address: CheckAddress | None) -> None:
        """Sets the rule for a host; None restores the common one. Results found under another rule are dropped from
        the cache."""
        if check_address is None:
            self._rules.pop((host, port), None)
        else:
            self._rules[host, port] = check_address
        self._known.pop((host, port), None)
        self._asked.pop((host, port), None)

    def _rule(self, host: str, port: int) -> CheckAddress:
        return self._rules.get((host, port), self._check_address)

    async def resolve(self, host: str, port: int) -> list[str]:
        """Returns the addresses of a host. A host that is already an address is checked like any other."""
        if is_address(host):
            self._rule(host, port)(host, port)
            return [host]
        known_until, known = self._known.get((host, port), (0.0, []))
        if clock.monotonic() < known_until:
            if isinstance(known, Exception):
                raise known.with_traceback(None)
            return known
        return await asyncio.shield(self._resolve_once(host, port))

    async def resolve_uncached(self, host: str, port: int) -> list[str]:
        """Looks the name up without the cache."""
        return await asyncio.shield(self._resolve_once(host, port))

    def forget_failures(self) -> None:
        """Drops failed lookups from the cache, so that the next request looks these names up again."""
        self._known = {name: known for name, known in self._known.items() if not isinstance(known[1], Exception)}

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _resolve_once(self, host: str, port: int) -> asyncio.Future[list[str]]:
        """Runs one lookup at a time per name; concurrent callers share its result."""
        asked = self._asked.get((host, port))
        if asked is None:
            asked = asyncio.ensure_future(self._find(host, port))
            self._asked[host, port] = asked
            asked.add_done_callback(lambda done: self._note(host, port, done))
        return asked

    async def _find(self, host: str, port: int) -> list[str]:
        found = await asyncio.get_running_loop().run_in_executor(self._threads, self._look_up, host, port)
        check_address = self._rule(host, port)
        for _, address in found:
            check_address(address, port)
        return _interleave(found)

    def _note(self, host: str, port: int, done: asyncio.Future[list[str]]) -> None:
        error = None if done.cancelled() else done.exception()
        if self._asked.get((host, port)) is not done:
            return  # its rule was changed meanwhile: the result is not cached
        del self._asked[host, port]
        if done.cancelled():
            return
        if isinstance(error, AddressBlockedError) or is_no_name(error):
            self._cache((host, port), NO_ADDRESS_TTL_S, error)
        elif error is None:
            self.found_at = clock.monotonic()
            self._cache((host, port), DNS_TTL_S, done.result())

    def _cache(self, name: tuple[str, int], ttl_s: float, known: list[str] | Exception) -> None:
        self._known.pop(name, None)
        if len(self._known) >= DNS_CACHE_NAMES:
            del self._known[next(iter(self._known))]
        self._known[name] = (clock.monotonic() + ttl_s, known)


def is_no_name(error: BaseException | None) -> TypeGuard[socket.gaierror]:
    """Returns whether the name server reported that there is no such name; a server that fails or times out reports
    nothing."""
    return isinstance(error, socket.gaierror) and error.errno in NO_NAME


def is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _interleave(found: Iterable[tuple[int, str]]) -> list[str]:
    """Returns the addresses in the system's order, with the families alternating."""
    families: dict[int, list[str]] = {}
    for family, address in found:
        families.setdefault(family, []).append(address)
    turns = chain.from_iterable(zip_longest(*families.values()))
    return [address for address in turns if address is not None]


async def probe_dns_server(server: str, port: int, query: bytes, wait_s: float) -> bool:
    """Returns whether a name server of this machine responds to a query in time, whatever the response."""
    loop = asyncio.get_running_loop()
    heard: asyncio.Future[bool] = loop.create_future()
    try:
        transport, _ = await loop.create_datagram_endpoint(lambda: _Listener(heard), remote_addr=(server, port))
    except OSError:
        return False
    try:
        transport.sendto(query)
        async with asyncio.timeout(wait_s):
            return await heard
    except OSError:
        return False
    finally:
        transport.close()


class _Listener(asyncio.DatagramProtocol):
    def __init__(self, heard: asyncio.Future[bool]) -> None:
        self._heard = heard

    def datagram_received(self, _data: bytes, _addr: object) -> None:
        if not self._heard.done():
            self._heard.set_result(True)

    def error_received(self, _error: Exception) -> None:
        if not self._heard.done():
            self._heard.set_result(False)
