"""One connection that serves one request at a time. It is closed unless it ends exactly where its response ends.

Waits no longer than its timeouts. Knows nothing of addresses, pools, or what the bytes mean.
"""

import asyncio
from collections.abc import Callable
from typing import NamedTuple, cast

from forager.errors import VisitTimeoutError
from forager.fetch.body_memory import FREE_BYTES, MemoryBudget
from forager.fetch.origin import Origin
from forager.fetch.response import ResponseReader
from forager.fetch.translate import reason_of


class ResponseTimeouts(NamedTuple):
    """Timeouts for a server that does respond, in addition to the time limit of the whole request."""

    first_byte_s: float = 20.0
    stall_s: float = 10.0
    """The interval in which a response that has begun must make progress."""
    slowest_bytes_per_s: float = 64.0
    """Minimum rate over each such interval; a server that sends one byte a second would otherwise hold us for the
    whole time limit of a request."""


class Connection(asyncio.Protocol):
    """Created by the connector. `on_gone` is called once, when the connection is fully closed."""

    def __init__(self, origin: Origin, on_gone: Callable[["Connection"], None]) -> None:
        self.origin = origin
        self.taken_at = 0.0
        """When its current request began; 0 before the first one."""
        self.idle_since = 0.0
        self.via = 0
        """The id of the proxy it goes through; 0: none."""
        self._on_gone = on_gone
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._reader: ResponseReader | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._patience = ResponseTimeouts()
        self._ends_at = 0.0
        self._span_bytes = 0
        """Bytes received in the current interval."""
        self._timer: asyncio.TimerHandle | None = None
        self._room = MemoryBudget()
        self._paused_at: float | None = None
        """Since when it is paused for lack of memory on our side; that time does not count against the server."""

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    async def ask(
        self, request: bytes, reader: ResponseReader, wait_s: float, patience: ResponseTimeouts, room: MemoryBudget
    ) -> None:
        """Fills `reader`. After anything but a complete response, cancellation included, the connection is closed."""
        if self._transport is None or self._transport.is_closing():
            reader.end("")  # raises: uvloop does not even allow a write
            return
        self._reader, self._waiter = reader, self._loop.create_future()
        self._patience, self._room, self._ends_at = patience, room, self._loop.time() + wait_s
        self._schedule_check(patience.first_byte_s)
        try:
            self._transport.write(request)
            await self._waiter
        finally:
            if self._timer is not None:
                self._timer.cancel()
            reader.release()
            self._reader = self._waiter = self._timer = None
            self._room.end(self)
            self.go_on()
            if not (reader.is_done and reader.is_exact):
                self.close()

    def close(self) -> None:
        """Closes the connection at once: an abandoned connection has nothing worth waiting for."""
        if self._transport is not None:
            self._transport.abort()

    def pause(self) -> None:
        """Pauses reading: the rest of the body waits in the network, and the request's clock stops."""
        if self._paused_at is None and self.is_open and self._transport is not None:
            self._paused_at = self._loop.time()
            self._transport.pause_reading()

    def go_on(self) -> None:
        if self._paused_at is None:
            return
        self._ends_at += self._loop.time() - self._paused_at
        self._paused_at = None
        if self._waiter is not None:
            self._schedule_check(self._patience.stall_s)
        if self.is_open and self._transport is not None:
            self._transport.resume_reading()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        reader, waiter = self._reader, self._waiter
        if reader is None or waiter is None or waiter.done():
            self._reject_unexpected()
            return
        is_first = not reader.has_begun
        self._span_bytes += len(data)
        try:
            if reader.feed(data):
                waiter.set_result(None)
            else:
                if is_first:
                    self._schedule_check(self._patience.stall_s)
                if len(reader.body) > FREE_BYTES:
                    self._room.update_size(self, len(reader.body))
        except Exception as error:  # also for a bug of ours: the waiting request must receive the error
            waiter.set_exception(error)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        reader, waiter = self._reader, self._waiter
        if reader is not None and waiter is not None and not waiter.done():
            try:
                reader.end(reason_of(exc) if exc else "")
                waiter.set_result(None)
            except Exception as error:
                waiter.set_exception(error)
        self._on_gone(self)

    def _reject_unexpected(self) -> None:
        """Rejects unrequested bytes, so that they cannot be taken for a response to the next request."""
        if self._reader is not None:
            self._reader.is_exact = False
        self.close()

    def _schedule_check(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._span_bytes = 0
        look_at = self._loop.time() + seconds
        if self._paused_at is None:
            look_at = min(look_at, self._ends_at)
        self._timer = self._loop.call_at(look_at, self._look, seconds)

    def _look(self, span_s: float) -> None:
        """Checks at the end of an interval whether the response arrives, and fast enough."""
        waiter, reader = self._waiter, self._reader
        if waiter is None or reader is None or waiter.done():
            return
        if reason := self._stop_reason(reader, span_s):
            if reader.finish_early():
                waiter.set_result(None)
            else:
                waiter.set_exception(VisitTimeoutError(f"{self.origin.authority} {reason}"))
        else:
            self._schedule_check(span_s)

    def _stop_reason(self, reader: ResponseReader, span_s: float) -> str:
        if self._paused_at is not None:
            return ""
        if self._loop.time() >= self._ends_at:
            return "took longer than a request may take"
        if not reader.has_begun:
            return f"sent nothing for {span_s:g} s"
        if self._span_bytes < self._patience.slowest_bytes_per_s * span_s:
            return f"sent {self._span_bytes} bytes in {span_s:g} s, slower than an answer may come"
        return ""
