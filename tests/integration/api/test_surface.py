"""The whole surface: what answers whom, and whether answers are what the document says."""

from typing import Any

import asyncpg
import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from tests.integration.api.house import NAME, furnish

from forager.api import routes
from forager.api.openapi import Parameters

NEEDED = {
    "url": "http://a.example/read",
    "of": NAME,
    "q": "lamp",
    "metric": "visits",
    "pages_per_hour": "100",
    "from": "1",
    "to": "1",
}
NAMES = {"domain": NAME, "kind": "pages", "fingerprint": "0000", "job": "score", "rule": "error_rate"}
BYTES = {
    "/api/images/{image}/thumbnail",
    "/api/images/{image}/file",
    "/api/pages/{page}/screenshot",
    "/api/pages/{page}/text",
}
"""The house has rows of them and no files."""
OPEN_TO_ALL = {
    ("GET", "/health"),
    ("GET", "/api/stats"),
    ("POST", "/api/auth/login"),
    ("POST", "/api/auth/accept"),
    ("POST", "/api/auth/logout"),
}
FOR_USERS = {
    ("POST", "/api/auth/password"),
    ("DELETE", "/api/auth/sessions"),
    ("DELETE", "/api/auth/sessions/{session}"),
    ("POST", "/api/tokens"),
    ("DELETE", "/api/tokens/{token}"),
}
"""Changes that concern nobody but who makes them."""
KEEPERS = ("/api/admin/audit", "/api/admin/users", "/api/admin/tokens")
"""Accounts: only for who may manage them, also to look at."""
SEEDS = {
    "POST /api/admin/tasks",
    "POST /api/admin/tasks/batch",
    "GET /api/admin/tasks",
    "GET /api/admin/tasks/{task}",
    "GET /api/admin/tasks/{task}/history",
    "POST /api/admin/tasks/{task}/restart",
    "POST /api/admin/tasks/{task}/restart-parsing",
    "POST /api/admin/tasks/restart-failed",
    "POST /api/admin/tasks/{task}/pause",
    "POST /api/admin/tasks/{task}/resume",
    "POST /api/admin/tasks/{task}/cancel",
    "PATCH /api/admin/tasks/{task}/priority",
    "POST /api/admin/domains",
    "GET /api/admin/domains",
    "GET /api/admin/domains/{domain}",
    "PATCH /api/admin/domains/{domain}",
    "DELETE /api/admin/domains/{domain}",
    "POST /api/admin/domains/{domain}/reset",
    "GET /api/domains/{domain}/robots",
    "POST /api/admin/proxies",
    "GET /api/admin/proxies",
    "GET /api/admin/proxies/{proxy}",
    "PATCH /api/admin/proxies/{proxy}",
    "DELETE /api/admin/proxies/{proxy}",
    "POST /api/admin/proxies/{proxy}/enable",
    "POST /api/admin/proxies/{proxy}/disable",
    "POST /api/admin/domains/{domain}/proxies",
    "DELETE /api/admin/domains/{domain}/proxies/{proxy}",
    "GET /api/admin/domains/{domain}/proxies",
    "PATCH /api/admin/domains/{domain}/proxies/{proxy}",
    "GET /api/admin/domains/{domain}/proxies/advice",
    "GET /api/products",
    "GET /api/products/{product}",
    "GET /api/products/search",
    "GET /health",
    "GET /api/stats",
    "GET /api/stats/timeseries",
    "GET /api/frontier/stats",
    "GET /api/frontier/urls",
    "POST /api/frontier/add",
    "POST /api/frontier/seed",
    "POST /api/frontier/recover",
    "DELETE /api/frontier",
    "DELETE /api/admin/pages",
    "GET /api/pages",
    "GET /api/domains",
    "POST /api/auth/login",
}
"""What seeds 002 and 004 ask for. One PATCH of a pool's member switches it and gives it a priority."""


def operations(app: FastAPI) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method.upper(), path, operation)
        for path, found in app.openapi()["paths"].items()
        for method, operation in found.items()
    ]


def spelled(path: str) -> str:
    """A path of the document as a request would have it: names are the house's, numbers are 1."""
    for piece in [piece for piece in path.split("/") if piece.startswith("{")]:
        path = path.replace(piece, NAMES.get(piece.strip("{}"), "1"))
    return path


