"""Signing in, staying, and leaving, over HTTP against a real database."""

from typing import Any

import httpx
import pytest
from fastapi import Request
from tests.integration.accounts.stage import HOST, PASSWORD, ROOT, Desk, OpenApp

from forager.accounts import audit
from forager.accounts import service as accounts
from forager.accounts.credentials import hash_of
from forager.accounts.identity import Role, Scope
from forager.accounts.passwords import Hasher
from forager.api.forbidden_log import MOST_ROWS

WRONG = {"error": "Name or password is wrong."}
OTHER = "nine loud badgers"


def cookie_of(answer: Any) -> str:
    return str(answer.headers["set-cookie"])


async def test_signing_in_sets_the_cookie_and_tells_who_one_is(desk: Desk) -> None:
    browser = await desk.signed_in()
    me = (await browser.get("/api/auth/me")).json()
    assert (me["name"], me["role"], me["via"], me["csrf_token"]) == ("alice", "admin", "session", browser.csrf)


async def test_the_cookie_is_kept_from_scripts_and_other_sites(desk: Desk) -> None:
    await desk.a_user()
    near = cookie_of(await desk.browser().log_in())
    assert near.startswith("forager_session=")
    for part in ("HttpOnly", "SameSite=strict", "Path=/", "Max-Age=86400"):
        assert part in near
    assert "Secure" not in near


@pytest.mark.parametrize("base", ["https://127.0.0.1:8600", "http://forager.example", "https://forager.example"])
async def test_the_cookie_is_secure_outside_of_plain_http_within_the_machine(desk: Desk, base: str) -> None:
    await desk.a_user()
    far = cookie_of(await desk.browser(base=base).log_in())
    assert far.startswith("__Host-forager_session=")
    assert "Secure" in far
    assert "Domain" not in far


async def test_only_the_hash_of_a_session_is_stored(desk: Desk) -> None:
    browser = await desk.signed_in()
    secret = browser.cookies["forager_session"]
    assert len(secret) >= 43
    row = await desk.conn.fetchrow("SELECT * FROM sessions")
    assert row["secret_hash"] == hash_of(secret)
    assert secret not in str(dict(row))
    assert secret not in str(await desk.conn.fetch("SELECT * FROM audit_log"))


async def test_the_password_is_nowhere_but_in_its_hash(desk: Desk) -> None:
    await desk.signed_in()
    for table in ("users", "sessions", "audit_log", "login_attempts"):
        assert PASSWORD not in str(await desk.conn.fetch(f"SELECT * FROM {table}"))


async def test_a_session_ends_after_a_day_whatever_was_done_meanwhile(desk: Desk) -> None:
    browser = await desk.signed_in()
    lasts = await desk.conn.fetchval("SELECT extract(epoch FROM expires_at - created_at) FROM sessions")
    assert lasts == 86400
    await desk.conn.execute("UPDATE sessions SET expires_at = now()")
    desk.app.state.gate.forget()
    assert (await browser.get("/user")).status_code == 401


async def test_each_login_has_a_secret_of_its_own_and_ends_the_browsers_last(desk: Desk) -> None:
    browser = await desk.signed_in()
    first = browser.cookies["forager_session"]
    await browser.log_in()
    second = browser.cookies["forager_session"]
    assert first != second
    old = desk.browser()
    old.cookies.set("forager_session", first)
    assert (await old.get("/user")).status_code == 401
    assert (await browser.get("/user")).status_code == 200


async def test_a_secret_somebody_planted_in_the_browser_is_not_taken_over(desk: Desk) -> None:
    await desk.a_user()
    browser = desk.browser()
    browser.cookies.set("forager_session", "planted")
    await browser.log_in()
    assert browser.cookies.get("forager_session", domain="127.0.0.1") != "planted"
    planted = desk.browser()
    planted.cookies.set("forager_session", "planted")
    assert (await planted.get("/user")).status_code == 401


async def test_signing_out_ends_the_session_for_whoever_has_its_secret(desk: Desk) -> None:
    browser = await desk.signed_in()
    thief = desk.browser()
    thief.cookies.set("forager_session", browser.cookies["forager_session"])
    assert (await thief.get("/user")).status_code == 200
    answer = await browser.change("POST", "/api/auth/logout")
    assert answer.status_code == 204
    assert 'forager_session=""' in cookie_of(answer)
    assert (await thief.get("/user")).status_code == 401
    assert await desk.conn.fetchval("SELECT count(*) FROM sessions") == 0


async def test_a_session_has_ended_in_every_process_when_its_end_is_told(desk: Desk, open_app: OpenApp) -> None:
    browser = await desk.signed_in()
    async with open_app() as app:
        elsewhere = Desk(app, desk.conn).browser()
        elsewhere.cookies, elsewhere.csrf = browser.cookies, browser.csrf
        assert (await elsewhere.get("/user")).status_code == 200
        await browser.change("POST", "/api/auth/logout")
        assert (await elsewhere.get("/user")).status_code == 401
        assert (await elsewhere.change("POST", "/user")).status_code == 401


