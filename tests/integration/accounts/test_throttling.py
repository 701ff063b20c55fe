"""Wrong passwords: counted across processes and restarts, for many at once, and never for ever."""

import asyncio

import asyncpg
import pytest
from tests.integration.accounts.stage import PASSWORD, Desk, OpenApp
from tests.integration.scheduler.stage import a_context

from forager.accounts import store
from forager.accounts.jobs import SessionsJob
from forager.accounts.passwords import Hasher
from forager.accounts.sessions import Visitor, sign_in

WRONG = "not the password"
FAR = "https://forager.example"


async def guess(desk: Desk, times: int, name: str = "alice", ip: str = "192.0.2.7") -> list[int]:
    browser = desk.browser(ip, base=FAR)
    return [(await browser.log_in(name, WRONG)).status_code for _ in range(times)]


async def let_time_pass(desk: Desk, interval: str) -> None:
    await desk.conn.execute(
        f"UPDATE login_attempts SET failed_at = failed_at - interval '{interval}',"
        f" wait_until = wait_until - interval '{interval}', succeeded_at = succeeded_at - interval '{interval}'"
    )


async def test_the_sixth_wrong_password_in_a_row_has_to_wait(desk: Desk) -> None:
    await desk.a_user()
    assert await guess(desk, 6) == [401] * 5 + [429]
    answer = await desk.browser("192.0.2.7", base=FAR).log_in()
    told = answer.json()
    assert (answer.status_code, told["error"]) == (429, "Rate limit exceeded")
    assert 25 <= told["retryAfter"] <= 31
    assert answer.headers["retry-after"] == str(told["retryAfter"])
    assert "try again in" in told["detail"]


async def test_account_and_address_wait_each(desk: Desk) -> None:
    await desk.a_user()
    await desk.a_user("bob")
    await guess(desk, 5)
    assert await guess(desk, 1, ip="198.51.100.1") == [429]
    assert await guess(desk, 1, name="bob") == [429]
    assert await guess(desk, 1, name="bob", ip="198.51.100.1") == [401]


@pytest.mark.parametrize("spelling", ["admİn0", "ADMIN0", "AdmiN0"])
async def test_every_spelling_that_the_database_takes_counts_against_one_account(desk: Desk, spelling: str) -> None:
    await desk.a_user("admin0")
    await guess(desk, 5, name="admin0")
    answers = [
        (await desk.browser(f"203.0.113.{n}", base=FAR).log_in(spelling, password)).status_code
        for n, password in enumerate((WRONG, PASSWORD), 1)
    ]
    assert answers == [429, 429] or (answers == [401, 401] and not await knows(desk, spelling))


async def knows(desk: Desk, name: str) -> bool:
    found: bool = await desk.conn.fetchval("SELECT EXISTS (SELECT FROM users WHERE lower(name) = lower($1))", name)
    return found


async def test_another_address_of_the_same_ipv6_network_waits_too(desk: Desk) -> None:
    await desk.a_user()
    await desk.a_user("bob")
    await guess(desk, 5, ip="2001:db8:1:2::1")
    assert await guess(desk, 1, name="bob", ip="2001:db8:1:2:aaaa::2") == [429]
    assert await guess(desk, 1, name="bob", ip="2001:db8:1:3::1") == [401]


async def test_an_account_that_does_not_exist_waits_like_any_other(desk: Desk) -> None:
    assert await guess(desk, 6, name="nobody") == [401] * 5 + [429]


async def test_the_wait_grows_and_ends(desk: Desk) -> None:
    await desk.a_user()
    await guess(desk, 5)
    await let_time_pass(desk, "31 seconds")
    assert await guess(desk, 2) == [401, 429]
    await let_time_pass(desk, "31 seconds")
    assert await guess(desk, 1) == [429]
    await let_time_pass(desk, "30 seconds")
    assert (await desk.browser("192.0.2.7", base=FAR).log_in()).status_code == 200


async def test_a_right_password_forgets_the_wrong_ones(desk: Desk) -> None:
    await desk.a_user()
    for _ in range(3):
        await guess(desk, 4)
        assert (await desk.browser("192.0.2.7", base=FAR).log_in()).status_code == 200


