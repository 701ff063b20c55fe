"""One verb for many domains: each is done, noted and answered for; one that cannot be stops none of the others."""

import asyncpg
import httpx
import pytest
from tests.ground import Ground
from tests.integration.api.conftest import client_for, running, token_of

from forager.accounts.identity import Role, Scope
from forager.config.settings import Settings
from forager.domains.routes import bulk as domains_bulk

BULK = "/api/admin/domains/bulk"


async def order(client: httpx.AsyncClient, verb: str, *names: str) -> httpx.Response:
    return await client.post(BULK, json={"verb": verb, "names": list(names), "reason": "a test"})


async def test_each_is_done_and_told_and_noted(admin: httpx.AsyncClient, ground: Ground) -> None:
    await ground.a_domain("a.example")
    await ground.a_domain("b.example", is_active=False)
    told = (await order(admin, "pause", "a.example", "nobody.example", "b.example", "a.example")).json()
    assert (told["verb"], told["done"], told["failed"]) == ("pause", 2, 1)
    assert [(each["name"], each["is_done"]) for each in told["domains"]] == [
        ("a.example", True),
        ("nobody.example", False),
        ("b.example", True),
    ]
    assert [each["message"] for each in told["domains"][::2]] == ["Paused.", "It was paused already."]
    assert "nobody.example" in told["domains"][1]["message"]
    assert await ground.conn.fetchval("SELECT bool_or(is_active) FROM domains") is False
    noted = await ground.conn.fetch("SELECT object_id FROM audit_log WHERE action = 'domain.pause' ORDER BY id")
    assert [row["object_id"] for row in noted] == ["a.example", "b.example"]
    history = "SELECT reason FROM domain_history h JOIN domains d ON d.id = h.domain_id WHERE d.name = 'a.example'"
    assert await ground.conn.fetchval(history) == "a test"


@pytest.mark.parametrize("verb", ["resume", "reset", "reset_breaker", "rescore"])
async def test_every_verb_is_there(admin: httpx.AsyncClient, ground: Ground, verb: str) -> None:
    domain = await ground.a_domain(pages=1, is_active=verb != "resume", priority_score=-5)
    if verb == "reset_breaker":
        await ground.conn.execute("UPDATE domains SET breaker_state = 'open', breaker_opened_at = now()")
    told = (await order(admin, verb, "a.example")).json()
    assert (told["done"], told["failed"]) == (1, 0), told
    row = await ground.domain(domain)
    assert row["is_active"]
    assert row["breaker_state"] == "closed"
    assert (row["priority_score"] >= 0) == (verb == "rescore")


async def test_what_stands_still_has_no_score(admin: httpx.AsyncClient, ground: Ground) -> None:
    await ground.new_domain.blocked("a.example")
    await ground.a_domain("b.example")
    told = (await order(admin, "rescore", "a.example", "b.example")).json()
    assert [each["is_done"] for each in told["domains"]] == [False, True]
    assert "blocked" in told["domains"][0]["message"]


async def test_one_that_somebody_holds_stops_none_of_the_others(settings: Settings, ground: Ground) -> None:
    await ground.a_domain("a.example")
    await ground.a_domain("b.example")
    token = await token_of(ground.conn, Role.ADMIN, Scope.ADMIN)
    other = await asyncpg.connect(settings.database.url)
    try:
        async with (
            running(settings.replace(api_statement_timeout=2.0)) as app,
            client_for(app, token) as admin,
            other.transaction(),
        ):
            await other.execute("SELECT 1 FROM domains WHERE name = 'a.example' FOR UPDATE")
            told = (await order(admin, "pause", "a.example", "b.example")).json()
    finally:
        await other.close()
    assert [each["is_done"] for each in told["domains"]] == [False, True], told
    assert "Somebody else" in told["domains"][0]["message"]


async def test_what_there_was_no_time_for_is_told(
    admin: httpx.AsyncClient, ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ground.a_domain()
    monkeypatch.setattr(domains_bulk, "LONGEST_S", -1.0)
    told = (await order(admin, "pause", "a.example")).json()
    assert (told["done"], told["domains"][0]["is_done"]) == (0, False)
    assert await ground.conn.fetchval("SELECT is_active FROM domains")


async def test_an_order_is_bounded_and_for_administrators(admin: httpx.AsyncClient, user: httpx.AsyncClient) -> None:
    many = [f"{number}.example" for number in range(domains_bulk.MOST_AT_ONCE + 1)]
    assert (await order(admin, "pause", *many)).status_code == 422
    assert (await order(admin, "pause")).status_code == 422
    assert (await order(admin, "remove", "a.example")).status_code == 422
    assert (await order(user, "pause", "a.example")).status_code == 403


@pytest.mark.parametrize("verb", ["pause", "reset"])
async def test_a_dry_run_says_the_same_and_changes_nothing(admin: httpx.AsyncClient, ground: Ground, verb: str) -> None:
    domain = await ground.a_domain("a.example", pages=1)
    before = dict(await ground.domain(domain))
    body = {"verb": verb, "names": ["a.example", "nobody.example"]}
    tried = (await admin.post(BULK, json={**body, "dry_run": True})).json()
    assert (tried["dry_run"], tried["done"], tried["failed"]) == (True, 1, 1)
    assert dict(await ground.domain(domain)) == before
    for table in ("audit_log WHERE object_kind = 'domain'", "domain_history WHERE moved_by LIKE 'api:%'"):
        assert await ground.conn.fetchval(f"SELECT count(*) FROM {table}") == 0
    done = (await admin.post(BULK, json=body)).json()
    assert done == {**tried, "dry_run": False}
