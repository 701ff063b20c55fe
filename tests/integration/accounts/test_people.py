"""The first admin, invitations, roles, tokens: what each may, and what each change leaves behind."""

import asyncio
from typing import Any

import asyncpg
import pytest
from tests.integration.accounts.stage import HOST, PASSWORD, ROOT, Browser, Desk, OpenApp

from forager.accounts import audit
from forager.accounts import service as accounts
from forager.accounts import sessions as sign_in
from forager.accounts.credentials import hash_of
from forager.accounts.identity import Role, Scope
from forager.errors import ConflictError

KINDS = ("anyone", "user", "admin", "keeper", "seeding")


async def accept(browser: Browser, link: str, name: str | None = None, password: str = PASSWORD) -> Any:
    body = {"secret": link.partition("#")[2], "password": password} | ({"name": name} if name else {})
    answer = await browser.post("/api/auth/accept", json=body)
    browser.csrf = answer.json().get("csrf_token", "")
    return answer


# The first admin ----------------------------------------------------------------------------------------------------


async def test_the_first_admin_comes_by_a_link_that_works_once(desk: Desk) -> None:
    link = await accounts.first_admin_link(desk.conn, HOST)
    assert link is not None
    assert link.startswith(f"{HOST}/accept#")
    browser = desk.browser()
    assert (await accept(browser, link, "root")).json()["role"] == "admin"
    assert (await browser.change("POST", "/keeper")).json() == "api:root"
    assert (await accept(desk.browser(), link, "second")).status_code == 404
    assert await accounts.first_admin_link(desk.conn, HOST) is None
    assert await desk.conn.fetchval("SELECT count(*) FROM invites") == 0


async def test_of_several_links_of_the_first_start_one_makes_an_admin(desk: Desk) -> None:
    links = [await accounts.first_admin_link(desk.conn, HOST) or "" for _ in range(4)]
    answers = await asyncio.gather(*[accept(desk.browser(), link, f"admin{n}") for n, link in enumerate(links)])
    assert sorted(answer.status_code for answer in answers) == [200, 404, 404, 404]
    assert await desk.conn.fetchval("SELECT count(*) FROM users") == 1


async def until_it_waits(desk: Desk, task: "asyncio.Task[Any]") -> None:
    """For a lock that somebody else holds; or until it is done, which it should not be."""
    waits = (
        "SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
        " WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted)"
    )
    async with asyncio.timeout(20):
        while not (task.done() or await desk.conn.fetchval(waits)):  # noqa: ASYNC110 (the database tells nobody)
            await asyncio.sleep(0.02)


async def test_whoever_comes_while_the_first_admin_is_being_made_waits_and_is_not_let_in(
    desk: Desk, pool: asyncpg.Pool
) -> None:
    link = await accounts.first_admin_link(desk.conn, HOST) or ""
    async with pool.acquire() as first, first.transaction():
        await sign_in._create_first_admin(first, "first", "a hash")
        second = asyncio.create_task(accept(desk.browser(), link, "second"))
        await until_it_waits(desk, second)
        assert not second.done()
    assert (await second).status_code == 404


async def test_a_link_of_the_first_start_is_worth_nothing_once_there_is_somebody(desk: Desk) -> None:
    link = await accounts.first_admin_link(desk.conn, HOST) or ""
    await desk.a_user("bob", Role.USER)
    assert (await accept(desk.browser(), link, "late")).status_code == 404


@pytest.mark.parametrize(
    ("name", "password"),
    [(None, PASSWORD), ("a b", PASSWORD), ("anonymous", PASSWORD), ("root", "short"), ("root", "rootrootroot")],
)
async def test_a_bad_name_or_password_does_not_use_up_the_link(desk: Desk, name: str | None, password: str) -> None:
    link = await accounts.first_admin_link(desk.conn, HOST) or ""
    assert (await accept(desk.browser(), link, name, password)).status_code == 422
    assert (await accept(desk.browser(), link, "root")).status_code == 200


