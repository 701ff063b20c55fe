"""Thousands of domains with a long delay in one worker: every one gets its requests in time, and they are spread evenly
over time."""

import asyncio
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

import pytest
from tests.acceptance.stage import Forager, tell, until

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

DOMAINS, DELAY_S, SETTLED_S = 3000, 12.0, 4.0
"""Until all of them are leased some seconds pass."""
SPAN_S = 2.0
"""Rates are of spans of this length: a busy machine may stand still for a second."""
BODY = b"<!doctype html><title>A page</title><p>Words. " + b"".join(b'<a href="/%d">next</a> ' % n for n in range(9))
PAGE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(BODY) + BODY
)
ROBOTS = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class ManySites:
    """One server at all loopback addresses, which notes when it was asked as whom."""

    def __init__(self) -> None:
        self.requests: list[tuple[float, str]] = []
        self.port = 0

    def urls(self, number: int) -> list[str]:
        return [f"http://127.77.{n // 250}.{n % 250 + 1}:{self.port}/" for n in range(number)]

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            host = head.lower().partition(b"host:")[2].partition(b"\r")[0].strip().decode()
            self.requests.append((time.monotonic(), host))
            writer.write(ROBOTS if b"/robots.txt" in head.split(b"\r")[0] else PAGE)
        with contextlib.suppress(ConnectionError):
            writer.close()
            await writer.wait_closed()

    async def _serve(self, port: "Future[int]", is_over: threading.Event) -> None:
        async with await asyncio.start_server(self._answer, "0.0.0.0", 0, backlog=4096) as server:
            port.set_result(server.sockets[0].getsockname()[1])
            await asyncio.to_thread(is_over.wait)

    @contextmanager
    def open(self) -> Iterator["ManySites"]:
        port: Future[int] = Future()
        is_over = threading.Event()
        thread = threading.Thread(target=lambda: asyncio.run(self._serve(port, is_over)))
        thread.start()
        try:
            self.port = port.result(10)
            yield self
        finally:
            is_over.set()
            thread.join()


def test_requests_to_thousands_of_domains_are_spread_over_their_delay(forager: Forager) -> None:
    with ManySites().open() as sites:
        seeds = forager.folder / "seeds.txt"
        seeds.write_text("\n".join(sites.urls(DOMAINS)))
        crawl = forager.start("-f", str(seeds), "--delay", str(DELAY_S), FORAGER_CRAWL_MAX_WAIT="120")
        until(lambda: sites.requests, "the first request")
        began_at = sites.requests[0][0]
        until(lambda: time.monotonic() > began_at + DELAY_S + SETTLED_S, "a delay and a moment are over")
        until(lambda: len({host for _, host in sites.requests}) == DOMAINS, "every domain was asked")
        crawl.kill_all()
    in_span = Counter(
        int((at - began_at - SETTLED_S) / SPAN_S) for at, _ in sites.requests if at > began_at + SETTLED_S
    )
    rates = [in_span[span] / SPAN_S for span in range(int(DELAY_S / SPAN_S))]
    tell(f"requests a second: {rates}")
    assert max(rates) < 2 * DOMAINS / DELAY_S
    assert min(rates) > DOMAINS / DELAY_S / 2
