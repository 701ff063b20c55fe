"""Compresses responses with the best coding that the client accepts: zstd, brotli or gzip.

Not compressed: small bodies, content that is compressed already (images, dashboard files), event streams, which would
wait in a buffer, responses to changes, and all account responses. A response that contains a secret beside text that an
attacker can choose must not be compressed: its length would reveal the secret (BREACH).
"""

import asyncio
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import brotli  # type: ignore[import-untyped]
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

try:
    from compression import zstd  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    from backports import zstd  # type: ignore[no-redef, unused-ignore]

FEWEST_BYTES = 1000
LARGE_BYTES = 64 * 1024
"""Larger chunks are compressed in a thread: a megabyte takes some ten milliseconds."""
SECRET = ("/api/auth", "/api/tokens", "/api/admin/tokens", "/api/admin/users")
TYPES = ("text/", "application/json", "application/problem+json", "application/x-ndjson", "application/openmetrics")
NOT_TYPES = ("text/event-stream",)
SAFE = frozenset({"GET", "HEAD"})


class Encoder(Protocol):
    def feed(self, data: bytes) -> bytes:
        """Returns the compressed data that is ready."""

    def finish(self) -> bytes:
        """Returns the remaining data."""


class Gzip:
    def __init__(self) -> None:
        self._made = zlib.compressobj(6, wbits=31)
        self.feed, self.finish = self._made.compress, self._made.flush


class Brotli:
    def __init__(self) -> None:
        self._made = brotli.Compressor(quality=4)
        self.feed, self.finish = self._made.process, self._made.finish


class Zstd:
    def __init__(self) -> None:
        self._made = zstd.ZstdCompressor(level=3)
        self.feed, self.finish = self._made.compress, self._made.flush


ENCODERS: Mapping[str, Callable[[], Encoder]] = {"zstd": Zstd, "br": Brotli, "gzip": Gzip}
"""In order of preference, among codings that a client accepts with the same weight."""


def select_encoding(accepted: str) -> str | None:
    """Returns the coding for this Accept-Encoding header; None: identity."""
    weights = dict(_read_weight(each) for each in accepted.lower().split(",") if each.strip())
    others = weights.get("*", 0.0)
    found = max(ENCODERS, key=lambda name: weights.get(name, others))
    weight = weights.get(found, others)
    return found if weight > 0 and weight >= weights.get("identity", 0.0) else None


def _read_weight(text: str) -> tuple[str, float]:
    name, _, parameters = text.strip().partition(";")
    key, _, value = parameters.replace(" ", "").partition("=")
    try:
        return name.strip(), float(value) if key == "q" else 1.0
    except ValueError:
        return name.strip(), 0.0


class Compress:
    """Plain ASGI middleware, around the dashboard and the routes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in SAFE or scope["path"].startswith(SECRET):
            return await self._app(scope, receive, send)
        coding = select_encoding(Headers(scope=scope).get("accept-encoding", ""))
        return await self._app(scope, receive, _Compressing(send, coding).send)


class _Compressing:
    """Compresses one response."""

    def __init__(self, send: Send, coding: str | None) -> None:
        self._send = send
        self._coding = coding
        self._start: Message | None = None
        self._encoder: Encoder | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if not can_compress(message):
                return await self._send(message)
            MutableHeaders(raw=message.setdefault("headers", [])).add_vary_header("Accept-Encoding")
            if self._coding is None:
                return await self._send(message)
            self._start = message
        elif message["type"] == "http.response.body" and (self._start or self._encoder):
            await self._send_body(message)
        else:
            await self._send(message)
        return None

    async def _send_body(self, message: Message) -> None:
        body, is_more = message.get("body", b""), message.get("more_body", False)
        if self._start is not None:
            start, self._start = self._start, None
            if is_more or len(body) >= FEWEST_BYTES:
                self._encoder = ENCODERS[self._coding or ""]()
                body = await self._encode(body, is_more)
                self._name(start, None if is_more else len(body))
            await self._send(start)
        else:
            body = await self._encode(body, is_more)
        if body or not is_more:
            await self._send({**message, "body": body})

    def _name(self, start: Message, size: int | None) -> None:
        headers = MutableHeaders(raw=start["headers"])
        headers["Content-Encoding"] = self._coding or ""
        del headers["Content-Length"]
        if size is not None:
            headers["Content-Length"] = str(size)
        start["headers"] = headers.raw

    async def _encode(self, body: bytes, is_more: bool) -> bytes:
        encoder = self._encoder
        assert encoder is not None
        if len(body) > LARGE_BYTES:
            return await asyncio.to_thread(_feed, encoder, body, is_more)
        return _feed(encoder, body, is_more)


def _feed(encoder: Encoder, body: bytes, is_more: bool) -> bytes:
    ready = encoder.feed(body)
    return ready if is_more else ready + encoder.finish()


def can_compress(start: Mapping[str, Any]) -> bool:
    """Returns whether this response may be compressed. One with an ETag may not: the tag identifies these bytes."""
    headers = Headers(raw=start.get("headers", []))
    kind = headers.get("content-type", "")
    return (
        start["status"] not in {204, 206, 304}
        and kind.startswith(TYPES)
        and not kind.startswith(NOT_TYPES)
        and not any(name in headers for name in ("content-encoding", "etag", "set-cookie"))
    )
