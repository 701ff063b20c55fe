"""Servers that write exactly the bytes a test wants, on loopback, and remember what they were asked."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.listening import listening

from forager.fetch.client import Client, open_client
from forager.fetch.connection import ResponseTimeouts

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
MAX_BYTES = 1_000_000


@dataclass
class Server:
    host: str
    port: int = 0
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client closes a connection."""

    def url(self, path: str = "/") -> str:
        return f"http://{self.host}:{self.port}{path}"


@asynccontextmanager
async def serve(
    answer: bytes | Answer, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncIterator[Server]:
    """`answer` is written for each request on a connection, or is a function that does what it likes."""
    server = Server(f"[{host}]" if ":" in host else host)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        try:
            while request := await _read_request(reader):
                server.requests.append(request)
                if callable(answer):
                    await answer(reader, writer)
                else:
                    writer.write(answer)
                    await writer.drain()
            server.hung_up.set()
        except (ConnectionError, asyncio.IncompleteReadError):
            server.hung_up.set()

    async with listening(talk, host, tls=tls) as server.port:
        yield server


async def _read_request(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


def allow_all(ip: str, port: int) -> None:
    """The guard is politeness' business; here it only has to be asked."""


@asynccontextmanager
async def a_client(
    *,
    check_address: Callable[[str, int], None] = allow_all,
    timeout_s: float = 20.0,
    connect_timeout_s: float = 10.0,
    max_bytes: int = MAX_BYTES,
    patience: ResponseTimeouts = ResponseTimeouts(),  # noqa: B008 (a tuple, never changed)
    keeps_cookies: bool = True,
) -> AsyncIterator[Client]:
    async with open_client(
        user_agent="Forager/test (+https://example.org)",
        check_address=check_address,
        timeout_s=timeout_s,
        connect_timeout_s=connect_timeout_s,
        max_bytes=max_bytes,
        patience=patience,
        keeps_cookies=keeps_cookies,
    ) as client:
        yield client


def http(body: bytes = b"", *headers: str, status: str = "200 OK", content_type: str = "text/html") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body
