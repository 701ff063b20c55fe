"""Renders every error as problem+json (RFC 9457): one clear sentence; the traceback is in the log, by request id.

error                                              status
no such path, domain, page, task …                 404
a stored body that has been deleted                410
a method the path does not have                    405, with Allow
a body that does not arrive in time                408
a request that conflicts with the current state    409
a body that is too large                           413
an invalid value                                   422, with the location of each
the database or the broker is unavailable or slow  503, with Retry-After
a bug in Forager                                   500, with the id of its traceback in the log
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

from forager.api.command_hints import add_http_requests
from forager.db.damage import find_corruption
from forager.db.pool import CONNECTION_LOST
from forager.dispatch.errors import BrokerUnavailableError
from forager.errors import (
    BadUrlError,
    BodyGoneError,
    ConfigurationError,
    ConflictError,
    DatabaseUnreachableError,
    ForagerError,
    NotFoundError,
    NotStoredError,
    StoreError,
    UsageError,
)
from forager.logs import log

MEDIA_TYPE = "application/problem+json"
URN = "urn:forager:problem:"
"""The prefix of every problem type."""
PROBLEMS: Mapping[str, str] = {
    "unsupported_option": "400: an option of Firecrawl that Forager does not have",
    "unauthenticated": "401: neither a session nor a token that is valid",
    "wrong_password": "401: name or password are wrong",
    "forbidden": "403: the role or the scope of who asks does not reach so far",
    "foreign_request": "403: a request that another site had the browser make",
    "not_found": "404: there is no such path, domain, page, task, …",
    "method_not_allowed": "405: the path has other methods, which `Allow` names",
    "fetch_timeout": "408: the page did not come in time",
    "fetch_failed": "502: the site could not be reached, or its response not be read",
    "body_timeout": "408: the body did not come to its end in time",
    "conflict": "409: it cannot be done to what is there now, for another reason than those below",
    "account_disabled": "409: the account is switched off",
    "account_exists": "409: the name is taken",
    "body_not_readable": "409: the stored body could not be read again",
    "body_not_stored": "409: it needs stored bodies, and none were kept",
    "check_running": "409: a check is under way",
    "dependency_cycle": "409: a task cannot wait for itself",
    "dependency_ended": "409: the task it should wait for ended otherwise than well",
    "domain_held": "409: a worker holds the domain",
    "domain_denied": "409: the domain is on the deny list",
    "domain_known": "409: the domain is known, so that it can only be purged or blocked",
    "domain_without_turn": "409: the domain is blocked, at rest or finished, and has no turn",
    "exists": "409: the same is there already",
    "fetch_denied": "409: robots.txt or the address guard forbids the page",
    "job_running": "409: the job is running right now",
    "last_admin": "409: nobody else could sign in as an admin",
    "not_configured": "409: a setting is missing or wrong for it",
    "not_possible": "409: the database does not allow it as things are",
    "proxy_in_use": "409: domains use the proxy; `force` removes it all the same",
    "proxy_without_user": "409: a proxy without a user name has no password",
    "run_not_stoppable": "409: the run is over, or a `forager crawl` keeps it",
    "scope_needs_admin": "409: only an admin's token may have this scope",
    "search_moved": "409: the cursor is of a search server that is not asked any more",
    "storage_busy": "409: another archive, purge or crawl is in the way",
    "task_busy": "409: the task is just changing; try again in a moment",
    "task_closed": "409: what is closed never changes",
    "task_open": "409: there is an open task for the same page",
    "worker_not_running": "409: the worker has ended",
    "body_gone": "410: the body was stored and has been deleted, or lost",
    "body_too_large": "413: the body is larger than allowed",
    "unknown_host": "421: the request is for a host name that is not ours",
    "invalid_value": "422: values that cannot be taken; `errors` names each",
    "rate_limited": "429: too many requests, or too many at once; `retryAfter` says how many seconds to wait",
    "database_damaged": "500: files or the schema of the database are damaged; the detail says what to do",
    "internal_error": "500: a bug of ours; the log has it under `request_id`",
    "broker_unavailable": "503: the message broker does not answer",
    "busy": "503: all places are taken for now",
    "database_contended": "503: somebody else is changing the same",
    "database_full": "503: the database has no room left",
    "database_read_only": "503: the database takes no changes for now",
    "database_slow": "503: the database took too long",
    "database_unavailable": "503: the database does not answer",
    "http_error": "other: HTTP itself refuses it",
}
"""The last part of a problem type → when it occurs. Programs distinguish problems by it; the sentences may change."""
BY_STATUS: Mapping[int, str] = {
    404: "not_found",
    405: "method_not_allowed",
    408: "body_timeout",
    413: "body_too_large",
    503: "busy",
}
RETRY_AFTER_S = 2
"""About the time that a restart of PostgreSQL takes."""
MOST_TROUBLES = 20
"""The limit of reported errors: a request may contain a thousand invalid lines."""


class Trouble(BaseModel):
    """One value that was refused."""

    where: str = Field(
        description="Where it stood, such as `body.priority` or `query.limit`.", examples=["query.limit"]
    )
    what: str = Field(examples=["Input should be less than or equal to 1000"])


class Problem(BaseModel):
    """An error, as RFC 9457 has it."""

    type: str = Field(
        description="Which kind of problem it is; programs tell problems apart by it.",
        examples=["urn:forager:problem:not_found"],
    )
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["There is no domain 'exmaple.com'. Did you mean example.com?"])
    error: str = Field(description="The detail again, for clients of a simpler kind.", examples=["Not found"])
    request_id: str | None = Field(None, description="What the log calls this request.", examples=["5f0c21d7a9be4c10"])
    errors: list[Trouble] | None = Field(None, description="Of a 422: each value that was refused, at least one.")
    retryAfter: int | None = Field(None, description="Of a 429: seconds to wait.")  # noqa: N815 (a public name)


class TooManyError(ForagerError):
    """All capacity is in use: a 503, to be retried."""

    problem = "busy"


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Returns the `responses` of a route for OpenAPI: these problems, and those that any route may return."""
    common = (401, 403, 422, 429, 503)
    return {status: build_error_spec(status) for status in sorted({*common, *statuses})}


