"""Real proxies on loopback for tests: HTTP (CONNECT and absolute form) and SOCKS5, with accounts, failing on demand.

Each speaks to sites from its own address, so that a site's log tells which proxy came.
"""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import NamedTuple

from tests.listening import Listener

from forager.proxies.models import Proxy


class Seen(NamedTuple):
    """One thing a proxy was asked for."""

    verb: str
    """`CONNECT`, `GET`, `SOCKS`, or `REFUSED` where it would not."""
    place: str
    """Address and port of a tunnel, or a whole URL."""
    head: bytes = b""


@dataclass
class RealProxy:
    protocol: str = "http"
    host: str = "127.0.0.1"
    port: int = 0
    account: tuple[str, str] | None = None
    refuses_with: int = 0
    """A status, or a SOCKS error, for every tunnel; 0: none."""
    is_mute: bool = False
    """Takes calls and says nothing."""
    seen: list[Seen] = field(default_factory=list)
    calls: int = 0
    _listener: Listener | None = None

    def url(self, *, with_account: bool = True) -> str:
        account = f"{self.account[0]}:{self.account[1]}@" if self.account and with_account else ""
        return f"{self.protocol}://{account}{self.host}:{self.port}"

    def record(self, number: int = 1, *, is_forwarding: bool = False) -> Proxy:
        """As a worker knows it."""
        name, password = self.account or (None, None)
        return Proxy(number, self.protocol, self.host, self.port, name, password, is_forwarding)

    @property
    def places(self) -> list[str]:
        return [seen.place for seen in self.seen if seen.verb != "REFUSED"]

    async def stop(self) -> None:
        """Dead from now on: calls are refused, open ones are cut."""
        if self._listener is not None:
            await self._listener.stop()
            self._listener = None

    async def start(self, tls: ssl.SSLContext | None = None) -> None:
        """Also again, at the same port."""
        self._listener = Listener(self._answer)
        self.port = await self._listener.start(self.host, self.port, tls=tls)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.calls += 1
        if self.is_mute:
            await reader.read()
        elif self.protocol == "socks5":
            await self._speak_socks(reader, writer)
        else:
            await self._speak_http(reader, writer)

    # HTTP

    async def _speak_http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        verb, place, _ = head.decode("latin-1").split(" ", 2)
        if not self._knows(head):
            self.seen.append(Seen("REFUSED", place, head))
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        elif self.refuses_with:
            self.seen.append(Seen("REFUSED", place, head))
            writer.write(f"HTTP/1.1 {self.refuses_with} No\r\nContent-Length: 0\r\n\r\n".encode())
        elif verb == "CONNECT":
            self.seen.append(Seen(verb, place, head))
            await self._carry(reader, writer, place, b"HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n")
        else:
            self.seen.append(Seen(verb, place, head))
            await self._forward(reader, writer, head, place)
        await writer.drain()

    def _knows(self, head: bytes) -> bool:
        if self.account is None:
            return True
        wanted = base64.b64encode(":".join(self.account).encode())
        return b"Proxy-Authorization: Basic " + wanted + b"\r\n" in head

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes, url: str) -> None:
        """In the manner of RFC 9112: Host comes from the URL, what is meant for the proxy goes no further."""
        authority, _, path = url.removeprefix("http://").partition("/")
        lines = head.decode("latin-1").split("\r\n")
        kept = [line for line in lines[1:] if not line.lower().startswith(("host:", "proxy-"))]
        own = "\r\n".join([f"GET /{path} HTTP/1.1", f"Host: {authority}", *kept]).encode("latin-1")
        site_reader, site = await self._dial(authority)
        site.write(own)
        await self._pump_both(reader, writer, site_reader, site)

    # SOCKS5

    async def _speak_socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        wanted = 2 if self.account else 0
        writer.write(bytes([5, wanted if wanted in methods else 255]))
        if wanted not in methods:
            self.seen.append(Seen("REFUSED", ""))
            await writer.drain()
            return
        if self.account:
            _, length = await reader.readexactly(2)
            name = await reader.readexactly(length)
            password = await reader.readexactly((await reader.readexactly(1))[0])
            is_right = (name.decode(), password.decode()) == self.account
            writer.write(bytes([1, 0 if is_right else 1]))
            if not is_right:
                self.seen.append(Seen("REFUSED", ""))
                await writer.drain()
                return
        _, _, _, kind = await reader.readexactly(4)
        if kind == 3:
            name = await reader.readexactly((await reader.readexactly(1))[0])
            host = name.decode()
        else:
            host = str(ip_address(await reader.readexactly(4 if kind == 1 else 16)))
        port = int.from_bytes(await reader.readexactly(2), "big")
        place = f"{host}:{port}"
        if self.refuses_with:
            self.seen.append(Seen("REFUSED", place))
            writer.write(bytes([5, self.refuses_with, 0, 1, 0, 0, 0, 0, 0, 0]))
            await writer.drain()
            return
        self.seen.append(Seen("SOCKS", place))
        await self._carry(reader, writer, place, bytes([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]))

    # Both

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, place: str, welcome: bytes
    ) -> None:
        try:
            site_reader, site = await self._dial(place)
        except OSError:
            socks = bytes([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])
            writer.write(socks if self.protocol == "socks5" else b"HTTP/1.1 502 Bad Gateway\r\n\r\n")
            await writer.drain()
            return
        writer.write(welcome)
        await self._pump_both(reader, writer, site_reader, site)

    async def _dial(self, place: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, _, port = place.rpartition(":")
        source = (self.host, 0) if host.startswith("127.") else None
        return await asyncio.open_connection(host.strip("[]"), int(port), local_addr=source)

    async def _pump_both(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        site_reader: asyncio.StreamReader,
        site: asyncio.StreamWriter,
    ) -> None:
        there = asyncio.create_task(_pump(reader, site))
        back = asyncio.create_task(_pump(site_reader, writer))
        try:
            await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            site.transport.abort()
            for task in (there, back):
                task.cancel()
            await asyncio.gather(there, back, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def run_proxy(
    protocol: str = "http", host: str = "127.0.0.1", *, tls: ssl.SSLContext | None = None, **more: object
) -> AsyncIterator[RealProxy]:
    proxy = RealProxy(protocol, host, **more)  # type: ignore[arg-type]
    await proxy.start(tls)
    try:
        yield proxy
    finally:
        await proxy.stop()
