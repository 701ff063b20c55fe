"""Builds the OpenAPI document: complete enough to generate a client from it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, get_origin

from fastapi import FastAPI
from fastapi.dependencies.utils import get_flat_params
from fastapi.openapi.utils import get_openapi
from fastapi.params import Query
from fastapi.routing import APIRoute

from forager.api import schemas
from forager.api.errors import Problem, build_error_spec

TAGS = (
    ("system", "Health, workers, timetable, settings, promises, who changed what."),
    ("queues", "What is on its way to workers through a broker; messages nobody could use."),
    ("stats", "Numbers: now, over time, live, and for Prometheus."),
    ("domains", "Sites: their state, pace, robots.txt, traps; pause, reset, block."),
    ("frontier", "What waits to be visited, and seeds for it."),
    ("pages", "Everything that is known of URLs."),
    ("tasks", "Visits: the queue and the history; pause, resume, cancel, restart."),
    ("runs", "Orders to crawl."),
    ("products", "What pages of products say, and how prices moved."),
    ("records", "What extractors find on pages, with history and coverage; items of structured data."),
    ("images", "Images, where they were seen, their files."),
    ("search", "Finding pages, links and duplicates."),
    ("proxies", "Ways out, and the pools of domains."),
    ("captures", "Stored versions of pages: lists, bodies, differences."),
    ("exports", "Everything out again."),
    ("firecrawl", "Scrape, crawl and map as Firecrawl has them; off unless `api.firecrawl` is true."),
    ("alerts", "What is wrong, who looks after it, who is told."),
    ("errors", "Failures that are one problem, and what to do with them."),
    ("storage", "What takes how much room; archives, backups, purges."),
    ("accounts", "Signing in, people, tokens."),
)


def name_route(route: APIRoute) -> str:
    """Returns the operation id: the function's name, with the prefix `admin_` for the admin variant of a list."""
    is_look = "GET" in (route.methods or ()) and route.path.startswith("/api/admin/")
    return f"admin_{route.name}" if is_look else route.name


@dataclass(frozen=True, slots=True)
class Parameters:
    """The query parameters of a route."""

    names: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()
    """Parameters that may be repeated."""


NONE = Parameters()
SEVERAL = (list, set, frozenset, tuple)


def parameters_of(routes: Iterable[APIRoute]) -> dict[tuple[str, str], Parameters]:
    """Returns the query parameters by path and method: those of the OpenAPI document, without building it, which takes
    a second of CPU time."""
    return {
        (route.path_format, method): _get_query_params(route.dependant)
        for route in routes
        for method in route.methods or ()
    }


def _get_query_params(needs: Any) -> Parameters:
    found = [each for each in get_flat_params(needs) if isinstance(each.field_info, Query)]
    lists = [each.alias for each in found if get_origin(each.field_info.annotation) in SEVERAL]
    return Parameters(frozenset(each.alias for each in found), frozenset(lists))


def write(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        tags=[{"name": name, "description": says} for name, says in TAGS],
        servers=[{"url": "/", "description": "This instance."}],
    )
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    parts = problem.pop("$defs", {})
    document["components"]["schemas"] |= {**parts, "Problem": problem}
    schemas.simplify(document)
    for operations in document["paths"].values():
        for operation in operations.values():
            if "requestBody" in operation:  # the middleware rejects bodies that are too large or too slow
                operation["responses"] |= {"408": build_error_spec(408), "413": build_error_spec(413)}
            names = {each["name"] for each in operation.get("parameters", ())}
            if "after" in names:  # a cursor may belong to another list
                operation["responses"] |= {"404": build_error_spec(404)}
    return document