@pytest.mark.parametrize("deed", ["demoted", "switched off", "removed", "new password", "token"])
async def test_so_has_whatever_else_somebody_may_do_no_longer(desk: Desk, open_app: OpenApp, deed: str) -> None:
    alice, bob = await desk.signed_in("alice"), await desk.signed_in("bob")
    number = await desk.conn.fetchval("SELECT id FROM users WHERE name = 'bob'")
    async with open_app() as app:
        elsewhere = Desk(app, desk.conn).browser()
        if deed == "token":
            made = (await bob.change("POST", "/api/tokens", {"name": "x", "scope": "read"})).json()
            elsewhere.headers["Authorization"] = f"Bearer {made['token']}"
        else:
            elsewhere.cookies = httpx.Cookies(bob.cookies)
        assert (await elsewhere.get("/user")).status_code == 200
        match deed:
            case "demoted":
                done = await alice.change("PATCH", f"/api/admin/users/{number}", {"role": "user"})
            case "switched off":
                done = await alice.change("PATCH", f"/api/admin/users/{number}", {"is_active": False})
            case "removed":
                done = await alice.change("DELETE", f"/api/admin/users/{number}")
            case "new password":
                words = {"current": PASSWORD, "new": "eight quiet otters"}
                done = await bob.change("POST", "/api/auth/password", words)
            case _:
                done = await bob.change("DELETE", f"/api/tokens/{made['id']}")
        assert done.status_code in {200, 204}, done.text
        assert (await elsewhere.get("/user")).status_code == 401


async def test_what_is_remembered_lets_nobody_change_anything(desk: Desk) -> None:
    browser = await desk.signed_in()
    assert (await browser.get("/user")).status_code == 200
    await desk.conn.execute("DELETE FROM sessions")
    assert (await browser.change("POST", "/user")).status_code == 401


@pytest.mark.parametrize("name", ["nobody", "alice", "ALICE "])
async def test_a_wrong_login_says_the_same_whoever_it_is(desk: Desk, name: str) -> None:
    await desk.a_user()
    answer = await desk.browser().log_in(name, "not the password")
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert WRONG.items() <= answer.json().items()
    assert "set-cookie" not in answer.headers


async def test_whoever_is_switched_off_or_invited_only_hears_the_same(desk: Desk) -> None:
    await desk.a_user("bob", Role.USER)
    await desk.conn.execute("UPDATE users SET is_active = false")
    await desk.conn.execute("INSERT INTO users (name, role, created_by) VALUES ('carol', 'user', 'test')")
    for name in ("bob", "carol"):
        assert WRONG.items() <= (await desk.browser().log_in(name)).json().items()


async def test_a_name_is_known_in_any_case(desk: Desk) -> None:
    await desk.a_user("Alice")
    assert (await desk.browser().log_in("aLICE")).json()["name"] == "Alice"


async def test_a_password_hashed_too_lightly_is_hashed_again(desk: Desk) -> None:
    await desk.a_user()
    await desk.conn.execute("UPDATE users SET password_hash = $1", await Hasher(memory_kib=64).hash(PASSWORD))
    assert (await desk.browser().log_in()).status_code == 200
    stored = await desk.conn.fetchval("SELECT password_hash FROM users")
    assert "m=19456,t=2,p=1" in stored
    assert (await desk.browser().log_in()).status_code == 200


# The password -------------------------------------------------------------------------------------------------------


async def test_a_new_password_ends_all_sessions_but_gives_this_browser_a_new_one(desk: Desk) -> None:
    browser = await desk.signed_in()
    other = desk.browser()
    await other.log_in()
    before = browser.cookies["forager_session"]
    answer = await browser.change("POST", "/api/auth/password", {"current": PASSWORD, "new": OTHER})
    assert answer.status_code == 200
    assert browser.cookies["forager_session"] != before
    assert (await browser.get("/user")).status_code == 200
    assert (await other.get("/user")).status_code == 401
    assert (await desk.browser().log_in(password=PASSWORD)).status_code == 401
    assert (await desk.browser().log_in(password=OTHER)).status_code == 200
    assert len(await desk.audit("user.change_password")) == 1


@pytest.mark.parametrize(
    ("current", "new", "status"),
    [
        ("wrong password", OTHER, 401),
        (PASSWORD, "short", 422),
        (PASSWORD, "password12345", 422),
        (PASSWORD, "x" * 129, 422),
    ],
)
async def test_a_password_is_changed_only_with_the_old_one_and_for_a_good_one(
    desk: Desk, current: str, new: str, status: int
) -> None:
    browser = await desk.signed_in()
    answer = await browser.change("POST", "/api/auth/password", {"current": current, "new": new})
    assert answer.status_code == status
    assert (await desk.browser().log_in()).status_code == 200