async def test_a_link_ends_after_a_day_and_only_its_hash_is_stored(desk: Desk) -> None:
    link = await accounts.first_admin_link(desk.conn, HOST) or ""
    row = await desk.conn.fetchrow("SELECT *, extract(epoch FROM expires_at - created_at) AS lasts_s FROM invites")
    assert (row["lasts_s"], row["secret_hash"]) == (86400, hash_of(link.partition("#")[2]))
    await desk.conn.execute("UPDATE invites SET expires_at = now()")
    assert (await accept(desk.browser(), link, "root")).status_code == 404


# Invitations --------------------------------------------------------------------------------------------------------


async def test_an_admin_invites_and_the_invited_chooses_a_password(desk: Desk) -> None:
    admin = await desk.signed_in()
    made = (await admin.change("POST", "/api/admin/users", {"name": "bob", "role": "user"})).json()
    [row] = [row for row in (await admin.get("/api/admin/users")).json()["items"] if row["name"] == "bob"]
    assert (row["has_password"], row["created_by"]) == (False, "api:alice")
    bob = desk.browser()
    assert (await accept(bob, made["link"])).json()["name"] == "bob"
    assert [(await bob.get(f"/{kind}")).status_code for kind in KINDS] == [200, 200, 403, 403, 403]
    assert (await accept(desk.browser(), made["link"])).status_code == 404
    assert made["link"].partition("#")[2] not in str(await desk.conn.fetch("SELECT * FROM audit_log"))


async def test_a_second_invitation_ends_the_first(desk: Desk) -> None:
    admin = await desk.signed_in()
    first, second = [(await admin.change("POST", "/api/admin/users", {"name": "bob"})).json()["link"] for _ in range(2)]
    assert (await accept(desk.browser(), first)).status_code == 404
    assert (await accept(desk.browser(), second)).status_code == 200
    assert (await admin.change("POST", "/api/admin/users", {"name": "BOB"})).status_code == 409


async def test_two_who_use_one_link_at_once_are_one(desk: Desk) -> None:
    invited = await accounts.invite(desk.conn, ROOT, "bob", Role.USER)
    link = accounts.link(HOST, invited.secret)
    answers = await asyncio.gather(*[accept(desk.browser(), link, password=f"chosen by number {n}") for n in range(5)])
    assert sorted(answer.status_code for answer in answers) == [200, 404, 404, 404, 404]
    assert await desk.conn.fetchval("SELECT count(*) FROM sessions") == 1


async def test_a_link_is_for_one_person(desk: Desk) -> None:
    invited = await accounts.invite(desk.conn, ROOT, "bob", Role.USER)
    link = accounts.link(HOST, invited.secret)
    assert (await accept(desk.browser(), link, "mallory")).status_code == 422
    assert (await accept(desk.browser(), link, "Bob")).json()["name"] == "bob"


async def test_a_reset_lets_choose_a_new_password_and_ends_sessions_and_waits(desk: Desk) -> None:
    admin = await desk.signed_in()
    bob = await desk.signed_in("bob", Role.USER)
    for _ in range(6):
        await desk.browser("192.0.2.7", base="https://forager.example").log_in("bob", "wrong")
    identity = await desk.conn.fetchval("SELECT id FROM users WHERE name = 'bob'")
    made = (await admin.change("POST", f"/api/admin/users/{identity}/reset-password")).json()
    assert (await bob.get("/user")).status_code == 200
    assert (await accept(desk.browser(), made["link"], password="nine loud badgers")).status_code == 200
    assert (await bob.get("/user")).status_code == 401
    assert (await desk.browser().log_in("bob", "nine loud badgers")).status_code == 200


# Roles --------------------------------------------------------------------------------------------------------------


