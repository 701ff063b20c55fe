"""Queues over HTTP, on a real RabbitMQ: what they hold, dead letters, once more, emptying; and who did it."""

import asyncio
import json
from typing import Any

import asyncpg
import httpx
import pytest
from tests.ground import Ground
from tests.integration.api.conftest import Client, client_for, running, token_of
from tests.queues import BROKER, Queues, queues, wire
from tests.wire import Wire

from forager.accounts.identity import Role, Scope
from forager.config.settings import Settings
from forager.dispatch.names import CRAWL
from forager.dispatch.service import NO_QUEUES

__all__ = ["queues", "wire"]


@pytest.fixture
def url() -> str:
    return BROKER


@pytest.fixture
def settings(settings: Settings, queues: Queues, url: str) -> Settings:
    return settings.replace(dispatch_mode="celery", dispatch_broker_url=url, dispatch_queue_prefix=queues.names.prefix)


async def noted(conn: asyncpg.Connection) -> list[tuple[Any, ...]]:
    """Without the token that acted, which another test looks at."""
    rows = await conn.fetch(
        "SELECT who, via, action, (details - 'credential_id')::text AS told FROM audit_log WHERE object_kind = 'queue'"
    )
    return [(row["who"], row["via"], row["action"], json.loads(row["told"])) for row in rows]


async def test_what_each_queue_holds(admin: Client, queues: Queues, ground: Ground) -> None:
    run = await ground.a_run()
    queues.runs.add(run)
    await admin.get("/api/queues")
    queues.publish_hint(queues.names.crawl(run, is_urgent=False), {"v": 1})
    queues.publish(queues.names.dead, {"what": "is this"})
    shown = (await admin.get("/api/queues")).json()
    assert (shown["mode"], shown["is_reachable"], shown["message"], shown["dead_letters"]) == ("celery", True, None, 1)
    holding = [(row["queue"], row["kind"], row["messages"]) for row in shown["queues"] if row["messages"]]
    assert holding == [
        (f"{queues.names.prefix}crawl_queue.{run}", "crawl_queue", 1),
        (queues.names.dead, "dead_letters", 1),
    ]
    assert {row["queue"] for row in shown["queues"]} == set(queues.all())


async def test_dead_letters_are_sent_once_more_and_thrown_away(
    admin: Client, queues: Queues, conn: asyncpg.Connection
) -> None:
    crawl = queues.names.prefix + CRAWL
    await admin.get("/api/queues")
    for number in range(3):
        queues.publish(queues.names.dead, {"number": number}, headers={"x-death": [{"queue": crawl}]})
    letters = (await admin.get("/api/queues/dead")).json()["items"]
    assert [(letter["queue"], letter["why"]) for letter in letters] == [(crawl, "it names no task of Forager")] * 3
    redrive = "/api/admin/queues/dead/redrive"
    unknown = await admin.post(redrive, json={"ids": ["000000000000"]})
    assert (unknown.status_code, "GET /api/queues/dead" in unknown.json()["detail"]) == (404, True)
    for unclear in ({}, {"ids": [letters[0]["id"]], "all": True}):
        assert (await admin.post(redrive, json=unclear)).status_code == 422
    assert await noted(conn) == []

    for which, number in (({"ids": [letters[0]["id"]]}, 1), ({"all": True}, 3)):
        tried = (await admin.post(redrive, json={**which, "dry_run": True})).json()
        assert tried == {"redriven": number, "dry_run": True}
    none = await admin.post(redrive, json={"ids": ["000000000000"], "dry_run": True})
    assert (none.status_code, queues.depth(queues.names.dead), await noted(conn)) == (404, 3, [])

    done = (await admin.post(redrive, json={"ids": [letters[0]["id"]]})).json()
    assert done == {"redriven": 1, "dry_run": False}
    assert (queues.depth(queues.names.dead), queues.depth(crawl)) == (2, 1)
    assert (await admin.delete("/api/admin/queues/dead", params={"dry_run": "true"})).json() == {
        "purged": {queues.names.dead: 2},
        "dry_run": True,
    }
    assert queues.depth(queues.names.dead) == 2
    assert (await admin.delete("/api/admin/queues/dead")).json()["purged"] == {queues.names.dead: 2}
    assert (queues.depth(queues.names.dead), queues.depth(crawl)) == (0, 1)
    assert await noted(conn) == [
        ("api:admin-admin", "token", "queue.redrive", {"letters": 1}),
        ("api:admin-admin", "token", "queue.purge", {"messages": 2}),
    ]


