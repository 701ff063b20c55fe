"""Middleware for every request: request id, body limit, HEAD as GET, security headers, access log.

Plain ASGI, because it runs a thousand times a second. It buffers nothing: bodies are limited while the authorized route
reads them.
"""

import asyncio
import contextlib
import secrets
from collections.abc import MutableMapping, Sequence
from typing import Any

from fastapi import Request
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from forager import clock
from forager.accounts.request_counter import WINDOW_S
from forager.api import errors as problems
from forager.api.authentication import QUOTAS, Quota
from forager.api.caller import Network, find_unknown_host, is_tls_for_host, read_networks
from forager.logs import log

SAFE = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Defaults that a route may override. No header allows other origins: CORS is off."""
REQUEST_ID = b"x-request-id"
RAW = [(name.lower().encode(), value.encode()) for name, value in SAFE.items()]

DRAINED_BYTES, DRAINED_S = 64 * 1024 * 1024, 10.0
BODY_WITHIN_S = 60.0
"""The limit for a whole body: the longest list of seeds at 2 Mbit/s. A slow client holds a connection no longer."""
CLOSE = {"Connection": "close"}
HSTS = (b"strict-transport-security", b"max-age=31536000")
"""For this host only: other hosts under its domain are not ours to decide about."""
STRAY = (
    "This API does not answer to the name {}: set api.public_url to the address that browsers use, or name the proxy in"
    " front of it in api.trusted_proxies."
)


class RequestMiddleware:
    def __init__(
        self,
        app: ASGIApp,
        *,
        body_bytes: int,
        seed_bytes: int,
        seed_paths: frozenset[str],
        public_url: str | None = None,
        trusted_proxies: Sequence[str] = (),
    ) -> None:
        self._app = app
        self._public_url = public_url
        self._trusted = read_networks(trusted_proxies)
        self._body_bytes = body_bytes
        self._seed_bytes = seed_bytes
        self._seed_paths = seed_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        scope["request_id"], scope[QUOTAS] = secrets.token_hex(8), []
        passage = _ResponseSender(scope, send, self._public_url, self._trusted)
        limit = self._seed_bytes if scope["path"] in self._seed_paths else self._body_bytes
        received = _Bounded(scope, receive, limit)
        inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
        try:
            if (stray := find_unknown_host(scope, self._public_url, self._trusted)) is not None:
                answer = problems.build_response(Request(inner), 421, STRAY.format(stray), "unknown_host")
                return await answer(inner, received, passage.send)
            await self._app(inner, received, passage.send)
        except _HeadIsEnough:
            pass
        except Exception as error:
            if passage.has_begun:  # the response is incomplete, and the client has to notice
                raise
            answer = await problems.report_bug(Request(inner), error)
            await answer(inner, receive, passage.send)
        finally:
            passage.write_log()
        return None


class _HeadIsEnough(Exception):  # noqa: N818 (nothing is wrong)
    """The headers of a streaming response to HEAD are sent; no client waits for its body."""


class _ResponseSender:
    """Sends one response."""

    def __init__(self, scope: Scope, send: Send, public_url: str | None, trusted: Sequence[Network]) -> None:
        self._scope = scope
        self._send = send
        self._public_url = public_url
        self._trusted = trusted
        self._is_head = scope["method"] == "HEAD"
        self._began = clock.monotonic()
        self._status = 0
        self.has_begun = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            self._status = message["status"]
            self._make_safe(message)
        elif self._is_head and message["type"] == "http.response.body":
            await self._send({"type": "http.response.body", "body": b""})
            if message.get("more_body"):
                raise _HeadIsEnough
            return
        await self._send(message)

    def _make_safe(self, message: MutableMapping[str, Any]) -> None:
        given = [header for header in message.get("headers", ()) if header[0] != REQUEST_ID]
        told = {name for name, _ in given}
        given += [header for header in RAW if header[0] not in told]
        given += quota_headers(self._scope[QUOTAS])
        if is_tls_for_host(self._scope, self._public_url, self._trusted):
            given.append(HSTS)
        message["headers"] = [*given, (REQUEST_ID, self._scope["request_id"].encode())]

    def write_log(self) -> None:
        log().info(
            "request",
            action="api.request",
            request=self._scope["request_id"],
            method=self._scope["method"],
            path=self._scope["path"],
            status=self._status,
            took_ms=round((clock.monotonic() - self._began) * 1000, 1),
        )


def quota_headers(quotas: Sequence[Quota]) -> list[tuple[bytes, bytes]]:
    """Returns `RateLimit-Policy` and `RateLimit`, as in the IETF draft (draft-ietf-httpapi-ratelimit-headers)."""
    if not quotas:
        return []
    policies = ", ".join(f'"{each.policy}";q={each.limit};w={WINDOW_S}' for each in quotas)
    standings = ", ".join(f'"{each.policy}";r={each.left};t={each.more_in_s}' for each in quotas)
    return [(b"ratelimit-policy", policies.encode()), (b"ratelimit", standings.encode())]


async def drain(receive: Receive) -> None:
    """Reads and discards a body that is too large: a client that is still sending would not read the error."""
    left = DRAINED_BYTES
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAINED_S):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if message["type"] != "http.request" or not message.get("more_body"):
                    return


class _Bounded:
    """Receives a body up to a size limit and a deadline. Its errors are rendered like any others; a body that no route
    reads has no limits."""

    def __init__(self, scope: Scope, receive: Receive, limit: int) -> None:
        self._scope = scope
        self._receive = receive
        self._limit = limit
        self._size = 0
        self._until: float | None = None
        self._is_over = False

    async def __call__(self) -> Message:
        if self._is_over:
            return await self._receive()
        if self._until is None:
            self._until = asyncio.get_running_loop().time() + BODY_WITHIN_S
            if not self._is_within_limit():
                await self._reject()
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408, f"The body took longer than {BODY_WITHIN_S:.0f} s; send it anew.", CLOSE) from None
        self._size += len(message.get("body", b""))
        if self._size > self._limit:
            await self._reject(is_all=not message.get("more_body"))
        self._is_over = message["type"] != "http.request" or not message.get("more_body")
        return message

    def _is_within_limit(self) -> bool:
        told = Headers(scope=self._scope).get("content-length")
        return told is None or (told.isdecimal() and int(told) <= self._limit)

    async def _reject(self, *, is_all: bool = False) -> None:
        if not is_all:
            await drain(self._receive)
        raise HTTPException(413, f"The body is larger than {self._limit:,} bytes; send less at once.", CLOSE)