async def test_a_stranger_who_guesses_keeps_nobody_out(desk: Desk) -> None:
    at_home = await desk.signed_in(ip="203.0.113.5")
    del at_home
    await guess(desk, 8)
    home = desk.browser("203.0.113.5", base=FAR)
    assert (await home.log_in()).status_code == 200


async def test_who_shares_an_address_is_not_kept_out_by_another(desk: Desk) -> None:
    await desk.signed_in(ip="192.0.2.7")
    await desk.a_user("bob")
    assert await guess(desk, 6, name="bob") == [401] * 5 + [429]
    assert (await desk.browser("192.0.2.7", base=FAR).log_in()).status_code == 200


async def test_a_right_password_between_does_not_free_an_address_that_guesses_others(desk: Desk) -> None:
    """With an account of one's own one cannot go on guessing for ever."""
    await desk.a_user("mallory")
    codes = []
    for _ in range(4):
        codes += await guess(desk, 2)
        await desk.browser("192.0.2.7", base=FAR).log_in("mallory")
    assert 429 in codes


async def test_many_at_once_are_no_way_around(desk: Desk) -> None:
    await desk.a_user()
    browser = desk.browser("192.0.2.7", base=FAR)
    codes = [each.status_code for each in await asyncio.gather(*[browser.log_in("alice", WRONG) for _ in range(20)])]
    assert sorted(codes) == [401] * 5 + [429] * 15


async def test_several_processes_and_restarts_count_together(desk: Desk, open_app: OpenApp) -> None:
    await desk.a_user()
    codes = await guess(desk, 3)
    async with open_app() as app:
        codes += await guess(Desk(app, desk.conn), 3)
    assert codes == [401] * 5 + [429]


async def test_asking_for_a_new_password_counts_too(desk: Desk) -> None:
    """A stolen session is no way to guess the password."""
    browser = await desk.signed_in()
    wish = {"current": WRONG, "new": "nine loud badgers"}
    codes = [(await browser.change("POST", "/api/auth/password", wish)).status_code for _ in range(6)]
    assert codes == [401] * 5 + [429]


async def test_wrong_passwords_are_on_record_but_not_what_was_typed_as_a_name(desk: Desk) -> None:
    await desk.a_user()
    await guess(desk, 1)
    await guess(desk, 1, name=PASSWORD)
    rows = await desk.audit("session.begin")
    assert [(row["outcome"], row["object_id"], row["ip"]) for row in rows] == [
        ("denied", "alice", "192.0.2.7"),
        ("denied", None, "192.0.2.7"),
    ]
    assert PASSWORD not in str(rows)


async def test_what_is_over_is_cleared_out(desk: Desk) -> None:
    await desk.signed_in()
    await guess(desk, 6)
    kept = await store.clear_out(desk.conn)
    assert kept == {"sessions": 0, "invites": 0, "attempts": 1}, "a pair that never signed in has nothing to tell"
    await let_time_pass(desk, "2 days")
    await desk.conn.execute("UPDATE sessions SET expires_at = now()")
    await desk.conn.execute("INSERT INTO invites (secret_hash, created_by, expires_at) VALUES ('x', 'test', now())")
    assert await SessionsJob().run(a_context(desk.conn)) == "1 session, 1 link, 3 login tries deleted"
    left = {row["subject"] for row in await desk.conn.fetch("SELECT subject FROM login_attempts")}
    alice = await desk.conn.fetchval("SELECT id FROM users")
    assert left == {f"pair:#{alice} 127.0.0.1"}


async def test_a_login_that_is_cut_off_counts_as_wrong(desk: Desk, pool: asyncpg.Pool) -> None:
    await desk.a_user()
    has_begun = asyncio.Event()

    class Slow(Hasher):
        async def verify(self, password: str, stored: str | None) -> bool:
            has_begun.set()
            await asyncio.Event().wait()
            return True

    visitor = Visitor("192.0.2.7")
    login = asyncio.create_task(sign_in(pool, Slow(), "alice", PASSWORD, visitor))
    await asyncio.wait_for(has_begun.wait(), 10)
    login.cancel()
    await asyncio.gather(login, return_exceptions=True)
    rows = await desk.conn.fetch("SELECT failures FROM login_attempts ORDER BY subject")
    assert [row["failures"] for row in rows] == [1, 1, 0]