async def test_dead_letters_come_in_pages(admin: Client, queues: Queues) -> None:
    await admin.get("/api/queues")
    for number in range(5):
        queues.publish(queues.names.dead, {"number": number})
    found, after = [], None
    while True:
        page = (await admin.get("/api/queues/dead", params={"limit": 2} | ({"after": after} if after else {}))).json()
        found += [json.loads(letter["body"])["number"] for letter in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert found == [0, 1, 2, 3, 4]
    assert queues.depth(queues.names.dead) == 5


async def test_a_trial_promises_what_is_done(admin: Client, queues: Queues) -> None:
    """Letters that say the same are one, and one that says not where it was refused has no way back."""
    crawl, redrive = queues.names.prefix + CRAWL, "/api/admin/queues/dead/redrive"
    await admin.get("/api/queues")
    queues.publish(queues.names.dead, {"number": 1}, headers={"x-death": [{"queue": crawl}]})
    queues.publish(queues.names.dead, {"number": 2})
    ids = [letter["id"] for letter in (await admin.get("/api/queues/dead")).json()["items"]]
    which = {"ids": [*ids, ids[0]]}
    tried = (await admin.post(redrive, json={**which, "dry_run": True})).json()
    assert (tried, queues.depth(crawl)) == ({"redriven": 1, "dry_run": True}, 0)
    done = (await admin.post(redrive, json=which)).json()
    assert (done, queues.depth(crawl)) == ({"redriven": 1, "dry_run": False}, 1)


async def test_emptied_queues_are_offered_anew(
    admin: Client, queues: Queues, ground: Ground, conn: asyncpg.Connection
) -> None:
    run = await ground.a_run()
    queues.runs.add(run)
    domain = await ground.a_domain(run=run, pages=1)
    await conn.execute(
        "INSERT INTO dispatched_domains (domain_id, version, run_id, is_urgent) VALUES ($1, 0, $2, false)", domain, run
    )
    await admin.get("/api/queues")
    name = queues.names.crawl(run, is_urgent=False)
    queues.publish_hint(name, {"v": 1})
    assert (await admin.delete("/api/admin/queues", params={"dry_run": "true"})).json()["purged"][name] == 1
    assert await conn.fetchval("SELECT count(*) FROM dispatched_domains") == 1
    assert (await admin.delete("/api/admin/queues")).json()["purged"][name] == 1
    assert queues.depth(name) == 0
    assert await conn.fetchval("SELECT count(*) FROM dispatched_domains") == 0
    assert [note[2:] for note in await noted(conn)] == [("queue.purge", {"messages": 1})]


class TestWithAWire:
    @pytest.fixture
    def url(self, wire: Wire) -> str:
        return wire.url

    async def test_a_broker_that_is_away_is_named_and_found_again(
        self, admin: Client, wire: Wire, conn: asyncpg.Connection
    ) -> None:
        assert (await admin.get("/api/queues")).json()["is_reachable"] is True
        wire.cut()
        away = (await admin.get("/api/queues")).json()
        assert (away["mode"], away["is_reachable"], away["queues"], away["dead_letters"]) == ("celery", False, [], None)
        assert f"RabbitMQ at 127.0.0.1:{wire.port} does not answer" in away["message"]
        assert "guest" not in away["message"]
        refused = await admin.delete("/api/admin/queues")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert refused.json()["detail"] == away["message"]
        assert await noted(conn) == []
        wire.mend()
        assert (await admin.get("/api/queues")).json()["is_reachable"] is True

    async def test_a_connection_that_broke_meanwhile_is_not_a_broker_that_is_away(
        self, admin: Client, wire: Wire
    ) -> None:
        await admin.get("/api/queues")
        wire.cut()
        wire.mend()
        assert (await admin.get("/api/queues")).json()["is_reachable"] is True

    async def test_whoever_asks_of_a_silent_broker_waits_no_longer_for_others(
        self, admin: Client, wire: Wire, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Eight who ask at once are answered by one question: with a connection each they would wait for each other."""
        monkeypatch.setattr("forager.dispatch.broker.ANSWER_S", 0.3)
        monkeypatch.setattr("forager.dispatch.broker.CONNECT_S", 0.3)
        wire.hold()
        loop = asyncio.get_running_loop()
        began_at = loop.time()
        (await admin.get("/api/queues")).raise_for_status()
        alone_s = loop.time() - began_at
        answers = await asyncio.gather(*(admin.get("/api/queues") for _ in range(8)))
        took_s = loop.time() - began_at - alone_s
        wire.let_go()
        assert {answer.json()["is_reachable"] for answer in answers} == {False}
        assert took_s < 4 * alone_s


async def test_without_a_broker_it_says_so(settings: Settings, conn: asyncpg.Connection) -> None:
    inline = settings.replace(dispatch_mode="inline")
    token = await token_of(conn, Role.ADMIN, Scope.ADMIN)
    async with running(inline) as app, client_for(app, token) as admin:
        shown: httpx.Response = await admin.get("/api/queues")
        assert shown.json() == {
            "mode": "inline",
            "is_reachable": None,
            "message": NO_QUEUES,
            "queues": [],
            "dead_letters": None,
        }
        for method, path in (("GET", "/api/queues/dead"), ("DELETE", "/api/admin/queues")):
            refused = await admin.request(method, path)
            assert (refused.status_code, refused.json()["detail"]) == (404, NO_QUEUES)
