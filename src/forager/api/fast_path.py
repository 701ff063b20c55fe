"""Reads that are well formed are answered without FastAPI's machinery, which costs more than the answer itself.

FastAPI walks 150 routes, and takes each declaration apart anew for every request. Here the same declarations are read
once, for all applications of a process:

    path  →  which route  →  its parameters, each by its own validator  →  who asks  →  the route's function

Whatever is not plain on that way (an unknown name, a refused value, a route that takes a body) goes on to FastAPI
untouched, before anybody was counted: one place says what is wrong. A test asks every read both ways.
"""

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any
from urllib.parse import parse_qsl

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.types import ASGIApp, Receive, Scope, Send

from forager.api.access import DOORS

Values = dict[str, Any]
NOTHING: Mapping[str, str] = {}
UNCHANGING = (NoneType, bool, int, float, str)


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    alias: str
    is_required: bool
    default: Any
    check: Callable[[Any], tuple[Any, list[Any]]]
    """The value as the function wants it, and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a route is asked."""

    converters: Mapping[str, Any]
    path: Sequence[Parameter]
    query: Sequence[Parameter]
    aliases: frozenset[str]
    request_name: str | None
    who_name: str
    admit: Callable[[Request], Awaitable[Any]]
    call: Callable[..., Awaitable[Response]]

    def read(self, pieces: Mapping[str, str], query: bytes) -> Values | None:
        """What the function is called with; None: FastAPI shall say what is wrong with it."""
        asked = _read_query(query) if query else NOTHING
        if asked is None or not self.aliases.issuperset(asked):
            return None
        values: Values = {}
        for each in self.path:
            values[each.name], wrong = each.check(self.converters[each.alias].convert(pieces[each.alias]))
            if wrong:
                return None
        for each in self.query:
            if each.alias in asked:
                values[each.name], wrong = each.check(asked[each.alias])
                if wrong:
                    return None
            elif each.is_required:
                return None
            else:
                values[each.name] = each.default
        return values


def _read_query(query: bytes) -> Mapping[str, str] | None:
    """None: a name is given twice."""
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    asked = dict(pairs)
    return asked if len(asked) == len(pairs) else None


class FastPath:
    """Plain ASGI, right in front of FastAPI."""

    def __init__(self, app: ASGIApp, *, plans: "Plans") -> None:
        self._app = app
        self._exact, self._rest = plans

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET" and (found := self._find(scope["path"])):
            plan, pieces = found
            values = plan.read(pieces, scope["query_string"])
            if values is not None:
                response = await _ask(plan, values, Request(scope, receive, send))
                return await response(scope, receive, send)
        return await self._app(scope, receive, send)

    def _find(self, path: str) -> tuple[Plan, Mapping[str, str]] | None:
        if (exact := self._exact.get(path)) is not None:
            return exact, NOTHING
        for pattern, plan in self._rest.get(_path_prefix(path), ()):
            if (match := pattern.match(path)) is not None:
                return (plan, match.groupdict()) if plan else None
        return None


async def _ask(plan: Plan, values: Values, request: Request) -> Response:
    try:
        values[plan.who_name] = await plan.admit(request)
        if plan.request_name is not None:
            values[plan.request_name] = request
        return await plan.call(**values)
    except Exception as error:
        handlers = request.app.exception_handlers
        for kind in type(error).__mro__:
            if kind in handlers:
                answer: Response = await handlers[kind](request, error)
                return answer
        raise


# Building it ---------------------------------------------------------------------------------------------------------

Table = dict[str, list[tuple[re.Pattern[str], Plan | None]]]
Plans = tuple[dict[str, Plan], Table]


def build_plans(routes: Sequence[Any]) -> Plans:
    """Paths without a parameter by themselves, where no route before them answers; all by how they begin, in order."""
    exact: dict[str, Plan] = {}
    table: Table = {}
    for route in routes:
        if "GET" not in (route.methods or ()):
            continue
        plan, rows = plan_of(route), table.setdefault(_path_prefix(route.path), [])
        if plan is not None and not route.param_convertors and not any(row[0].match(route.path) for row in rows):
            exact[route.path] = plan
        rows.append((route.path_regex, plan))
    if any("{" in beginning for beginning in table):
        raise ValueError("a route whose path begins with a parameter cannot be found by how it begins")
    return exact, table


def _path_prefix(path: str) -> str:
    """`/api/pages` of `/api/pages/1/tasks`."""
    return "/".join(path.split("/", 3)[:3])


def plan_of(route: Any) -> Plan | None:
    """None: it takes more than a path and simple values of a query, or does not write its answer itself."""
    if not isinstance(route, APIRoute) or route.body_field is not None or not _returns_response(route.endpoint):
        return None
    needs = route.dependant
    doors = [door for each in needs.dependencies for door in DOORS if each.call is door]
    fields = (*needs.path_params, *needs.query_params)
    others = needs.header_params, needs.cookie_params, needs.response_param_name, needs.background_tasks_param_name
    if len(doors) != 1 or len(needs.dependencies) != 1 or any(others) or not all(map(_is_simple, fields)):
        return None
    query = tuple(map(_parameter, needs.query_params))
    return Plan(
        converters=route.param_convertors,
        path=tuple(map(_parameter, needs.path_params)),
        query=query,
        aliases=frozenset(each.alias for each in query),
        request_name=needs.request_param_name,
        who_name=str(needs.dependencies[0].name),
        admit=doors[0],
        call=route.endpoint,
    )


def _returns_response(endpoint: Callable[..., Any]) -> bool:
    answer = inspect.signature(endpoint).return_annotation
    return inspect.iscoroutinefunction(endpoint) and isinstance(answer, type) and issubclass(answer, Response)


def _is_simple(field: Any) -> bool:
    """One text in the query, and a default that nobody can change."""
    info = field.field_info
    shape = json.dumps(TypeAdapter(info.annotation).json_schema())
    is_made = '"array"' in shape or '"properties"' in shape or info.validation_alias not in {None, field.alias}
    return not is_made and (info.is_required() or isinstance(info.default, UNCHANGING))


def _parameter(field: Any) -> Parameter:
    info = field.field_info
    return Parameter(field.name, field.alias, info.is_required(), info.default, field.validate)
