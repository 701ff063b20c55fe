"""Live metrics as server-sent events. However many clients listen, one sampler queries the database, once a second at
most; where processes share a cache, one of them does it for all.

A slow query runs less often: it takes a tenth of the time at most. A client that reconnects with a Last-Event-ID gets
the events it missed, as far as they are kept. A client whose session or token has ended is notified and disconnected.
"""

import asyncio
import contextlib
import secrets
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING, Any

import orjson
from fastapi import FastAPI, Request

from forager import clock
from forager.api.access import Role, gate_of, too_many
from forager.api.errors import TooManyError
from forager.api.reply import as_json
from forager.engine.transaction_retry import AGAIN, AWAY
from forager.logs import log
from forager.runtime.shared_state import Latest, LocalState
from forager.stats import overview as numbers

if TYPE_CHECKING:
    from forager.instance import Forager

EVERY_S = 1.0
REST = 9
HEARTBEAT_S = 15.0
RECOGNISED_FOR_S = 10.0
"""Interval after which the authorization of a listener is checked again."""
REMEMBERED = 60
PART_OF_ONE = 10
MOST_QUEUED = 10
"""Events a slow listener may be behind; then its oldest event is dropped."""
FREE_WITHIN_S = 2.0
LOOK_AGAIN_S = 0.05
"""Poll interval while another process computes the numbers."""


Listener = asyncio.Queue[bytes | None]


