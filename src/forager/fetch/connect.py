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
from typing import TypeGuard

from forager import clock
from forager.errors import AddressBlockedError
from forager.fetch.origin import Origin
from forager.fetch.translate import translate
from forager.fetch.wire import Connection
from forager.observe import log

CheckAddress = Callable[[str, int], None]
"""Gets an IP address and a port; raises AddressRefusedError if they may not be dialled."""
LookUp = Callable[[str, int], list[tuple[int, str]]]
"""A name and a port → address families and addresses. Blocks; runs in a thread."""

DNS_TTL_S = 60.0
NO_ADDRESS_TTL_S = 30.0
"""For a name that does not exist, or leads where nobody may go: it is asked for again with every page of its domain."""
DNS_CACHE_NAMES = 10_000
DNS_THREADS = 32
"""A dead name server holds a thread for seconds; the loop's own pool (six threads here) would starve the living."""
MOST_CALLS = 6
CALL_S = 2.0
"""For an address that is not the last one: a dead IPv6 route must not eat the time in which IPv4 would answer."""


NO_NAME = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})


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
        self._known: dict[tuple[str, int], tuple[float, list[str] | Exception]] = {}
        """Oldest first: until when, and the addresses or why there are none."""
        self._asked: dict[tuple[str, int], asyncio.Future[list[str]]] = {}
        self._rules: dict[tuple[str, int], CheckAddress] = {}
        """Hosts with ports that have a rule of their own."""
        self.found_at = 0.0
        """When a name was last looked up and found, on the monotonic clock."""

    def set_rule(self, host: str, port: int, check_address: CheckAddress | None) -> None:
        """From now on this rule holds for a host, None: the common one. What was found under another is forgotten."""
        if check_address is None:
            self._rules.pop((host, port), None)
        else:
            self._rules[host, port] = check_address
        self._known.pop((host, port), None)
        self._asked.pop((host, port), None)

    def _rule(self, host: str, port: int) -> CheckAddress:
        return self._rules.get((host, port), self._check_address)

    async def resolve(self, host: str, port: int) -> list[str]:
        """A host that is an address already is checked like any other."""
        if is_address(host):
            self._rule(host, port)(host, port)
            return [host]
        known_until, known = self._known.get((host, port), (0.0, []))
        if clock.monotonic() < known_until:
            if isinstance(known, Exception):
                raise known.with_traceback(None)
            return known
        return await asyncio.shield(self._ask(host, port))

    async def resolve_uncached(self, host: str, port: int) -> list[str]:
        """Looks the name up whatever is remembered of it."""
        return await asyncio.shield(self._ask(host, port))

    def forget_failures(self) -> None:
        """Names that were not found are looked up again when they are next asked for."""
        self._known = {name: known for name, known in self._known.items() if not isinstance(known[1], Exception)}

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
        check_address = self._rule(host, port)
        for _, address in found:
            check_address(address, port)
        return _interleave(found)

    def _note(self, host: str, port: int, done: asyncio.Future[list[str]]) -> None:
        error = None if done.cancelled() else done.exception()
        if self._asked.get((host, port)) is not done:
            return  # its rule was changed meanwhile: what it found is not remembered
        del self._asked[host, port]
        if done.cancelled():
            return
        if isinstance(error, AddressBlockedError) or is_no_name(error):
            self._remember((host, port), NO_ADDRESS_TTL_S, error)
        elif error is None:
            self.found_at = clock.monotonic()
            self._remember((host, port), DNS_TTL_S, done.result())

    def _remember(self, name: tuple[str, int], ttl_s: float, known: list[str] | Exception) -> None:
        self._known.pop(name, None)
        if len(self._known) >= DNS_CACHE_NAMES:
            del self._known[next(iter(self._known))]
        self._known[name] = (clock.monotonic() + ttl_s, known)


def is_no_name(error: BaseException | None) -> TypeGuard[socket.gaierror]:
    """The name server knows that there is no such name; one that fails or is silent knows nothing."""
    return isinstance(error, socket.gaierror) and error.errno in NO_NAME


def is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _interleave(found: Iterable[tuple[int, str]]) -> list[str]:
    """In the system's order, but the families take turns."""
    families: dict[int, list[str]] = {}
    for family, address in found:
        families.setdefault(family, []).append(address)
    turns = chain.from_iterable(zip_longest(*families.values()))
    return [address for address in turns if address is not None]


async def connect(protocol: asyncio.Protocol, address: str, port: int, tls: ssl.SSLContext | None, name: str) -> None:
    """The one place where a connection to the outside begins. Whoever calls has had the address checked; `name` is
    whom the certificate has to be for."""
    server = name.rstrip(".") if tls else None
    try:
        await asyncio.get_running_loop().create_connection(
            lambda: protocol, address, port, ssl=tls, server_hostname=server
        )
    except ValueError as error:
        if isinstance(error, OSError):  # a bad certificate is both
            raise
        raise ssl.SSLError(ssl.SSL_ERROR_SSL, "no certificate can carry this name") from error


async def probe_dns_server(server: str, port: int, query: bytes, wait_s: float) -> bool:
    """Returns whether a name server of this machine answers a query in time, whatever it answers."""
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


class Connector:
    """Opens connections to checked addresses, and to nothing else."""

    def __init__(self, resolver: GuardedResolver) -> None:
        self.resolver = resolver
        self._told: set[str] = set()
        """Hosts whose certificate is not verified, and of whom the log says so."""

    async def dial(self, origin: Origin, wait_s: float, on_gone: Callable[[Connection], None]) -> Connection:
        try:
            async with asyncio.timeout(wait_s):
                addresses = await self.resolver.resolve(origin.host, origin.port)
                return await self._try_addresses(addresses[:MOST_CALLS], origin, on_gone)
        except OSError as error:
            raise translate(error, origin.authority) from error

    async def locate(self, origin: Origin, wait_s: float) -> str | None:
        """The address that would be called first; None where there is none, or none that may be called."""
        try:
            async with asyncio.timeout(wait_s):
                return next(iter(await self.resolver.resolve(origin.host, origin.port)), None)
        except (OSError, AddressBlockedError):
            return None

    def close(self) -> None:
        self.resolver.close()

    async def _try_addresses(
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
        tls = self.tls_for(origin) if origin.is_tls else None
        try:
            await connect(connection, address, origin.port, tls, origin.host)
        except BaseException:
            connection.close()
            raise
        return connection

    def tls_for(self, origin: Origin) -> ssl.SSLContext:
        if origin.verifies_tls:
            return self.verifying
        if origin.authority not in self._told:
            self._told.add(origin.authority)
            log().warning("certificate not verified", action="tls.unverified", host=origin.authority)
        return self._trusting

    @cached_property
    def verifying(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        return context

    @cached_property
    def _trusting(self) -> ssl.SSLContext:
        """For the few domains an operator excepted: whoever answers is believed."""
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
