"""Opens connections to the addresses that the guard has checked, and to no others. Host and SNI keep the name."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from functools import cached_property

from forager.errors import AddressBlockedError
from forager.fetch.connection import Connection
from forager.fetch.dns import GuardedResolver
from forager.fetch.origin import Origin
from forager.fetch.translate import translate
from forager.logs import log

MOST_CALLS = 6
CALL_S = 2.0
"""Timeout for an address that is not the last one: a dead IPv6 route must not use up the time in which IPv4 would
respond."""


async def connect(protocol: asyncio.Protocol, address: str, port: int, tls: ssl.SSLContext | None, name: str) -> None:
    """Opens a connection; all connections to the outside begin here. The caller has had the address checked; `name`
    is the host name that the certificate must match."""
    server = name.rstrip(".") if tls else None
    try:
        await asyncio.get_running_loop().create_connection(
            lambda: protocol, address, port, ssl=tls, server_hostname=server
        )
    except ValueError as error:
        if isinstance(error, OSError):  # a certificate error is both
            raise
        raise ssl.SSLError(ssl.SSL_ERROR_SSL, "no certificate can carry this name") from error


class Connector:
    """Opens connections to checked addresses only."""

    def __init__(self, resolver: GuardedResolver) -> None:
        self.resolver = resolver
        self._told: set[str] = set()
        """Hosts whose certificate is not verified and for which that has been logged."""

    async def dial(self, origin: Origin, wait_s: float, on_gone: Callable[[Connection], None]) -> Connection:
        try:
            async with asyncio.timeout(wait_s):
                addresses = await self.resolver.resolve(origin.host, origin.port)
                return await self._try_addresses(addresses[:MOST_CALLS], origin, on_gone)
        except OSError as error:
            raise translate(error, origin.authority) from error

    async def locate(self, origin: Origin, wait_s: float) -> str | None:
        """Returns the address that would be tried first; None where there is none, or none that is allowed."""
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
        """Returns a TLS context for the few domains an operator excepted: any certificate is accepted."""
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