async def test_each_role_and_scope_passes_where_it_may_and_nowhere_else(desk: Desk) -> None:
    admin, user = await desk.signed_in(), await desk.signed_in("bob", Role.USER)
    who = {
        "nobody": desk.browser(),
        "user": user,
        "admin": admin,
        "token read": await desk.with_token("alice", Scope.READ),
        "token write": await desk.with_token("alice", Scope.WRITE),
        "token admin": await desk.with_token("alice", Scope.ADMIN),
        "token of user": await desk.with_token("bob", Scope.READ),
    }
    passed = {name: [(await b.change("POST", f"/{kind}")).status_code for kind in KINDS] for name, b in who.items()}
    assert passed == {
        "nobody": [200, 401, 401, 401, 401],
        "user": [200, 200, 403, 403, 403],
        "admin": [200, 200, 200, 200, 200],
        "token read": [200, 200, 403, 403, 403],
        "token write": [200, 200, 200, 403, 200],
        "token admin": [200, 200, 200, 200, 200],
        "token of user": [200, 200, 403, 403, 403],
    }


async def test_refusals_are_problems_with_the_promised_words(desk: Desk) -> None:
    nobody, user = desk.browser(), await desk.signed_in("bob", Role.USER)
    for answer, status, error in (
        (await nobody.get("/user"), 401, "Authentication required"),
        (await user.get("/admin"), 403, "Insufficient permissions"),
    ):
        told = answer.json()
        assert answer.headers["content-type"] == "application/problem+json"
        assert (answer.status_code, told["status"], told["error"], told["detail"]) == (status, status, error, error)
        assert {"type", "title"} <= told.keys()


async def test_a_user_manages_no_accounts(desk: Desk) -> None:
    await desk.a_user()
    bob = await desk.signed_in("bob", Role.USER)
    identity = await desk.conn.fetchval("SELECT id FROM users WHERE name = 'bob'")
    path = f"/api/admin/users/{identity}"
    answers = [
        await bob.get("/api/admin/users"),
        await bob.get("/api/admin/tokens"),
        await bob.change("PATCH", path, {"role": "admin"}),
        await bob.change("POST", "/api/admin/users", {"name": "eve", "role": "admin"}),
        await bob.change("DELETE", path),
        await bob.change("POST", f"{path}/reset-password"),
    ]
    assert [answer.status_code for answer in answers] == [403] * 6


async def test_a_changed_role_counts_at_once_and_one_signs_in_anew(desk: Desk) -> None:
    admin, bob = await desk.signed_in(), await desk.signed_in("bob", Role.USER)
    identity = await desk.conn.fetchval("SELECT id FROM users WHERE name = 'bob'")
    changed = await admin.change("PATCH", f"/api/admin/users/{identity}", {"role": "admin"})
    assert (changed.status_code, changed.json()["role"]) == (200, "admin")
    assert (await bob.get("/user")).status_code == 401
    await bob.log_in("bob")
    assert (await bob.get("/admin")).status_code == 200


async def test_whoever_is_switched_off_is_out_with_sessions_and_tokens(desk: Desk) -> None:
    admin, bob = await desk.signed_in(), await desk.signed_in("bob", Role.USER)
    token = await desk.with_token("bob", Scope.READ)
    identity = await desk.conn.fetchval("SELECT id FROM users WHERE name = 'bob'")
    await admin.change("PATCH", f"/api/admin/users/{identity}", {"is_active": False})
    assert [(await each.get("/user")).status_code for each in (bob, token)] == [401, 401]
    await admin.change("PATCH", f"/api/admin/users/{identity}", {"is_active": True})
    assert [(await each.get("/user")).status_code for each in (bob, token)] == [401, 401], "tokens do not come back"


async def test_an_account_goes_with_all_it_had_but_its_history_stays(desk: Desk) -> None:
    admin, bob = await desk.signed_in(), await desk.signed_in("bob", Role.USER)
    token = await desk.with_token("bob", Scope.READ)
    identity = await desk.conn.fetchval("SELECT id FROM users WHERE name = 'bob'")
    assert (await admin.change("DELETE", f"/api/admin/users/{identity}")).status_code == 204
    assert (await admin.get(f"/api/admin/users/{identity}")).status_code == 404
    assert [(await each.get("/user")).status_code for each in (bob, token)] == [401, 401]
    assert [row["object_id"] for row in await desk.audit("user.remove")] == ["bob"]