def build_error_spec(status: int) -> dict[str, Any]:
    return {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {"schema": SCHEMA}}}


SCHEMA = {"$ref": "#/components/schemas/Problem"}


def build_response(
    request: Request | None,
    status: int,
    detail: str,
    problem: str,
    *,
    headers: Mapping[str, str] | None = None,
    errors: Sequence[Mapping[str, str]] | None = None,
) -> Response:
    document: dict[str, Any] = {
        "type": type_of(problem),
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "error": detail,
        "request_id": request.scope.get("request_id") if request else None,
    }
    if errors is not None:
        document["errors"] = errors
    return Response(orjson.dumps(document), status, dict(headers or {}), MEDIA_TYPE)


def type_of(problem: str) -> str:
    return URN + problem


def install(app: FastAPI) -> None:
    for kind, handler in (
        (RequestValidationError, _on_validation_error),
        (HTTPException, _reject),
        (ForagerError, _tell),
        (asyncpg.PostgresError, _map_db_error),
    ):
        app.add_exception_handler(kind, handler)
    for lost in CONNECTION_LOST:
        assert issubclass(lost, Exception)
        app.add_exception_handler(lost, _on_unavailable)


# Request errors ------------------------------------------------------------------------------------------------------


async def _on_validation_error(request: Request, error: Exception) -> Response:
    """Does not repeat the values themselves: one may be a password, or not valid text."""
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    troubles = [
        {"where": _printable(".".join(map(str, one["loc"]))), "what": _printable(one["msg"])}
        for one in found[:MOST_TROUBLES]
    ]
    first = troubles[0] if troubles else {"where": "request", "what": "cannot be understood"}
    more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
    return reject_values(request, f"{first['where']}: {first['what']}{more}.", troubles or [first])


def reject_values(request: Request, sentence: str, errors: Sequence[Mapping[str, str]]) -> Response:
    return build_response(request, 422, sentence, "invalid_value", errors=errors)


async def _reject(request: Request, error: Exception) -> Response:
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
        case 400:  # a body that is not JSON, or not text
            sentence = "body: it cannot be read as JSON."
            return reject_values(request, sentence, [{"where": "body", "what": "it cannot be read as JSON"}])
        case _:
            detail = _printable(str(error.detail))
    return build_response(
        request, error.status_code, detail, BY_STATUS.get(error.status_code, "http_error"), headers=headers
    )


def methods_of(request: Request) -> list[str]:
    """Returns all methods of a path, over all routes."""
    found: set[str] = set()
    for pattern, methods in request.app.state.methods:
        if pattern.match(request.scope["path"]):
            found |= methods
    return sorted(found | ({"HEAD"} if "GET" in found else set()) | {"OPTIONS"})


