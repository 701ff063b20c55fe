"""The playground's HTTP/1.1 server: one asyncio protocol per connection, one `Desk` per site.

Answers come in the order of the requests, also when they are pipelined and some are slow. It binds what it is given
and nothing else; `web` gives it loopback addresses only.
"""

import asyncio
import socket
import struct
import sys
from collections.abc import Callable
from itertools import count
from typing import cast

from forager import clock
from forager_playground import wire
from forager_playground.answer import TEXT, Answer, missing
from forager_playground.log import RequestLog, Visit
from forager_playground.site import Site

MAX_BUFFER_BYTES = 256 * 1024
IDLE_TIMEOUT_S = 60.0
CLOSE = b"Connection: close\r\n"
NO_LINGER = struct.pack("ii", 1, 0)
LAST_DATA_RECV = 52
"""Where `tcp_info` of Linux says how many milliseconds ago the last byte came; it counts in steps of up to 10."""
STEP_S = 0.01


ReplyKey = tuple[str, str, bool, bool]
"""Host, target, whether the client takes gzip, whether it takes brotli."""


class ReplyCache:
    """Replies ready to be sent, bounded in bytes; the oldest go first."""

    def __init__(self, max_bytes: int) -> None:
        self._replies: dict[ReplyKey, wire.Reply] = {}
        self._max_bytes = max_bytes
        self.bytes = 0

    def get(self, key: ReplyKey) -> wire.Reply | None:
        return self._replies.get(key)

    def put(self, key: ReplyKey, reply: wire.Reply) -> None:
        self._replies[key] = reply
        self.bytes += len(reply.whole)
        while self.bytes > self._max_bytes:
            self.bytes -= len(self._replies.pop(next(iter(self._replies))).whole)


class Desk:
    """Where the requests to one site are answered and noted."""

    def __init__(self, site: Site, host: str, cache: ReplyCache, log: RequestLog) -> None:
        self.site = site
        self.host = host
        self.log = log
        self._cache = cache

    def reply(self, target: str, *, takes_gzip: bool, takes_brotli: bool = False) -> wire.Reply:
        key = (self.host, target, takes_gzip, takes_brotli)
        ready = self._cache.get(key)
        if ready is None:
            ready = wire.render(self._ask(target), takes_gzip=takes_gzip, takes_brotli=takes_brotli)
            if ready.is_stable:
                self._cache.put(key, ready)
        return ready

    def prepare(self, target: str) -> None:
        """Puts the reply for clients that take all codings in the cache, without counting as a visit."""
        self.reply(target, takes_gzip=True, takes_brotli=True)

    def _ask(self, target: str) -> Answer:
        path, _, query = target.partition("?")
        if path == "/robots.txt":
            robots = self.site.robots
            return missing() if robots is None else Answer(body=robots.encode(), content_type=TEXT)
        return self.site.answer(path, query)


class Connection(asyncio.Protocol):
    """Reads requests and sends replies, one at a time.

    reading ──head complete──> answering ──sent──> reading
                                   └──delay──> waiting ──timer──> answering
    """

    def __init__(self, desk: Desk, number: int, open_connections: set["Connection"], idle_timeout_s: float) -> None:
        self._desk = desk
        self._number = number
        self._open_connections = open_connections
        self._idle_timeout_s = idle_timeout_s
        self._buffer = bytearray()
        self._body_left = 0
        self._pending: Callable[[int], None] | None = None
        """Notes the delayed request that is being waited for."""
        self._timer: asyncio.TimerHandle | None = None
        self._is_choked = False
        self._is_reading_paused = False
        self._last_activity_s = 0.0
        self._late_s = 0.0

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._client = (transport.get_extra_info("peername") or ("",))[0]
        self._loop = asyncio.get_running_loop()
        self._open_connections.add(self)
        self._last_activity_s = self._loop.time()
        self._idle_timer = self._loop.call_later(self._idle_timeout_s, self._check_idle)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio names it
        self._open_connections.discard(self)
        self._idle_timer.cancel()
        if self._timer is not None:
            self._timer.cancel()
        if self._pending is not None:
            self._pending(0)
            self._pending = None
        self._buffer.clear()

    def data_received(self, data: bytes) -> None:
        self._last_activity_s = self._loop.time()
        self._buffer += data
        self._process_requests()

    def pause_writing(self) -> None:
        self._is_choked = True

    def resume_writing(self) -> None:
        self._is_choked = False
        self._last_activity_s = self._loop.time()
        self._process_requests()

    # Ours

    def abort(self) -> None:
        self._transport.abort()

    def _check_idle(self) -> None:
        left_s = self._last_activity_s + self._idle_timeout_s - self._loop.time()
        if left_s > 0 or self._pending is not None:
            self._idle_timer = self._loop.call_later(max(left_s, 0.05), self._check_idle)
        elif self._is_choked:
            self._transport.abort()
        elif self._buffer:
            self._reject(wire.BadRequestError(408, "Request timeout"))
        else:
            self._transport.close()

    def _process_requests(self) -> None:
        try:
            while self._pending is None and not self._is_choked and not self._transport.is_closing():
                if not self._skip_body() or not self._process_next():
                    break
        except wire.BadRequestError as error:
            self._reject(error)
        self._hold_back_sender()

    def _skip_body(self) -> bool:
        """Nothing here takes a body; it is dropped so that the next request is found."""
        if self._body_left:
            dropped = min(self._body_left, len(self._buffer))
            del self._buffer[:dropped]
            self._body_left -= dropped
        return not self._body_left

    def _process_next(self) -> bool:
        while self._buffer.startswith(b"\r\n"):  # RFC 9112 2.2: stray line ends before a request line
            del self._buffer[:2]
        end = self._buffer.find(b"\r\n\r\n", 0, wire.MAX_HEAD_BYTES)
        if end < 0:
            if len(self._buffer) >= wire.MAX_HEAD_BYTES:
                raise wire.BadRequestError(431, "Request header fields too large")
            return False
        first, _, block = bytes(self._buffer[:end]).partition(b"\r\n")
        del self._buffer[: end + 4]
        line, headers = wire.parse_request_line(first), wire.parse_headers(block)
        self._body_left = headers.body_bytes
        self._answer(line, headers)
        return True

    def _answer(self, line: wire.RequestLine, headers: wire.Headers) -> None:
        started_s = clock.monotonic()
        self._late_s = measure_delay_s(self._transport)
        reply = self._desk.reply(line.target, takes_gzip=headers.takes_gzip, takes_brotli=headers.takes_brotli)
        if not reply.delay_s:
            self._send(reply, line, headers, started_s)
            return
        self._pending = lambda status: self._note(line, headers, status, started_s)
        self._timer = self._loop.call_later(reply.delay_s, self._send_late, reply, line, headers, started_s)

    def _send_late(self, reply: wire.Reply, line: wire.RequestLine, headers: wire.Headers, started_s: float) -> None:
        self._pending = self._timer = None
        self._last_activity_s = self._loop.time()
        self._send(reply, line, headers, started_s)
        self._process_requests()

    def _send(self, reply: wire.Reply, line: wire.RequestLine, headers: wire.Headers, started_s: float) -> None:
        if reply.is_reset:
            self._note(line, headers, 0, started_s)
            self._reset()
            return
        status, content = self._select_bytes(reply, line, headers)
        is_last = not wire.keeps_alive(line, headers)
        if is_last:
            content = content.replace(b"\r\n\r\n", b"\r\n" + CLOSE + b"\r\n", 1)
        self._note(line, headers, status, started_s)
        self._transport.write(content)
        if is_last:
            self._transport.close()

    def _reset(self) -> None:
        """Without lingering, closing sends RST; a plain abort would end the stream politely with FIN."""
        self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
        self._transport.abort()

    def _select_bytes(self, reply: wire.Reply, line: wire.RequestLine, headers: wire.Headers) -> tuple[int, bytes]:
        if headers.is_conditional and wire.is_unchanged(reply, headers):
            return 304, wire.render_not_modified(reply)
        return reply.status, reply.whole if line.method == "GET" else reply.whole[: reply.head_bytes]

    def _reject(self, error: wire.BadRequestError) -> None:
        self._buffer.clear()
        self._note(wire.RequestLine("", "", is_http_1_1=True), wire.Headers(), error.answer.status, clock.monotonic())
        self._transport.write(wire.render(error.answer, takes_gzip=False, is_last=True).whole)
        self._transport.close()

    def _note(self, line: wire.RequestLine, headers: wire.Headers, status: int, started_s: float) -> None:
        desk = self._desk
        desk.log.add(
            Visit(
                desk.site.name,
                desk.host,
                line.target,
                line.method,
                status,
                started_s,
                clock.monotonic(),
                self._number,
                headers.user_agent,
                headers.is_conditional,
                self._client,
                self._late_s,
            )
        )

    def _hold_back_sender(self) -> None:
        """A client that pipelines faster than it is answered waits in its own memory, not in ours."""
        should_pause = len(self._buffer) > MAX_BUFFER_BYTES
        if should_pause != self._is_reading_paused and not self._transport.is_closing():
            self._is_reading_paused = should_pause
            (self._transport.pause_reading if should_pause else self._transport.resume_reading)()


def measure_delay_s(transport: asyncio.BaseTransport) -> float:
    """From the arrival of the last bytes to now, which is when this process was woken; below a step it is nothing."""
    if sys.platform != "linux":
        return 0.0
    told = transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    late_s: float = struct.unpack_from("I", told, LAST_DATA_RECV)[0] / 1000
    return late_s if late_s > STEP_S else 0.0


class ConnectionMaker:
    """Makes the connections of all sites, numbers them, and can cut them all."""

    def __init__(self, idle_timeout_s: float = IDLE_TIMEOUT_S) -> None:
        self._numbers = count(1)
        self._open: set[Connection] = set()
        self._idle_timeout_s = idle_timeout_s

    def create_factory(self, desk: Desk) -> Callable[[], Connection]:
        return lambda: Connection(desk, next(self._numbers), self._open, self._idle_timeout_s)

    def abort_all(self) -> None:
        for connection in list(self._open):
            connection.abort()