@pytest.mark.parametrize("change", [{"role": "user"}, {"is_active": False}, None])
async def test_the_last_admin_stays(desk: Desk, change: dict[str, Any] | None) -> None:
    admin = await desk.signed_in()
    await accounts.invite(desk.conn, ROOT, "invited", Role.ADMIN)
    identity = await desk.conn.fetchval("SELECT id FROM users WHERE name = 'alice'")
    answer = await admin.change("PATCH" if change else "DELETE", f"/api/admin/users/{identity}", change)
    assert answer.status_code == 409
    assert "last admin" in answer.json()["detail"]


async def test_of_two_admins_who_leave_at_once_one_stays(desk: Desk, pool: asyncpg.Pool) -> None:
    for name in ("alice", "bob"):
        await desk.a_user(name)

    async def leave(name: str) -> object:
        async with pool.acquire() as conn, conn.transaction():
            return await accounts.remove_user(conn, ROOT, name)

    done = await asyncio.gather(leave("alice"), leave("bob"), return_exceptions=True)
    assert [type(each) for each in done if isinstance(each, Exception)] == [ConflictError]
    assert await desk.conn.fetchval("SELECT count(*) FROM users") == 1


# Tokens -------------------------------------------------------------------------------------------------------------


async def test_a_token_is_shown_once_and_stored_as_a_hash(desk: Desk) -> None:
    admin = await desk.signed_in()
    made = (await admin.change("POST", "/api/tokens", {"name": "export", "scope": "write"})).json()
    assert made["token"].startswith("fgr_")
    listed = await admin.get("/api/tokens")
    assert [row["name"] for row in listed.json()["items"]] == ["export"]
    rows = str(await desk.conn.fetch("SELECT * FROM api_tokens")) + str(
        await desk.conn.fetch("SELECT * FROM audit_log")
    )
    assert made["token"] not in listed.text + rows
    program = desk.browser(Authorization=f"Bearer {made['token']}")
    assert (await program.post("/admin")).json() == "api:alice"
    assert (await program.get("/api/auth/me")).json()["csrf_token"] is None


async def test_a_token_needs_no_origin_and_a_bad_one_is_not_helped_by_a_cookie(desk: Desk) -> None:
    admin = await desk.signed_in()
    token = await desk.with_token("alice", Scope.WRITE)
    assert (await token.post("/admin", headers={"Origin": "https://evil.example"})).status_code == 200
    for bad in ("Bearer fgr_wrong", "Bearer ", "Basic YTpi", "fgr_x", f"Bearer fgr_{'x' * 10_000}"):
        assert (await admin.get("/user", headers={"Authorization": bad})).status_code == 401


async def test_tokens_end_by_time_and_by_revoking(desk: Desk) -> None:
    admin = await desk.signed_in()
    short, other = await desk.with_token("alice", Scope.READ, 60), await desk.with_token("alice", Scope.READ)
    assert [(await each.get("/user")).status_code for each in (short, other)] == [200, 200]
    await desk.conn.execute("UPDATE api_tokens SET expires_at = now() WHERE expires_at IS NOT NULL")
    [newest, oldest] = (await admin.get("/api/tokens")).json()["items"]
    assert (newest["is_valid"], oldest["is_valid"]) == (True, False)
    for _ in range(2):
        assert (await admin.change("DELETE", f"/api/tokens/{newest['id']}")).status_code == 204
    assert [(await each.get("/user")).status_code for each in (short, other)] == [401, 401]
    assert len(await desk.audit("token.revoke")) == 1


