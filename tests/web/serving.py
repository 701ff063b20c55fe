"""A small web of single-minded sites, each at a loopback address of its own, served by a thread of the test.

A site answers each path with bytes, or with a function that does what it likes with the connection. It notes when it
was asked what: the witness of pace and of requests that must not happen.
"""

import asyncio
import ssl
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.integration.fetch.raw_server import http
from tests.listening import listening

Write = Callable[[asyncio.StreamWriter], Awaitable[None]]
Answer = bytes | Write
NETWORK = "127.66.0.0/16"
CERTIFICATES = Path(__file__).parents[1] / "integration/fetch"
NO_FILE = http(b"", status="404 Not Found")


def a_page(title: str, *links: str) -> bytes:
    anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    return http(f"<title>{title}</title><p>{anchors}</p>".encode())


NEXT = a_page("Next page")


@dataclass
class Site:
    name: str
    answer: Callable[[str], Answer]
    """Given path and query; `/next` and `/robots.txt` too, unless these are its default."""
    certificate: str | None = None
    host: str = ""
    port: int = 0
    asked: list[tuple[float, str]] = field(default_factory=list)
    """When, on the monotonic clock, and for which path."""
    requests: list[str] = field(default_factory=list)
    """As they came."""

    @property
    def domain(self) -> str:
        return f"{self.host}:{self.port}"

    def url(self, path: str) -> str:
        return f"{'https' if self.certificate else 'http'}://{self.domain}{path}"

    def pages_asked(self) -> list[str]:
        return [path for _, path in self.asked if path != "/robots.txt"]

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := await reader.readuntil(b"\r\n\r\n"):
            path = request.split(b" ", 2)[1].decode("latin-1")
            self.asked.append((time.monotonic(), path))
            self.requests.append(request.decode("latin-1"))
            answer = self.answer(path)
            if callable(answer):
                await answer(writer)
                break
            writer.write(answer)
            await writer.drain()

    def tls(self) -> ssl.SSLContext | None:
        if self.certificate is None:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATES / self.certificate)
        return context


@contextmanager
def serve(sites: Sequence[Site]) -> Iterator[None]:
    """Until the block ends; every connection is closed then."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="the web")
    thread.start()
    stopping = asyncio.Event()
    ready = threading.Event()
    serving = asyncio.run_coroutine_threadsafe(_serve(sites, ready, stopping), loop)
    try:
        if not ready.wait(20):
            serving.result(1)
        yield
    finally:
        loop.call_soon_threadsafe(stopping.set)
        serving.result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _serve(sites: Sequence[Site], ready: threading.Event, stopping: asyncio.Event) -> None:
    async with AsyncExitStack() as open_ports:
        for number, site in enumerate(sites):
            site.host = f"127.66.{number // 250}.{number % 250 + 1}"
            site.port = await open_ports.enter_async_context(listening(site.talk, site.host, tls=site.tls()))
        ready.set()
        await stopping.wait()
