"""Every error as problem+json (RFC 9457): one clear sentence, never a trace. The trace is in the log, by request id.

what went wrong                                    status
no such path, domain, page, task …                 404
a method the path does not have                    405, with Allow
a body that does not come to its end               408
what is asked for does not fit what is there       409
a body that is too large                           413
a value that cannot be understood                  422, with the place of each
the database or the broker is away, or took long   503, with Retry-After
a bug of ours                                      500, with the id under which the log has its trace
"""

import traceback
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import asyncpg
import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from forager.api.advice import in_both_worlds
from forager.db import CONNECTION_LOST
from forager.errors import (
    BadUrlError,
    ConfigurationError,
    ConflictError,
    DatabaseUnreachableError,
    ForagerError,
    NotFoundError,
    NotStoredError,
    StoreError,
    UsageError,
)
from forager.observe import log
from forager.queue.errors import BrokerAwayError

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = 2
"""A restart of PostgreSQL takes about so long."""
MOST_TROUBLES = 20
"""Of a request with a thousand bad lines, so many are told."""


class Trouble(BaseModel):
    """One value that was refused."""

    where: str = Field(
        description="Where it stood, such as `body.priority` or `query.limit`.", examples=["query.limit"]
    )
    what: str = Field(examples=["Input should be less than or equal to 1000"])


class Problem(BaseModel):
    """An error, as RFC 9457 has it."""

    type: str = Field(examples=["about:blank"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["There is no domain 'exmaple.com'. Did you mean example.com?"])
    error: str = Field(description="The detail again, for clients of a simpler kind.", examples=["Not found"])
    request_id: str | None = Field(None, description="What the log calls this request.", examples=["5f0c21d7a9be4c10"])
    errors: list[Trouble] | None = Field(None, description="Of a 422: each value that was refused.")
    retryAfter: int | None = Field(None, description="Of a 429: seconds to wait.")  # noqa: N815 (R235 spells it so)


class TooManyError(ForagerError):
    """All places are taken for now: 503, to be tried again."""


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For a route's OpenAPI entry: these problems, and those any route may answer with."""
    common = (401, 403, 422, 429, 503)
    return {status: problem_of(status) for status in sorted({*common, *statuses})}


def problem_of(status: int) -> dict[str, Any]:
    return {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {"schema": SCHEMA}}}


SCHEMA = {"$ref": "#/components/schemas/Problem"}


def answer(
    request: Request | None,
    status: int,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    errors: Sequence[Mapping[str, str]] | None = None,
) -> Response:
    document: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "error": detail,
        "request_id": request.scope.get("request_id") if request else None,
    }
    if errors is not None:
        document["errors"] = errors
    return Response(orjson.dumps(document), status, dict(headers or {}), MEDIA_TYPE)


def install(app: FastAPI) -> None:
    for kind, handler in (
        (RequestValidationError, _refuse_values),
        (HTTPException, _refuse),
        (ForagerError, _tell),
        (asyncpg.PostgresError, _blame_database),
    ):
        app.add_exception_handler(kind, handler)
    for lost in CONNECTION_LOST:
        assert issubclass(lost, Exception)
        app.add_exception_handler(lost, _away)


# What people asked ---------------------------------------------------------------------------------------------------


async def _refuse_values(request: Request, error: Exception) -> Response:
    """The values themselves are not repeated: one may be a password, or no text at all."""
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    troubles = [
        {"where": _printable(".".join(map(str, one["loc"]))), "what": _printable(one["msg"])}
        for one in found[:MOST_TROUBLES]
    ]
    first = troubles[0] if troubles else {"where": "request", "what": "cannot be understood"}
    more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
    return answer(request, 422, f"{first['where']}: {first['what']}{more}.", errors=troubles)


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    match error.status_code:
        case 404:
            detail = f"There is no {request.method} {_printable(request.url.path)[:200]}."
        case 405:
            headers["Allow"] = ", ".join(methods_of(request))
            if request.method == "OPTIONS":
                return Response(None, 204, headers)
            detail = f"{request.method} is not possible here; there is {headers['Allow']}."
        case 400:  # a body that is no JSON, or no text
            return answer(request, 422, "body: it cannot be read as JSON.", errors=[])
        case _:
            detail = _printable(str(error.detail))
    return answer(request, error.status_code, detail, headers=headers)


