"""Who may ask what: the whole surface against the roles, by its declarations and over HTTP.

A new route is in no list here: then it needs the role its method asks for, or this fails.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.integration.api.conftest import Client, client_for, running

from forager.accounts.routes.auth import require_session
from forager.api import access, routes

PUBLIC = {"GET /health", "GET /api/stats", "POST /api/auth/login", "POST /api/auth/accept"}
OWN = {
    "POST /api/auth/logout",
    "POST /api/auth/password",
    "DELETE /api/auth/sessions",
    "DELETE /api/auth/sessions/{session}",
    "POST /api/tokens",
    "DELETE /api/tokens/{token}",
}
"""Changes everybody makes to what is theirs alone."""
ADMIN_LOOKS = {"GET /api/admin/audit", "GET /api/admin/users", "GET /api/admin/users/{user}", "GET /api/admin/tokens"}
ACCOUNTS = ("/api/admin/users",)
SEEDS = ("/api/frontier/seed", "/api/frontier/add")
KINDS: dict[Any, str] = {
    access.allow_any: "anyone",
    access.user: "user",
    access.admin: "admin",
    access.seeding: "seeding",
    access.keeper: "keeper",
    require_session: "user",
}


def dependencies(dependant: Any) -> Iterator[Any]:
    for inner in dependant.dependencies:
        yield inner.call
        yield from dependencies(inner)


def surface() -> Iterator[tuple[str, str, set[str]]]:
    for router in routes.ALL:
        for route in router.routes:
            kinds = {KINDS[call] for call in dependencies(route.dependant) if call in KINDS}
            for method in route.methods:
                yield method, route.path, kinds


SURFACE = sorted({(f"{method} {path}", method, path) for method, path, _ in surface()})


def test_every_route_asks_for_one_role_and_for_the_right_one() -> None:
    wrong = {
        f"{method} {path}": kinds for method, path, kinds in surface() if not kinds or kinds - allowed(method, path)
    }
    assert wrong == {}
    assert len(SURFACE) > 50


def allowed(method: str, path: str) -> set[str]:
    name = f"{method} {path}"
    if name in PUBLIC:
        return {"anyone"}
    if name in OWN:
        return {"user"}
    if name in ADMIN_LOOKS:
        return {"admin"}
    if method == "GET":
        return {"user"}
    if path.startswith(ACCOUNTS):
        return {"keeper"}
    return {"seeding"} if path in SEEDS else {"admin", "seeding"}


def test_the_lists_name_nothing_that_is_gone() -> None:
    assert {name for name, _, _ in SURFACE} >= PUBLIC | OWN | ADMIN_LOOKS


def filled(path: str) -> str:
    """With something in every place; whether it is there does not matter to who may ask."""
    return "/".join("1" if part.startswith("{") else part for part in path.split("/"))


async def test_without_a_login_nothing_but_the_public_part_answers(anybody: Client) -> None:
    for name, method, path in SURFACE:
        if name not in PUBLIC:
            answer = await anybody.request(method, filled(path))
            assert (name, answer.status_code, answer.json()["error"]) == (name, 401, access.WHO_ARE_YOU)


async def test_a_user_changes_nothing_but_their_own(user: Client) -> None:
    for name, method, path in SURFACE:
        if name not in PUBLIC and ((method != "GET" and name not in OWN) or name in ADMIN_LOOKS):
            answer = await user.request(method, filled(path))
            assert (name, answer.status_code, answer.json()["error"]) == (name, 403, access.NOT_YOURS)


async def test_a_token_to_read_with_changes_nothing_at_all(user: Client) -> None:
    for name in sorted(OWN - {"POST /api/auth/logout"}):
        method, _, path = name.partition(" ")
        body = {"current": "x", "new": "y"} if "password" in path else {"name": "x"} if method == "POST" else None
        answer = await user.request(method, filled(path), json=body)
        assert (name, answer.status_code) == (name, 403)


@pytest.mark.parametrize("name", sorted(PUBLIC))
async def test_the_public_part_needs_no_login(anybody: Client, name: str) -> None:
    method, _, path = name.partition(" ")
    answer = await anybody.request(method, path, json={} if method == "POST" else None)
    assert answer.status_code in {200, 422}


async def test_health_is_answered_as_often_as_load_balancers_ask(settings: Any) -> None:
    limits = {"api_rate_limit_anonymous": 1, "api_rate_limit_user": 5}
    async with running(settings.replace(**limits)) as app, client_for(app) as client:
        assert [(await client.get("/health")).status_code for _ in range(6)] == [200] * 5 + [429]
        assert [(await client.get("/api/stats")).status_code for _ in range(2)] == [200, 429]
