"""Where a connection may go: every address is checked before it is dialled, and what was checked is what is dialled.

Names are resolved once and pinned for a minute; one refused address refuses the name. Host and SNI keep the name.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from ipaddress import ip_address
from itertools import chain, zip_longest

from forager import clock
from forager.fetch.origin import Origin
from forager.fetch.translate import translate
from forager.fetch.wire import Connection

CheckAddress = Callable[[str, int], None]
"""Gets an IP address and a port; raises AddressRefusedError if they may not be dialled."""
LookUp = Callable[[str, int], list[tuple[int, str]]]
"""A name and a port → address families and addresses. Blocks; runs in a thread."""

DNS_TTL_S = 60.0
DNS_CACHE_NAMES = 10_000
DNS_THREADS = 32
"""A dead name server holds a thread for seconds; the loop's own pool (six threads here) would starve the living."""
MOST_CALLS = 6
CALL_S = 2.0
"""For an address that is not the last one: a dead IPv6 route must not eat the time in which IPv4 would answer."""


def look_up(host: str, port: int) -> list[tuple[int, str]]:
    """By the system's resolver. As bytes: Python's own IDNA step refuses names the DNS knows."""
    try:
        name = host.encode("ascii")
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    except ValueError as error:
        raise socket.gaierror(socket.EAI_NONAME, "the name is not well-formed") from error
    return [(family, _spell(address)) for family, _, _, _, address in found]


def _spell(address: tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]) -> str:
    """A link-local address keeps its zone, so that it cannot be dialled on another link than the one checked."""
    ip = str(address[0])
    return f"{ip}%{address[3]}" if len(address) == 4 and address[3] and "%" not in ip else ip


class GuardedResolver:
    """Answers with addresses that may all be dialled, or not at all."""

    def __init__(self, check_address: CheckAddress, look_up: LookUp = look_up) -> None:
        self._check_address = check_address
        self._look_up = look_up
        self._threads = ThreadPoolExecutor(DNS_THREADS, thread_name_prefix="dns")
        self._known: dict[tuple[str, int], tuple[float, list[str]]] = {}
        self._asked: dict[tuple[str, int], asyncio.Future[list[str]]] = {}

    async def resolve(self, host: str, port: int) -> list[str]:
        """A host that is an address already is checked like any other."""
        if _is_address(host):
            self._check_address(host, port)
            return [host]
        known_until, addresses = self._known.get((host, port), (0.0, []))
        if clock.monotonic() < known_until:
            return addresses
        return await asyncio.shield(self._ask(host, port))

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _ask(self, host: str, port: int) -> asyncio.Future[list[str]]:
        """One question at a time per name; who asks meanwhile waits for the same answer."""
        asked = self._asked.get((host, port))
        if asked is None:
            asked = asyncio.ensure_future(self._find(host, port))
            self._asked[host, port] = asked
            asked.add_done_callback(lambda done: self._note(host, port, done))
        return asked

    async def _find(self, host: str, port: int) -> list[str]:
        found = await asyncio.get_running_loop().run_in_executor(self._threads, self._look_up, host, port)
        for _, address in found:
            self._check_address(address, port)
        return _alternate(found)

    def _note(self, host: str, port: int, done: asyncio.Future[list[str]]) -> None:
        del self._asked[host, port]
        if done.cancelled() or done.exception():
            return
        if len(self._known) >= DNS_CACHE_NAMES:
            self._known.clear()
        self._known[host, port] = (clock.monotonic() + DNS_TTL_S, done.result())


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _alternate(found: Iterable[tuple[int, str]]) -> list[str]:
    """In the system's order, but the families take turns."""
    families: dict[int, list[str]] = {}
    for family, address in found:
        families.setdefault(family, []).append(address)
    turns = chain.from_iterable(zip_longest(*families.values()))
    return [address for address in turns if address is not None]


class Dialler:
    """Opens connections to checked addresses, and to nothing else."""

    def __init__(self, resolver: GuardedResolver) -> None:
        self._resolver = resolver

    async def dial(self, origin: Origin, wait_s: float, on_gone: Callable[[Connection], None]) -> Connection:
        try:
            async with asyncio.timeout(wait_s):
                addresses = await self._resolver.resolve(origin.host, origin.port)
                return await self._call_in_turn(addresses[:MOST_CALLS], origin, on_gone)
        except OSError as error:
            raise translate(error, origin.authority) from error

    def close(self) -> None:
        self._resolver.close()

    async def _call_in_turn(
        self, addresses: list[str], origin: Origin, on_gone: Callable[[Connection], None]
    ) -> Connection:
        for address in addresses[:-1]:
            try:
                async with asyncio.timeout(CALL_S):
                    return await self._call(address, origin, on_gone)
            except ssl.SSLError:
                raise
            except OSError:
                continue
        if not addresses:
            raise socket.gaierror(socket.EAI_NONAME, "the name has no address")
        return await self._call(addresses[-1], origin, on_gone)

    async def _call(self, address: str, origin: Origin, on_gone: Callable[[Connection], None]) -> Connection:
        connection = Connection(origin, on_gone)
        try:
            await asyncio.get_running_loop().create_connection(
                lambda: connection,
                address,
                origin.port,
                ssl=self._tls if origin.is_tls else None,
                server_hostname=origin.host.rstrip(".") if origin.is_tls else None,
            )
        except ValueError as error:
            raise ssl.SSLError(ssl.SSL_ERROR_SSL, "no certificate can carry this name") from error
        except BaseException:
            connection.close()
            raise
        return connection

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        return context