async def test_a_login_that_was_checked_before_the_password_changed_opens_no_session(desk: Desk) -> None:
    """The password is right when it is looked at, and no longer when the session would begin."""
    await desk.a_user()
    gate = desk.app.state.gate
    verify = gate.hasher.verify

    async def verify_and_change(password: str, stored: str | None) -> bool:
        is_right: bool = await verify(password, stored)
        await desk.conn.execute("UPDATE users SET password_hash = 'another'")
        return is_right

    gate.hasher.verify = verify_and_change
    assert (await desk.browser().log_in()).status_code == 401
    assert await desk.conn.fetchval("SELECT count(*) FROM sessions") == 0


# One's sessions -----------------------------------------------------------------------------------------------------


async def test_one_sees_where_one_is_signed_in_and_ends_it(desk: Desk) -> None:
    browser = await desk.signed_in()
    other = desk.browser("192.0.2.7", base="https://forager.example", **{"User-Agent": "Other/1.0"})
    await other.log_in()
    listed = (await browser.get("/api/auth/sessions")).json()["items"]
    assert (listed[0]["ip"], listed[0]["user_agent"]) == ("192.0.2.7", "Other/1.0")
    assert [row["is_this"] for row in listed] == [False, True]
    assert (await browser.change("DELETE", f"/api/auth/sessions/{listed[0]['id']}")).status_code == 204
    assert (await other.get("/user")).status_code == 401
    assert (await browser.change("DELETE", f"/api/auth/sessions/{listed[0]['id']}")).status_code == 404


async def test_one_signs_out_everywhere_else(desk: Desk) -> None:
    browser = await desk.signed_in()
    others = [desk.browser() for _ in range(3)]
    for other in others:
        await other.log_in()
    assert (await browser.change("DELETE", "/api/auth/sessions")).json() == {"ended": 3}
    assert [(await other.get("/user")).status_code for other in others] == [401] * 3
    assert (await browser.get("/user")).status_code == 200


async def test_sessions_of_others_are_none_of_ones_business(desk: Desk) -> None:
    alice = await desk.signed_in()
    bob = await desk.signed_in("bob", Role.USER)
    [hers] = (await alice.get("/api/auth/sessions")).json()["items"]
    assert (await bob.change("DELETE", f"/api/auth/sessions/{hers['id']}")).status_code == 404
    assert (await bob.change("DELETE", "/api/auth/sessions")).json() == {"ended": 0}
    assert (await alice.get("/user")).status_code == 200


async def test_of_many_sessions_the_newest_stay(desk: Desk) -> None:
    identity = await desk.a_user()
    await desk.conn.execute(
        "INSERT INTO sessions (secret_hash, user_id, expires_at)"
        " SELECT sha256(n::text::bytea), $1, now() + interval '1 day' FROM generate_series(1, 30) n",
        identity,
    )
    browser = desk.browser()
    await browser.log_in()
    assert await desk.conn.fetchval("SELECT count(*) FROM sessions") == 20
    assert (await browser.get("/user")).status_code == 200


# Another site -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": HOST, "Sec-Fetch-Site": "cross-site"},
        {"Origin": HOST, "Sec-Fetch-Site": "same-site"},
        {"X-CSRF-Token": ""},
        {"X-CSRF-Token": "0" * 64},
    ],
)
async def test_a_change_from_another_site_is_refused(desk: Desk, headers: dict[str, str]) -> None:
    browser = await desk.signed_in()
    answer = await browser.change("POST", "/admin", **headers)
    assert (answer.status_code, answer.json()["error"]) == (403, "Request from another site")
    assert (await browser.change("POST", "/admin")).status_code == 200


async def test_a_change_by_cookie_that_does_not_say_where_it_comes_from_is_refused(desk: Desk) -> None:
    browser = await desk.signed_in()
    answer = await browser.post("/user", headers={"X-CSRF-Token": browser.csrf})
    assert answer.status_code == 403
    said = {"X-CSRF-Token": browser.csrf, "Sec-Fetch-Site": "same-origin"}
    assert (await browser.post("/user", headers=said)).status_code == 200