async def test_no_token_makes_a_better_one(desk: Desk) -> None:
    await desk.a_user()
    for scope, status in ((Scope.READ, 403), (Scope.WRITE, 403), (Scope.ADMIN, 201)):
        token = await desk.with_token("alice", scope)
        assert (await token.post("/api/tokens", json={"name": "more", "scope": "admin"})).status_code == status


async def test_a_user_has_tokens_to_read_with_and_no_others(desk: Desk) -> None:
    await desk.a_user()
    bob = await desk.signed_in("bob", Role.USER)
    assert (await bob.change("POST", "/api/tokens", {"name": "x", "scope": "write"})).status_code == 409
    assert (await bob.change("POST", "/api/tokens", {"name": "x"})).status_code == 201
    hers = await accounts.create_token(desk.conn, ROOT, "alice", name="hers", scope=Scope.READ)
    assert (await bob.change("DELETE", f"/api/tokens/{hers.id}")).status_code == 404
    assert [row["name"] for row in (await bob.get("/api/tokens")).json()["items"]] == ["x"]


async def test_an_admin_sees_and_revokes_everybodys_tokens(desk: Desk) -> None:
    admin = await desk.signed_in()
    await desk.a_user("bob", Role.USER)
    made = await accounts.create_token(desk.conn, ROOT, "bob", name="his", scope=Scope.READ)
    assert [row["owner"] for row in (await admin.get("/api/admin/tokens")).json()["items"]] == ["bob"]
    assert (await admin.change("DELETE", f"/api/tokens/{made.id}")).status_code == 204


async def test_a_demoted_admin_has_only_tokens_to_read_with(desk: Desk) -> None:
    await desk.a_user()
    await desk.a_user("bob")
    token = await desk.with_token("bob", Scope.ADMIN)
    await accounts.change_user(desk.conn, ROOT, "bob", role=Role.USER)
    assert (await token.get("/user")).status_code == 200
    assert (await token.post("/admin")).status_code == 403


async def test_lists_come_in_pages(desk: Desk) -> None:
    admin = await desk.signed_in("m")
    for name in ("b", "A", "z", "c"):
        await accounts.invite(desk.conn, ROOT, name, Role.USER)
    names, path = [], "/api/admin/users?limit=2"
    for _ in range(3):
        page = (await admin.get(path)).json()
        names += [row["name"] for row in page["items"]]
        path = f"/api/admin/users?limit=2&after={page['next']}"
    assert page["next"] is None
    assert names == ["A", "b", "c", "m", "z"]


# Bad input ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": "alice"},
        {"name": "alice", "password": PASSWORD, "role": "admin"},
        {"name": "al\0ice", "password": PASSWORD},
        {"name": "alice", "password": "x" * 2000},
        {"name": ["alice"], "password": PASSWORD},
        {"name": "a" * 65, "password": PASSWORD},
        [],
        "alice",
    ],
)
async def test_a_login_that_makes_no_sense_is_refused(desk: Desk, body: Any) -> None:
    assert (await desk.browser().post("/api/auth/login", json=body)).status_code == 422