class EventStream:
    def __init__(self, app: FastAPI, *, most: int) -> None:
        self._app = app
        self._most = most
        self._most_of_one = max(1, most // PART_OF_ONE)
        self._listeners: dict[Listener, int | None] = {}
        """Listeners with the account each of them belongs to."""
        self._sampling: asyncio.Task[None] | None = None
        self._boot = secrets.token_hex(4)
        self._count = 0
        self._sent: deque[tuple[int, bytes]] = deque(maxlen=REMEMBERED)
        self._overview: tuple[float, dict[str, Any]] | None = None
        self._written: dict[bool, tuple[object, bytes]] = {}
        self._turn = asyncio.Lock()
        self._is_closed = False
        self._latest: Latest = LocalState()

    @contextlib.asynccontextmanager
    async def open(self, latest: Latest) -> AsyncIterator[None]:
        self._latest = latest
        try:
            yield
        finally:
            self.close()
            if self._sampling is not None:
                self._sampling.cancel()
                await asyncio.gather(self._sampling, return_exceptions=True)

    def close(self) -> None:
        """Nobody is kept waiting by those who listen."""
        self._is_closed = True
        for queue in list(self._listeners):
            _put(queue, None)

    async def overview(self) -> dict[str, Any]:
        """What all who ask within a second are shown."""
        if self._overview is not None and self._overview[0] > clock.monotonic():
            return self._overview[1]
        async with self._turn:
            if self._overview is None or self._overview[0] <= clock.monotonic():
                self._overview = await self._wait_for_shared() or await self._make()
            return self._overview[1]

    async def _make(self) -> tuple[float, dict[str, Any]]:
        """New numbers, and until when they are."""
        began = clock.monotonic()
        shown = await self._read()
        took_s = clock.monotonic() - began
        until = began + max(EVERY_S, took_s * (1 + REST))
        await self._latest.put(as_json(shown), until - clock.monotonic())
        return until, shown

    async def _wait_for_shared(self) -> tuple[float, dict[str, Any]] | None:
        """What another process has made; if one is at it, it is waited for, but not for long."""
        patient_until = clock.monotonic() + EVERY_S
        while (found := await self._latest.read()) is None:
            if await self._latest.should_build() or clock.monotonic() >= patient_until:
                return None
            await asyncio.sleep(LOOK_AGAIN_S)
        shown = _read_numbers(found[0])
        return (clock.monotonic() + found[1], shown) if shown is not None else None

    async def written(self, *, is_public: bool) -> bytes:
        """The same as JSON, written once for all of them."""
        shown = await self.overview()
        kept = self._written.get(is_public)
        if kept is None or kept[0] is not shown:
            kept = shown, as_json(numbers.public(shown) if is_public else shown)
            self._written[is_public] = kept
        return kept[1]

    def join(self, account: int | None) -> Listener:
        """Takes a place at once, so that many who come together are counted; `leave` gives it back. One account takes a
        tenth of the places at most."""
        if account is not None and sum(each == account for each in self._listeners.values()) >= self._most_of_one:
            raise too_many(5, f"This account listens {self._most_of_one} times already; close a tab.")
        if len(self._listeners) >= self._most:
            raise TooManyError(f"{self._most} listen already; ask /api/stats now and then instead.")
        queue: Listener = asyncio.Queue(MOST_QUEUED)
        self._listeners[queue] = account
        return queue

    def leave(self, listener: Listener) -> None:
        self._listeners.pop(listener, None)

    async def listen(
        self, request: Request, last_id: str | None, listener: Listener | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Events until the listener, its session, or this process ends."""
        queue = listener if listener is not None else self.join(None)
        recognised_until = clock.monotonic() + RECOGNISED_FOR_S
        try:
            yield b"retry: 2000\n\n" + self._missed(last_id)
            self._start()
            while not self._is_closed:
                try:
                    async with asyncio.timeout(HEARTBEAT_S):
                        event = await queue.get()
                except TimeoutError:
                    event = b": still here\n\n"
                if event is None:
                    return
                if clock.monotonic() >= recognised_until:
                    if not await _can_listen(request):
                        yield b"event: end\ndata: {}\n\n"
                        return
                    recognised_until = clock.monotonic() + RECOGNISED_FOR_S
                yield event
        finally:
            self.leave(queue)

    def _start(self) -> None:
        if self._sampling is None or self._sampling.done():
            self._sampling = asyncio.create_task(self._sample())

    async def _sample(self) -> None:
        """As long as somebody listens."""
        while self._listeners and not self._is_closed:
            began = clock.monotonic()
            try:
                name, shown = "numbers", await self.overview()
            except (*AWAY, *AGAIN) as error:
                log().info("numbers without the database", action="live.away", error=repr(error))
                self._app.state.call_back()
                name, shown = "away", {"detail": "The database does not answer."}
            self._send(name, shown)
            ready_at = self._overview[0] if self._overview else began
            await asyncio.sleep(max(EVERY_S - (clock.monotonic() - began), ready_at - clock.monotonic(), 0.05))

    def _send(self, name: str, shown: dict[str, Any]) -> None:
        """Written once, whoever listens."""
        self._count += 1
        event = b"id: %s-%d\nevent: %s\ndata: %s\n\n" % (
            self._boot.encode(),
            self._count,
            name.encode(),
            as_json(shown),
        )
        self._sent.append((self._count, event))
        for queue in self._listeners:
            _put(queue, event)

    def _missed(self, last_id: str | None) -> bytes:
        """What came after; to a newcomer, the last one."""
        boot, _, number = (last_id or "").partition("-")
        if boot == self._boot and number.isdecimal() and len(number) < 19:
            return b"".join(event for count, event in self._sent if count > int(number))
        return self._sent[-1][1] if self._sent and self._sampling and not self._sampling.done() else b""

    async def _read(self) -> dict[str, Any]:
        forager: Forager = self._app.state.forager
        async with (
            asyncio.timeout(forager.settings.api.statement_timeout),
            forager.pool.acquire(timeout=FREE_WITHIN_S) as conn,
        ):
            return await numbers.overview(conn, dead_after_s=forager.settings.worker.dead_after)


def _read_numbers(made: bytes) -> dict[str, Any] | None:
    """What is there may be anything."""
    try:
        shown = orjson.loads(made)
    except orjson.JSONDecodeError:
        return None
    return shown if isinstance(shown, dict) and shown.keys() >= {"at", *numbers.PUBLIC} else None


def _put(queue: asyncio.Queue[bytes | None], event: bytes | None) -> None:
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(event)


async def _can_listen(request: Request) -> bool:
    try:
        who, _ = await gate_of(request).authenticate(request, is_fresh=True)
    except (*AWAY, *AGAIN):
        return True  # it cannot be determined now; the next check will
    return who.role is not Role.ANONYMOUS