async def test_another_site_cannot_sign_anybody_in(desk: Desk) -> None:
    await desk.a_user()
    body = {"name": "alice", "password": PASSWORD}
    answer = await desk.browser().post("/api/auth/login", json=body, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403
    assert await desk.conn.fetchval("SELECT count(*) FROM sessions") == 0


async def test_the_csrf_token_of_an_earlier_session_is_worth_nothing(desk: Desk) -> None:
    browser = await desk.signed_in()
    old = browser.csrf
    await browser.log_in()
    assert (await browser.change("POST", "/user", **{"X-CSRF-Token": old})).status_code == 403


async def test_behind_a_proxy_the_public_address_is_ours(open_app: OpenApp, conn: Any) -> None:
    async with open_app(api_public_url="https://forager.example", api_trusted_proxies=("127.0.0.1",)) as app:
        desk = Desk(app, conn)
        await desk.a_user()
        forwarded = {"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https", "Host": "127.0.0.1:8600"}
        browser = desk.browser(base="https://127.0.0.1:8600", **forwarded)
        answer = await browser.log_in()
        assert cookie_of(answer).startswith("__Host-")
        assert await conn.fetchval("SELECT ip FROM sessions") == "192.0.2.7"
        assert (await browser.change("POST", "/user", Origin="https://forager.example")).status_code == 200


async def test_a_session_that_is_not_used_ends(open_app: OpenApp, conn: Any) -> None:
    async with open_app(api_session_idle_timeout=600) as app:
        desk = Desk(app, conn)
        browser, other = await desk.signed_in(), await desk.signed_in("bob")
        idle = "UPDATE sessions SET last_used_at = now() - make_interval(secs => $1)"
        await conn.execute(idle, 599)
        assert (await browser.change("POST", "/user")).status_code == 200
        await conn.execute(idle + " WHERE user_id = (SELECT id FROM users WHERE name = 'alice')", 601)
        assert (await browser.change("POST", "/user")).status_code == 401
        assert (await other.change("POST", "/user")).status_code == 200


async def test_a_password_that_is_set_by_a_link_ends_tokens_and_one_that_is_changed_does_not(desk: Desk) -> None:
    alice = await desk.signed_in()
    token = await desk.with_token("alice", Scope.READ)
    body = {"current": PASSWORD, "new": OTHER}
    changed = await alice.change("POST", "/api/auth/password", body)
    assert changed.status_code == 200, changed.text
    assert (await token.get("/user")).status_code == 200
    async with desk.conn.transaction():
        link = await accounts.reset_password(desk.conn, ROOT, "alice")
    accepted = await desk.browser().change("POST", "/api/auth/accept", {"secret": link.secret, "password": PASSWORD})
    assert accepted.status_code == 200, accepted.text
    assert (await token.change("POST", "/user")).status_code == 401


# What is on record ---------------------------------------------------------------------------------------------------


async def test_who_is_refused_is_on_record_with_the_token_and_the_address(open_app: OpenApp, conn: Any) -> None:
    async with open_app() as app:
        desk = Desk(app, conn)
        await desk.a_user("bob", Role.USER)
        token = await desk.with_token("bob", Scope.READ)
        for _ in range(5):
            assert (await token.get("/admin")).status_code == 403
        assert (await token.get("/keeper")).status_code == 403
        assert (await desk.browser().get("/admin")).status_code == 401
    rows = await conn.fetch("SELECT * FROM audit_log WHERE outcome = 'denied' ORDER BY object_id")
    assert [(row["who"], row["via"], row["ip"], row["action"], row["object_id"]) for row in rows] == [
        ("api:bob", "token", "127.0.0.1", "request.deny", "GET /admin"),
        ("api:bob", "token", "127.0.0.1", "request.deny", "GET /keeper"),
    ], "once a minute, and no stranger fills the log"
    number = await conn.fetchval("SELECT id FROM api_tokens")
    assert {row["credential_id"] for row in await audit.read(conn, action="request.deny")} == {number}


async def test_the_record_of_refusals_is_bounded(open_app: OpenApp, conn: Any) -> None:
    async with open_app() as app:
        desk = Desk(app, conn)
        await desk.a_user("bob", Role.USER)
        token = await desk.with_token("bob", Scope.READ)
        gate = app.state.gate
        headers = [(b"authorization", token.headers["Authorization"].encode())]
        asked = Request({"type": "http", "headers": headers, "client": None, "scheme": "http"})
        who, _ = await gate.authenticate(asked, is_fresh=True)
        for n in range(500):
            gate.denials.note(who, "GET", f"/never/{n}", "no")
    assert await conn.fetchval("SELECT count(*) FROM audit_log WHERE outcome = 'denied'") == MOST_ROWS


async def test_a_change_is_noted_with_the_token_that_made_it(desk: Desk) -> None:
    await desk.a_user()
    await desk.with_token("alice", Scope.ADMIN)
    token = await desk.with_token("alice", Scope.ADMIN)
    made = await token.change("POST", "/api/admin/users", {"name": "carol", "role": "user"})
    assert made.is_success, made.text
    newest = await desk.conn.fetchval("SELECT max(id) FROM api_tokens")
    assert [row["credential_id"] for row in await audit.read(desk.conn, action="user.invite")] == [newest]