@pytest.mark.parametrize("raw", [b'{"name":"\\ud800","password":"\\ud800 and more"}', b"\xff\xfe", b"{"])
async def test_halves_of_characters_and_rubbish_are_refused(desk: Desk, raw: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    assert (await desk.browser().post("/api/auth/login", content=raw, headers=headers)).status_code == 422


@pytest.mark.parametrize("cookie", ["\x7f", "a" * 5000, "'; DROP TABLE users; --", "\u00e9"])
async def test_no_cookie_breaks_it(desk: Desk, cookie: str) -> None:
    raw = [(b"cookie", b"forager_session=" + cookie.encode("latin-1"))]
    assert (await desk.browser().get("/user", headers=raw)).status_code == 401


# The audit log ------------------------------------------------------------------------------------------------------


async def test_every_change_of_accounts_is_on_record_with_who_and_from_where(desk: Desk) -> None:
    admin = await desk.signed_in(ip="127.0.0.1")
    made = (await admin.change("POST", "/api/admin/users", {"name": "bob"})).json()
    await admin.change("PATCH", f"/api/admin/users/{made['id']}", {"role": "admin"})
    await admin.change("POST", f"/api/admin/users/{made['id']}/reset-password")
    await admin.change("DELETE", f"/api/admin/users/{made['id']}")
    token = (await admin.change("POST", "/api/tokens", {"name": "x"})).json()
    await admin.change("DELETE", f"/api/tokens/{token['id']}")
    await admin.change("DELETE", "/api/auth/sessions")
    await admin.change("POST", "/api/auth/logout")
    rows = await desk.conn.fetch("SELECT * FROM audit_log WHERE via = 'session' ORDER BY id")
    assert [row["action"] for row in rows] == [
        "session.begin",
        "user.invite",
        "user.change",
        "user.reset_password",
        "user.remove",
        "token.create",
        "token.revoke",
        "session.end_others",
        "session.end",
    ]
    assert {(row["who"], row["ip"], row["outcome"]) for row in rows} == {("api:alice", "127.0.0.1", "done")}


async def test_what_is_refused_leaves_no_trace_of_a_change(desk: Desk) -> None:
    admin = await desk.signed_in()
    before = await desk.conn.fetchval("SELECT count(*) FROM audit_log")
    await admin.change("POST", "/api/admin/users", {"name": "alice"})
    await admin.change("DELETE", "/api/admin/users/999")
    assert await desk.conn.fetchval("SELECT count(*) FROM audit_log") == before


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE audit_log SET who = 'nobody'",
        "DELETE FROM audit_log",
        "TRUNCATE audit_log",
        "DELETE FROM audit_log WHERE false",
    ],
)
async def test_the_audit_log_only_grows(desk: Desk, sql: str) -> None:
    await audit.note(desk.conn, ROOT, "test.note")
    with pytest.raises(asyncpg.CheckViolationError, match="only grows"):
        await desk.conn.execute(sql)


async def test_a_change_and_its_note_are_one(desk: Desk) -> None:
    transaction = desk.conn.transaction()
    await transaction.start()
    await accounts.invite(desk.conn, ROOT, "bob", Role.USER)
    await transaction.rollback()
    assert await desk.conn.fetchval("SELECT count(*) FROM audit_log") == 0
    assert await desk.conn.fetchval("SELECT count(*) FROM users") == 0


async def test_the_audit_log_is_read_in_pages_and_by_what_one_looks_for(desk: Desk) -> None:
    for number in range(5):
        await audit.note(desk.conn, ROOT, "domain.pause", kind="domain", object_id=f"{number}.example")
    await audit.note(
        desk.conn, ROOT, "user.add", kind="user", object_id="bob", details={"password": "x", "role": "user"}
    )
    first = await audit.read(desk.conn, limit=2)
    second = await audit.read(desk.conn, limit=2, before=first[-1]["id"])
    assert [row["object_id"] for row in first + second] == ["bob", "4.example", "3.example", "2.example"]
    assert first[0]["details"] == {"password": "***", "role": "user"}
    assert len(await audit.read(desk.conn, action="domain")) == 5
    assert len(await audit.read(desk.conn, action="dom")) == 0
    assert len(await audit.read(desk.conn, kind="domain", object_id="3.example", who="cli:root")) == 1
    assert await audit.read(desk.conn, since=first[0]["at"], until=first[0]["at"]) == []


# The database away --------------------------------------------------------------------------------------------------


async def test_without_a_database_nobody_is_let_in_by_mistake(
    desk: Desk, open_app: OpenApp, pool: asyncpg.Pool
) -> None:
    browser = await desk.signed_in()
    assert (await browser.get("/user")).status_code == 200
    desk.app.state.gate.forget()
    await pool.close()
    answer = await browser.get("/user")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert (await browser.change("POST", "/admin")).status_code == 503
    assert (await desk.browser().log_in()).status_code == 503
    assert (await desk.browser().get("/anyone")).status_code == 200
