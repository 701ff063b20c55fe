"""One connection, one request at a time. Whatever does not end exactly where its answer ends is closed.

Waits no longer than it is told. Knows nothing of addresses, pools, or what the bytes mean.
"""

import asyncio
from collections.abc import Callable
from typing import cast

from forager.errors import VisitTimeoutError
from forager.fetch.answer import AnswerReader
from forager.fetch.origin import Origin
from forager.fetch.translate import reason_of


class Connection(asyncio.Protocol):
    """Made by the dialler. `on_gone` is called once, when nothing is left of it."""

    def __init__(self, origin: Origin, on_gone: Callable[["Connection"], None]) -> None:
        self.origin = origin
        self.taken_at = 0.0
        """When its present request began; 0 before the first one."""
        self.idle_since = 0.0
        self._on_gone = on_gone
        self._transport: asyncio.Transport | None = None
        self._reader: AnswerReader | None = None
        self._waiter: asyncio.Future[None] | None = None

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    async def ask(self, request: bytes, reader: AnswerReader, wait_s: float) -> None:
        """Fills `reader`. After anything but a whole answer, cancellation included, the connection is closed."""
        if self._transport is None or self._transport.is_closing():
            reader.end("")  # raises: uvloop does not even let us write
            return
        loop = asyncio.get_running_loop()
        self._reader, self._waiter = reader, loop.create_future()
        timer = loop.call_later(wait_s, self._expire)
        try:
            self._transport.write(request)
            await self._waiter
        finally:
            timer.cancel()
            reader.release()
            self._reader = self._waiter = None
            if not (reader.is_done and reader.is_exact):
                self.close()

    def close(self) -> None:
        """At once: there is never anything worth waiting for in a connection that is given up."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        reader, waiter = self._reader, self._waiter
        if reader is None or waiter is None or waiter.done():
            self._refuse_unasked()
            return
        try:
            if reader.feed(data):
                waiter.set_result(None)
        except Exception as error:  # also a bug of ours: whoever waits must hear of it
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

    def _refuse_unasked(self) -> None:
        """Nobody asked for these bytes, so nobody may take them for an answer to the next request."""
        if self._reader is not None:
            self._reader.is_exact = False
        self.close()

    def _expire(self) -> None:
        waiter, reader = self._waiter, self._reader
        if waiter is None or reader is None or waiter.done():
            return
        if reader.give_up():
            waiter.set_result(None)
        else:
            waiter.set_exception(VisitTimeoutError(f"{self.origin.authority} took longer than a request may take"))