def asked(operation: dict[str, Any]) -> dict[str, str]:
    found = [each for each in operation.get("parameters", ()) if each["in"] == "query" and each.get("required")]
    return {each["name"]: NEEDED.get(each["name"], NAME) for each in found}


def models() -> dict[str, Any]:
    """Path → what its GET answers with."""
    found = [route for router in routes.ALL for route in router.routes if isinstance(route, APIRoute)]
    return {route.path_format: route.response_model for route in found if "GET" in (route.methods or ())}


def test_every_endpoint_of_the_seeds_is_there(app: FastAPI) -> None:
    there = {f"{method} {path}" for method, path, _ in operations(app)}
    assert there >= SEEDS


def test_every_operation_is_described(app: FastAPI) -> None:
    ids = [operation["operationId"] for _, _, operation in operations(app)]
    assert len(ids) == len(set(ids))
    for method, path, operation in operations(app):
        assert operation["tags"], f"{method} {path}"
        assert operation.get("description") or "accounts" in operation["tags"], f"{method} {path}"
        assert operation["responses"]["422"]["content"]["application/problem+json"], f"{method} {path}"


def test_what_a_route_takes_is_what_the_document_says(app: FastAPI) -> None:
    """Which is not asked, as writing it takes a second."""
    for method, path, operation in operations(app):
        found = [each for each in operation.get("parameters", ()) if each["in"] == "query"]
        lists = {each["name"] for each in found if each["schema"].get("type") == "array"}
        assert app.state.parameters[path, method] == Parameters(
            frozenset(each["name"] for each in found), frozenset(lists)
        )


async def test_every_answer_is_what_the_document_says(
    app: FastAPI, admin: httpx.AsyncClient, conn: asyncpg.Connection
) -> None:
    await furnish(conn)
    wrong, seen = [], 0
    for method, path, operation in operations(app):
        model = models().get(path)
        if method != "GET" or path in {"/api/live", *BYTES}:
            continue
        answer = await admin.get(spelled(path), params=asked(operation))
        if answer.status_code not in {200, 404}:
            wrong.append(f"{path}: {answer.status_code} {answer.text[:200]}")
        elif answer.status_code == 200 and model is not None:
            seen += 1
            TypeAdapter(model).validate_json(answer.content)
    assert wrong == []
    assert seen > 60


async def test_nobody_passes_without_a_login_but_where_it_is_meant(app: FastAPI, anybody: httpx.AsyncClient) -> None:
    passed = set()
    for method, path, operation in operations(app):
        answer = await anybody.request(method, spelled(path), params=asked(operation))
        if answer.status_code != 401:
            passed.add((method, path))
        else:
            assert answer.json()["error"] == "Authentication required"
            assert answer.headers["content-type"] == "application/problem+json"
    assert passed <= OPEN_TO_ALL
    assert ("GET", "/health") in passed


async def test_a_user_reads_everything_and_changes_nothing(
    app: FastAPI, user: httpx.AsyncClient, conn: asyncpg.Connection
) -> None:
    await furnish(conn)
    before = await conn.fetchval("SELECT count(*) FROM audit_log WHERE outcome <> 'denied'")
    for method, path, operation in operations(app):
        if path == "/api/live" or (method, path) in OPEN_TO_ALL | FOR_USERS:
            continue
        answer = await user.request(method, spelled(path), params=asked(operation))
        is_look = method == "GET" and not path.startswith(KEEPERS)
        assert (answer.status_code == 403) is not is_look, f"{method} {path}: {answer.status_code}"
        if not is_look:
            assert answer.json()["error"] == "Insufficient permissions"
    assert await conn.fetchval("SELECT count(*) FROM audit_log WHERE outcome <> 'denied'") == before


async def test_secrets_are_not_among_the_settings(user: httpx.AsyncClient) -> None:
    shown = {row["name"]: row["value"] for row in (await user.get("/api/settings")).json()["items"]}
    assert shown["secret_key"] == "***"
    assert shown["database.url"] == "***"
    assert shown["api.port"] == 8600


@pytest.mark.parametrize("path", ["/health", "/api/domains", "/api/nothing"])
async def test_every_answer_keeps_browsers_safe(user: httpx.AsyncClient, path: str) -> None:
    headers = (await user.get(path)).headers
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert len(headers["x-request-id"]) == 16
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers
