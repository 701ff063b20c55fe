"""HTTP/1.1 for untrusted clients: uvicorn's own protocol, with limits that apply before a request is created.

    headers and request line        431 above `head_bytes`, also in one value or in trailers of a body
    time for them                   408 after `head_s`
    connections                     503 when `ConnectionTable` is full; cut off when many were just rejected
    a client that does not read     cut off after `write_s` without progress

It overrides what asyncio and httptools call (`connection_made`, `data_received`, `on_headers_complete`, …), which
uvicorn cannot rename, and reads uvicorn's own attributes `transport`, `cycle`, `headers`, `url`, `pipeline`, `loop`.
Bodies have their limits in `api/middleware.py`, where the route is known.
"""

import asyncio
from http import HTTPStatus
from typing import Any, ClassVar

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from forager.runtime.connections import ConnectionTable

LINGER_S = 2.0
"""How long a connection stays open after a rejection, so that the client reads it before it is reset."""
DROPPED_BYTES = 1024 * 1024
"""How many bytes the client may still send meanwhile."""


class LimitedProtocol(HttpToolsProtocol):
    table: ClassVar[ConnectionTable]

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._unparsed = 0
        """Bytes since the parser last completed an element."""
        self._is_rejected = False
        self._is_mid_message = False
        self._head_timer: asyncio.TimerHandle | None = None
        self._end_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    # Connections -----------------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.table.add(self, self.client[0] if self.client else None):
            self._start_head_timer()
        elif self.table.add_rejected(self):
            self._reject(503, "All connections are in use; try again in a moment.", "Retry-After: 5\r\n")
        else:
            self.evict()  # a flood of rejected connections would take all file handles

    def connection_lost(self, exc: Exception | None) -> None:
        self.table.remove(self)
        self._stop_timers()
        super().connection_lost(exc)

    def evict(self) -> None:
        self._is_rejected = True
        self.transport.abort()

    # What comes in ---------------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        if self._is_rejected:
            self._unparsed += len(data)
            if self._unparsed > DROPPED_BYTES:
                self.transport.abort()
            return
        if self._has_no_request() and self._head_timer is None:
            self._start_head_timer()
        self._unparsed += len(data)
        super().data_received(data)
        if self._unparsed > self.table.limits.head_bytes and not self._is_rejected:
            self._reject_size()

    def on_message_begin(self) -> None:
        self._is_mid_message = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._unparsed = 0
        if self._is_rejected:
            return
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self.table.limits.head_bytes:
            self._reject_size()
            return
        self._stop_head_timer()
        self.table.set_idle(self, is_idle=False)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unparsed = 0
        if not self._is_rejected:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._unparsed = 0
        self._is_mid_message = False
        if not self._is_rejected:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._has_no_request():
            self.table.set_idle(self, is_idle=True)
            if self._is_mid_message:  # half of the next request, or a body that no route read
                self._start_head_timer()

    def _has_no_request(self) -> bool:
        return not self.pipeline and (self.cycle is None or self.cycle.response_complete)

    def _start_head_timer(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self.table.limits.head_s, self._end_head)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _end_head(self) -> None:
        self._head_timer = None
        if self._is_mid_message:
            self.table.events.note("request headers took too long", "slow_headers", self._peer())
            self._reject(408, f"The headers took longer than {self.table.limits.head_s:g} s.")
        else:
            self.transport.close()
            self._end_soon()

    # What goes out ---------------------------------------------------------------------------------------------------

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_writing(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        super().resume_writing()

    def _watch_writing(self, size: int) -> None:
        self._write_timer = self.loop.call_later(self.table.limits.write_s, self._check_writing, size)

    def _check_writing(self, before: int) -> None:
        """Measures progress: nothing is written while the buffer is full, so it only shrinks by what the client
        read."""
        size = self.transport.get_write_buffer_size()
        if before - size < self.table.limits.write_bytes:
            self.table.events.note("client does not read", "slow_reader", self._peer())
            self.transport.abort()
        else:
            self._watch_writing(size)

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._end_soon()  # a closed transport waits for a client that never reads

    # Rejecting -------------------------------------------------------------------------------------------------------

    def send_400_response(self, msg: str) -> None:
        if not self._is_rejected:
            self._reject(400, msg)

    def _reject_size(self) -> None:
        self.table.events.note("request headers too large", "large_headers", self._peer())
        self._reject(431, f"The headers are larger than {self.table.limits.head_bytes:,} bytes.")

    def _reject(self, status: int, detail: str, headers: str = "") -> None:
        """Sends one response, reads nothing more and ends the connection. After a response under way it sends none."""
        self._is_rejected = True
        self._stop_head_timer()
        if self._has_no_request():
            self.transport.write(_error_response(status, detail, headers))
            if self.transport.can_write_eof():
                self.transport.write_eof()
                self._end_soon()
                return
        self.transport.close()
        self._end_soon()

    def _end_soon(self) -> None:
        if self._end_timer is None:
            self._end_timer = self.loop.call_later(LINGER_S, self.transport.abort)

    def _stop_timers(self) -> None:
        self._stop_head_timer()
        for timer in (self._end_timer, self._write_timer):
            if timer is not None:
                timer.cancel()
        self._end_timer = self._write_timer = None

    def _peer(self) -> str:
        return self.client[0] if self.client else "local"


def protocol_for(table: ConnectionTable) -> type[asyncio.Protocol]:
    """Returns the protocol class for a server; all its connections share the table."""
    return type("Protocol", (LimitedProtocol,), {"table": table})


def _error_response(status: int, detail: str, headers: str) -> bytes:
    title = HTTPStatus(status).phrase
    body = orjson.dumps(
        {"type": "about:blank", "title": title, "status": status, "detail": detail, "error": detail, "request_id": None}
    )
    head = (
        f"HTTP/1.1 {status} {title}\r\ncontent-type: application/problem+json\r\ncontent-length: {len(body)}\r\n"
        "cache-control: no-store\r\nx-content-type-options: nosniff\r\n"
        "content-security-policy: default-src 'none'; frame-ancestors 'none'\r\n"
        f"{headers}connection: close\r\n\r\n"
    )
    return head.encode() + body
