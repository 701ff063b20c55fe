"""Opens connections through a proxy, or directly where none is named. The guard checks both ends, each by its own rule.

The site's name is resolved and checked here, and the proxy gets the address; only a proxy that forwards plain http gets
the name. Errors before the tunnel is established are the proxy's fault (ProxyError), later ones are the site's.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from forager import clock
from forager.errors import AddressBlockedError, ConnectError, ProxyError
from forager.fetch.connect import Connector, connect
from forager.fetch.connection import Connection
from forager.fetch.dns import GuardedResolver
from forager.fetch.origin import Origin
from forager.fetch.translate import reason_of, translate
from forager.fetch.tunnel import ProxyHandshake, check_login, open_tunnel
from forager.proxies.models import Proxy

MOST_ADDRESSES = 3
"""Maximum number of a site's addresses tried through one proxy; IPv4 first, because a proxy's network need not be
ours."""
OnGone = Callable[[Connection], None]


def forwards(origin: Origin, via: Proxy) -> bool:
    """Returns whether the request itself is sent to the proxy, in absolute form, instead of through a tunnel."""
    return via.is_forwarding and via.protocol != "socks5" and not origin.is_tls


class ProxyConnector:
    """Opens connections to checked addresses, through proxies at checked addresses."""

    def __init__(self, direct: Connector, proxies: GuardedResolver | None = None) -> None:
        """`proxies` resolves proxies; without it the rule for sites applies to them."""
        self._direct = direct
        self._proxies = proxies or direct.resolver

    async def dial(self, origin: Origin, wait_s: float, on_gone: OnGone, via: Proxy | None = None) -> Connection:
        if via is None:
            return await self._direct.dial(origin, wait_s, on_gone)
        ends_at = clock.monotonic() + wait_s
        addresses = await self._find_site(origin, wait_s)
        if forwards(origin, via):
            talk = await self._reach(via, ends_at)
        else:
            talk = await self._tunnel(via, origin, addresses, ends_at)
        return await self._transfer(talk, via, origin, ends_at, on_gone)

    async def check_proxy(self, via: Proxy, wait_s: float) -> None:
        """Checks that the proxy can be reached, without any site; raises ProxyError if not."""
        ends_at = clock.monotonic() + wait_s
        talk = await self._reach(via, ends_at)
        try:
            async with _wrap_proxy_errors(via, ends_at):
                await check_login(talk, via)
        finally:
            talk.close()

    async def locate(self, origin: Origin, wait_s: float) -> str | None:
        return await self._direct.locate(origin, wait_s)

    def close(self) -> None:
        self._direct.close()
        self._proxies.close()

    async def _find_site(self, origin: Origin, wait_s: float) -> list[str]:
        """Returns the site's addresses, all of which are allowed; otherwise raises the site's own error, as if there
        were no proxy."""
        try:
            async with asyncio.timeout(wait_s):
                found = await self._direct.resolver.resolve(origin.host, origin.port)
                if not found:
                    raise socket.gaierror(socket.EAI_NONAME, "the name has no address")
        except OSError as error:
            raise translate(error, origin.authority) from error
        return sorted(found, key=lambda address: ":" in address)[:MOST_ADDRESSES]

    async def _tunnel(self, via: Proxy, origin: Origin, addresses: list[str], ends_at: float) -> ProxyHandshake:
        for address in addresses[:-1]:
            try:
                return await self._tunnel_to(via, origin, address, ends_at)
            except ConnectError:
                continue
        return await self._tunnel_to(via, origin, addresses[-1], ends_at)

    async def _tunnel_to(self, via: Proxy, origin: Origin, address: str, ends_at: float) -> ProxyHandshake:
        talk = await self._reach(via, ends_at)
        try:
            async with _wrap_proxy_errors(via, ends_at):
                await open_tunnel(talk, via, address, origin.port, origin.authority)
        except BaseException:
            talk.close()
            raise
        return talk

    async def _reach(self, via: Proxy, ends_at: float) -> ProxyHandshake:
        """Opens a connection to the proxy, with TLS if it is an https proxy."""
        talk = ProxyHandshake()
        try:
            async with _wrap_proxy_errors(via, ends_at):
                addresses = await self._proxies.resolve(via.host, via.port)
                address = sorted(addresses, key=lambda address: ":" in address)[0]
                tls = self._direct.verifying if via.protocol == "https" else None
                await connect(talk, address, via.port, tls, via.host)
        except BaseException:
            talk.close()
            raise
        return talk

    async def _transfer(
        self, talk: ProxyHandshake, via: Proxy, origin: Origin, ends_at: float, on_gone: OnGone
    ) -> Connection:
        """Turns the proxy's connection into the site's, with TLS if the site uses it."""
        connection = Connection(origin, on_gone)
        connection.via = via.id
        try:
            async with _wrap_proxy_errors(via, ends_at):
                transport = talk.transport
            if origin.is_tls:
                connection.connection_made(await self._secure(transport, connection, origin, ends_at))
            else:
                transport.set_protocol(connection)
                connection.connection_made(transport)
        except BaseException:
            talk.close()
            raise
        return connection

    async def _secure(
        self, transport: asyncio.Transport, connection: Connection, origin: Origin, ends_at: float
    ) -> asyncio.Transport:
        """Starts TLS with the site. The certificate must be the site's own, which detects a proxy that impersonates
        the site."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(max(0.0, ends_at - clock.monotonic())):
                secured = await loop.start_tls(
                    transport, connection, self._direct.tls_for(origin), server_hostname=origin.host.rstrip(".")
                )
        except OSError as error:
            raise translate(error, origin.authority) from error
        except ValueError as error:
            no_name = ssl.SSLError(ssl.SSL_ERROR_SSL, "no certificate can carry this name")
            raise translate(no_name, origin.authority) from error
        if secured is None:
            raise ConnectError(f"{origin.authority} hung up while the connection was made secure")
        return secured


@asynccontextmanager
async def _wrap_proxy_errors(via: Proxy, ends_at: float) -> AsyncIterator[None]:
    """Turns errors and timeouts inside the block into the proxy's fault."""
    try:
        async with asyncio.timeout(max(0.0, ends_at - clock.monotonic())):
            yield
    except AddressBlockedError as refusal:
        raise ProxyError(f"{via.name} may not be dialled: {refusal}") from refusal
    except TimeoutError as error:
        raise ProxyError(f"{via.name} did not answer in time") from error
    except OSError as error:
        raise ProxyError(f"{via.name} could not be reached: {reason_of(error)}") from error