async def _tell(request: Request, error: Exception) -> Response:
    sentence = add_http_requests(str(error))
    match error:
        case BodyGoneError():
            return build_response(request, 410, sentence, error.problem)
        case NotFoundError():
            return build_response(request, 404, sentence, error.problem)
        case UsageError():
            return reject_values(request, sentence, [{"where": _locate_field(request, error.field), "what": sentence}])
        case BadUrlError():
            return reject_values(request, sentence, [{"where": _locate_field(request, "url"), "what": sentence}])
        case NotStoredError() | ConflictError() | ConfigurationError():
            return build_response(request, 409, sentence, error.problem)
        case StoreError() if error.reason == "missing":
            return build_response(request, 404, sentence, "not_found")
        case DatabaseUnreachableError():
            return await _on_unavailable(request, error)
        case BrokerUnavailableError():
            return build_response(request, 503, sentence, "broker_unavailable", headers={"Retry-After": "5"})
        case TooManyError():
            return build_response(request, 503, sentence, error.problem, headers={"Retry-After": "5"})
        case _:
            return build_response(request, 409, sentence, "conflict")


def _locate_field(request: Request, field: str | None) -> str:
    """Returns where the request contains the field of this name: in its path, its query or its body."""
    given = {"path": request.path_params, "query": request.query_params}
    for place, names in given.items():
        if field is not None and field in names:
            return f"{place}.{field}"
    place = "query" if request.method in {"GET", "HEAD", "DELETE"} else "body"
    return f"{place}.{field}" if field else place


# Database errors -----------------------------------------------------------------------------------------------------


async def _map_db_error(request: Request, error: Exception) -> Response:
    match error:
        case asyncpg.QueryCanceledError():
            sentence = "The database took too long; narrow the question, or ask again later."
            return _later(request, sentence, "database_slow")
        case asyncpg.DeadlockDetectedError() | asyncpg.SerializationError() | asyncpg.LockNotAvailableError():
            return _later(request, "Somebody else is changing the same; ask again.", "database_contended")
        case (
            asyncpg.TooManyConnectionsError()
            | asyncpg.OperatorInterventionError()
            | asyncpg.ObjectNotInPrerequisiteStateError()
        ):
            return await _on_unavailable(request, error)
        case asyncpg.DiskFullError() | asyncpg.InsufficientResourcesError():
            return _later(request, f"The database has no room left.{_retry_warning(request)}", "database_full")
        case asyncpg.ReadOnlySQLTransactionError():
            return _later(request, f"The database is read-only for now.{_retry_warning(request)}", "database_read_only")
        case asyncpg.DataError():
            sentence = "A value is not one the database can hold."
            return reject_values(request, sentence, [{"where": _locate_field(request, None), "what": sentence}])
        case asyncpg.UniqueViolationError():
            return build_response(request, 409, "That is there already.", "exists")
        case asyncpg.CheckViolationError() | asyncpg.ForeignKeyViolationError():
            return build_response(request, 409, f"That is not possible now: {_printable(str(error))}.", "not_possible")
        case _:
            return await report_bug(request, error)


async def _on_unavailable(request: Request, error: Exception) -> Response:
    log().warning("database away", action="api.away", request=request.scope.get("request_id"), error=repr(error))
    request.app.state.call_back()
    return _later(
        request, f"The database is away.{_retry_warning(request) or ' Ask again in a moment.'}", "database_unavailable"
    )


def _retry_warning(request: Request) -> str:
    """Returns the warning for changes: a connection may be lost during COMMIT, and some changes take several
    transactions."""
    if request.scope["method"] in {"GET", "HEAD"}:
        return ""
    return " What was ordered may or may not have been done: look before you order it again."


def _later(request: Request, sentence: str, problem: str) -> Response:
    return build_response(request, 503, sentence, problem, headers={"Retry-After": str(RETRY_AFTER_S)})


async def report_bug(request: Request, error: Exception) -> Response:
    if damage := find_corruption(error):
        log().error("database damaged", action="database.damaged", path=request.url.path, error=str(error))
        return build_response(request, 500, damage, "database_damaged")
    log().error(
        "a bug of ours",
        action="api.broken",
        request=request.scope.get("request_id"),
        path=request.url.path,
        trace="".join(traceback.format_exception(error)),
    )
    return build_response(request, 500, "A bug of ours; the log has it under the id of this request.", "internal_error")


def _printable(text: str) -> str:
    """Makes any client input safe for JSON."""
    return text.encode("utf-8", "replace").decode()
