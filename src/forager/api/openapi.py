"""The OpenAPI document: complete enough that a client can be made from it."""

from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from forager.api.problems import Problem, problem_of

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
    ("images", "Images, where they were seen, their files."),
    ("search", "Finding pages, links and duplicates."),
    ("proxies", "Ways out, and the pools of domains."),
    ("exports", "Everything out again."),
    ("alerts", "What is wrong, who looks after it, who is told."),
    ("errors", "Failures that are one problem, and what to do with them."),
    ("storage", "What takes how much room; archives, backups, purges."),
    ("accounts", "Signing in, people, tokens."),
)


def name_route(route: APIRoute) -> str:
    """What a generated client calls it: the function's name; of the admin's spelling of a list, with that before it."""
    is_look = "GET" in (route.methods or ()) and route.path.startswith("/api/admin/")
    return f"admin_{route.name}" if is_look else route.name


@dataclass(frozen=True, slots=True)
class Parameters:
    """What may stand behind the question mark of a route."""

    names: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()
    """Those that may be given several times."""


NONE = Parameters()
WRITTEN: dict[int, dict[str, Any]] = {}
"""Writing it takes a second, and every application of a process has the same."""


def describe(app: FastAPI) -> None:
    """Write the document once, and learn from it what each route takes."""
    document = WRITTEN.get(len(app.routes)) or WRITTEN.setdefault(len(app.routes), _write(app))
    app.openapi = lambda: document  # type: ignore[method-assign]
    app.state.parameters = {
        (path, method.upper()): _parameters(operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }


def _parameters(operation: dict[str, Any]) -> Parameters:
    found = [each for each in operation.get("parameters", ()) if each["in"] == "query"]
    lists = [each["name"] for each in found if each["schema"].get("type") == "array"]
    return Parameters(frozenset(each["name"] for each in found), frozenset(lists))


def _write(app: FastAPI) -> dict[str, Any]:
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
    for operations in document["paths"].values():
        for operation in operations.values():
            if "requestBody" in operation:  # the door refuses what is too large or too slow, whatever it is for
                operation["responses"] |= {"408": problem_of(408), "413": problem_of(413)}
            if "after" in _parameters(operation).names:  # a cursor may belong to another list
                operation["responses"] |= {"404": problem_of(404)}
    return document
