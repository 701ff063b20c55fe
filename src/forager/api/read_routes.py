"""Plain routes for reads, built from the declarations of FastAPI's routes.

FastAPI resolves the declarations of a route again for every request, which costs more than the response itself. Here
they are read once: a `ReadRoute` validates each parameter with FastAPI's own validator, runs the route's access
dependency, and calls the route's function. A request that it cannot serve (an unknown parameter, an invalid value) is
passed to FastAPI before it is counted, so only one component reports errors. A test sends every read both ways.
"""

import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any
from urllib.parse import parse_qsl

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from forager.api.access import DOORS

Values = dict[str, Any]
NOTHING: Mapping[str, str] = {}
PIECES = "forager.path_pieces"
"""The scope key for the parameters of the path."""
UNCHANGING = (NoneType, bool, int, float, str)


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    alias: str
    is_required: bool
    default: Any
    check: Callable[[Any], tuple[Any, list[Any]]]
    """Returns the validated value, and the errors."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How to call the function of a route."""

    converters: Mapping[str, Any]
    path: Sequence[Parameter]
    query: Sequence[Parameter]
    aliases: frozenset[str]
    request_name: str | None
    who_name: str
    admit: Callable[[Request], Awaitable[Any]]
    call: Callable[..., Awaitable[Response]]

    def read(self, pieces: Mapping[str, str], query: bytes) -> Values | None:
        """Returns the arguments of the function; None if FastAPI has to report what is wrong."""
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
    """Returns the query parameters, or None if one is repeated."""
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    asked = dict(pairs)
    return asked if len(asked) == len(pairs) else None


class ReadRoute(BaseRoute):
    """Serves one GET route of FastAPI. Passes requests that do not match its declaration to `declared`, FastAPI's own
    routes."""

    def __init__(self, route: APIRoute, plan: Plan, declared: ASGIApp) -> None:
        self._route, self._plan, self._declared = route, plan, declared
        self._match = route.path_regex.match

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http" or scope["method"] != "GET" or (found := self._match(scope["path"])) is None:
            return Match.NONE, {}
        return Match.FULL, {PIECES: found.groupdict()}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        plan = self._plan
        values = plan.read(scope[PIECES], scope["query_string"])
        if values is None:
            return await self._declared(scope, receive, send)
        request = Request(scope, receive, send)
        values[plan.who_name] = await plan.admit(request)
        if plan.request_name is not None:
            values[plan.request_name] = request
        response = await plan.call(**values)
        return await response(scope, receive, send)


def read_routes(routes: Iterable[Any], declared: ASGIApp) -> list[ReadRoute]:
    """Returns a route for each read that can have one, in the order of the declared ones."""
    reads = [route for route in routes if "GET" in (route.methods or ())]
    return [ReadRoute(route, plan, declared) for route in reads if (plan := plan_of(route)) is not None]


def plan_of(route: Any) -> Plan | None:
    """Returns None if the route takes more than path and simple query parameters, or does not return a Response."""
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
    """Returns whether the field is a single query value with an immutable default."""
    info = field.field_info
    shape = json.dumps(TypeAdapter(info.annotation).json_schema())
    is_made = '"array"' in shape or '"properties"' in shape or info.validation_alias not in {None, field.alias}
    return not is_made and (info.is_required() or isinstance(info.default, UNCHANGING))


def _parameter(field: Any) -> Parameter:
    info = field.field_info
    return Parameter(field.name, field.alias, info.is_required(), info.default, field.validate)