def methods_of(request: Request) -> list[str]:
    """All methods of a path, of whatever routes."""
    found: set[str] = set()
    for pattern, methods in request.app.state.methods:
        if pattern.match(request.scope["path"]):
            found |= methods
    return sorted(found | ({"HEAD"} if "GET" in found else set()) | {"OPTIONS"})


async def _tell(request: Request, error: Exception) -> Response:
    sentence = in_both_worlds(str(error))
    match error:
        case NotFoundError():
            return answer(request, 404, sentence)
        case UsageError() | BadUrlError():
            return answer(request, 422, sentence, errors=[])
        case NotStoredError() | ConflictError() | ConfigurationError():
            return answer(request, 409, sentence)
        case StoreError() if error.reason == "missing":
            return answer(request, 404, sentence)
        case DatabaseUnreachableError():
            return await _away(request, error)
        case TooManyError() | BrokerAwayError():
            return answer(request, 503, sentence, headers={"Retry-After": "5"})
        case _:
            return answer(request, 409, sentence)


# What the database said ----------------------------------------------------------------------------------------------


async def _blame_database(request: Request, error: Exception) -> Response:
    match error:
        case asyncpg.QueryCanceledError():
            return _later(request, "The database took too long; narrow the question, or ask again later.")
        case asyncpg.DeadlockDetectedError() | asyncpg.SerializationError() | asyncpg.LockNotAvailableError():
            return _later(request, "Somebody else is changing the same; ask again.")
        case (
            asyncpg.TooManyConnectionsError()
            | asyncpg.OperatorInterventionError()
            | asyncpg.ObjectNotInPrerequisiteStateError()
        ):
            return await _away(request, error)
        case asyncpg.DiskFullError() | asyncpg.InsufficientResourcesError():
            return _later(request, f"The database has no room left.{_unsure(request)}")
        case asyncpg.ReadOnlySQLTransactionError():
            return _later(request, f"The database is read-only for now.{_unsure(request)}")
        case asyncpg.DataError():
            return answer(request, 422, "A value is not one the database can hold.", errors=[])
        case asyncpg.UniqueViolationError():
            return answer(request, 409, "That is there already.")
        case asyncpg.CheckViolationError() | asyncpg.ForeignKeyViolationError():
            return answer(request, 409, f"That is not possible now: {_printable(str(error))}.")
        case _:
            return await confess(request, error)


async def _away(request: Request, error: Exception) -> Response:
    log().warning("database away", action="api.away", request=request.scope.get("request_id"), error=repr(error))
    request.app.state.call_back()
    return _later(request, f"The database is away.{_unsure(request) or ' Ask again in a moment.'}")


def _unsure(request: Request) -> str:
    """A connection that is lost may be lost during COMMIT, and some orders are carried out in several transactions."""
    if request.scope["method"] in {"GET", "HEAD"}:
        return ""
    return " What was ordered may or may not have been done: look before you order it again."


def _later(request: Request, sentence: str) -> Response:
    return answer(request, 503, sentence, headers={"Retry-After": str(RETRY_AFTER_S)})


async def confess(request: Request, error: Exception) -> Response:
    log().error(
        "a bug of ours",
        action="api.broken",
        request=request.scope.get("request_id"),
        path=request.url.path,
        trace="".join(traceback.format_exception(error)),
    )
    return answer(request, 500, "A bug of ours; the log has it under the id of this request.")


def _printable(text: str) -> str:
    """Fit for JSON whatever a client sent."""
    return text.encode("utf-8", "replace").decode()
