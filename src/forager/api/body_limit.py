"""Rejects large bodies from anonymous callers before they are read, and counts those requests. FastAPI reads and parses
a body before it authenticates the sender; a list of seeds may be as large as `api.max_seeds_size`, and parsing one
takes a tenth of a second in which the process serves no other request.
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
"""More than a login request needs."""
DRAINED_BYTES = 1024 * 1024
"""An anonymous body up to this declared size is read and discarded; a larger one is left unread."""


class BodyLimit:
    """Plain ASGI middleware, in front of the routes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] not in SAFE and is_large(Headers(scope=scope)):
            request = Request(scope)
            if (reason := await _check_request(request)) is not None:
                refusal = await handle_access_error(request, reason)
                refusal.headers["Connection"] = "close"
                if should_drain(request.headers):  # a client that is still sending would not read the error
                    with contextlib.suppress(HTTPException):
                        await drain(receive)
                return await refusal(scope, receive, send)
        return await self._app(scope, receive, send)


def should_drain(headers: Headers) -> bool:
    """Returns whether discarding the body is cheaper than closing the connection."""
    told = headers.get("content-length", "")
    return told.isdecimal() and int(told) <= DRAINED_BYTES


def is_large(headers: Headers) -> bool:
    """Returns whether the body is large; one without a declared length counts as large."""
    told = headers.get("content-length")
    if told is None:
        return "transfer-encoding" in headers
    return not told.isdecimal() or int(told) > LARGE_BYTES


async def _check_request(request: Request) -> Exception | None:
    """Returns why the request is rejected, or None for an authenticated caller; the route finds the identity in the
    request and does not count it again."""
    try:
        who = await enter(request)
    except CONNECTION_LOST:
        return None  # the route reports that the database is unavailable
    except (ApiError, MustWaitError) as error:
        return error
    return unknown() if who.role is Role.ANONYMOUS else None
