"""Large bodies of strangers are not read, and strangers are counted. FastAPI reads and parses a body before it asks who
sends it; a list of seeds may be as large as `api.max_seeds_size`, and parsing one takes a tenth of a second in which
nobody else is served.
"""

import contextlib

from fastapi import Request
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from forager.accounts.errors import MustWaitError
from forager.accounts.identity import Role
from forager.api.access import SAFE, ApiError, enter, handle_access_error, unknown
from forager.api.middleware import drain
from forager.db.pool import CONNECTION_LOST

LARGE_BYTES = 64 * 1024
"""More than anybody needs to sign in."""
DRAINED_BYTES = 1024 * 1024
"""What a stranger says to be so large is thrown away as it comes; the rest is left in the network."""


class BodyLimit:
    """Plain ASGI, in front of the routes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] not in SAFE and is_large(Headers(scope=scope)):
            request = Request(scope)
            if (reason := await _check_request(request)) is not None:
                refusal = await handle_access_error(request, reason)
                refusal.headers["Connection"] = "close"
                if should_drain(request.headers):  # a client that still sends would not hear why it is refused
                    with contextlib.suppress(HTTPException):
                        await drain(receive)
                return await refusal(scope, receive, send)
        return await self._app(scope, receive, send)


def should_drain(headers: Headers) -> bool:
    """Whether throwing a body away costs less than cutting its sender off."""
    told = headers.get("content-length", "")
    return told.isdecimal() and int(told) <= DRAINED_BYTES


def is_large(headers: Headers) -> bool:
    """What does not tell its length is taken to be large."""
    told = headers.get("content-length")
    if told is None:
        return "transfer-encoding" in headers
    return not told.isdecimal() or int(told) > LARGE_BYTES


async def _check_request(request: Request) -> Exception | None:
    """None: it is somebody we know; the route finds who it is in the request and does not count it again."""
    try:
        who = await enter(request)
    except CONNECTION_LOST:
        return None  # the route says that the database is away
    except (ApiError, MustWaitError) as error:
        return error
    return unknown() if who.role is Role.ANONYMOUS else None
