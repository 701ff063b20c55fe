"""`forager user`, `forager token` and `forager audit log`, from words to rows."""

import asyncio
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.integration.accounts.stage import PASSWORD

from forager.accounts import audit
from forager.accounts.credentials import hash_of
from forager.accounts.identity import anon_identity
from forager.accounts.passwords import Hasher
from forager.cli.main import run


class Said(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def forager(
    database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Any]:
    monkeypatch.setenv("FORAGER_DATABASE_URL", database_url)
    monkeypatch.setenv("FORAGER_HOME", str(tmp_path / "home"))

    async def call(*arguments: str, typed: str = "") -> Said:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = await asyncio.to_thread(run, arguments)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Said(code, captured.out, captured.err)

    return call


async def test_a_link_is_the_only_thing_on_standard_output(forager: Any, conn: Any) -> None:
    said = await forager("user", "invite", "alice", "--role", "admin")
    assert said.out.startswith("http://127.0.0.1:8600/accept#")
    assert await conn.fetchval("SELECT secret_hash FROM invites") == hash_of(said.out.strip().partition("#")[2])
    assert "works once" in said.err


async def test_links_begin_with_the_public_address(forager: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORAGER_API_PUBLIC_URL", "https://forager.example/")
    told = json.loads((await forager("user", "invite", "alice", "--json")).out)
    assert told["link"].startswith("https://forager.example/accept#")
    assert (told["name"], told["role"]) == ("alice", "user")


async def test_a_password_comes_on_standard_input_and_is_hashed(forager: Any, conn: Any) -> None:
    assert (await forager("user", "add", "alice", typed=f"{PASSWORD}\n")).code == 0
    stored = await conn.fetchval("SELECT password_hash FROM users")
    assert await Hasher().verify(PASSWORD, stored)


@pytest.mark.parametrize(
    ("typed", "why"),
    [("short\n", "at least 12"), ("\n", "No password came"), ("alice alice alice\n", "account's name")],
)
async def test_a_bad_password_is_refused_with_a_sentence(forager: Any, conn: Any, typed: str, why: str) -> None:
    said = await forager("user", "add", "alice", typed=typed)
    assert (said.code, await conn.fetchval("SELECT count(*) FROM users")) == (2, 0)
    assert why in said.err


async def test_the_life_of_an_account(forager: Any, conn: Any) -> None:
    for name in ("alice", "bob"):
        await forager("user", "add", name, "--role", "admin", typed=f"{PASSWORD}\n")
    for words, role, is_active in (
        (("set-role", "bob", "user"), "user", True),
        (("disable", "bob"), "user", False),
        (("enable", "BOB"), "user", True),
    ):
        assert (await forager("user", *words)).code == 0
        assert tuple(await conn.fetchrow("SELECT role, is_active FROM users WHERE name = 'bob'")) == (role, is_active)
    assert (await forager("user", "reset-password", "bob")).out.startswith("http")
    listed = json.loads((await forager("user", "list", "--json")).out)
    assert [(row["name"], row["role"]) for row in listed] == [("alice", "admin"), ("bob", "user")]
    assert "password_hash" not in listed[0]
    assert (await forager("user", "remove", "bob")).code == 0
    assert (await forager("user", "remove", "bob")).code == 3
    last = await forager("user", "disable", "alice")
    assert (last.code, "last admin" in last.err) == (7, True)


async def test_the_life_of_a_token(forager: Any, conn: Any) -> None:
    await forager("user", "add", "alice", "--role", "admin", typed=f"{PASSWORD}\n")
    made = await forager("token", "create", "alice", "export", "--expires", "30d", "--scope", "write")
    assert await conn.fetchval("SELECT secret_hash FROM api_tokens") == hash_of(made.out.strip())
    listed = await forager("token", "list")
    assert "export" in listed.out
    assert "write" in listed.out
    assert made.out.strip() not in listed.out
    assert (await forager("token", "revoke", "1", "2")).code == 3
    assert await conn.fetchval("SELECT revoked_at FROM api_tokens") is None
    identity = await conn.fetchval("SELECT id FROM api_tokens")
    assert (await forager("token", "revoke", str(identity))).code == 0
    assert "revoked" in (await forager("token", "list")).out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("token", "create", "nobody", "x"), 3),
        (("token", "create", "alice", "x", "--expires", "3x"), 2),
        (("token", "create", "alice", "x\ny"), 2),
        (("token", "create", "alice", "x", "--scope", "root"), 2),
        (("user", "invite", "a b"), 2),
        (("user", "invite", "alice"), 7),
        (("user", "set-role", "alice", "root"), 2),
        (("user", "reset-password", "nobody"), 3),
        (("audit", "log", "--since", "yesterday-ish"), 2),
    ],
)
async def test_what_makes_no_sense_is_refused(forager: Any, words: tuple[str, ...], code: int) -> None:
    await forager("user", "add", "alice", typed=f"{PASSWORD}\n")
    said = await forager(*words)
    assert said.code == code
    assert said.err.count("\n") == 1


async def test_the_log_says_who_did_what(forager: Any, conn: Any) -> None:
    await forager("user", "invite", "alice")
    await audit.note(
        conn, anon_identity("192.0.2.7"), "session.begin", kind="user", object_id="al\x1b[31mice", outcome="denied"
    )
    said = await forager("audit", "log")
    assert "user.invite" in said.out
    assert "denied" in said.out
    assert "\x1b" not in said.out
    rows = json.loads((await forager("audit", "log", "--action", "user", "--json")).out)
    assert [(row["action"], row["via"], row["details"]) for row in rows] == [("user.invite", "cli", {"role": "user"})]
    assert rows[0]["who"].startswith("cli")
    assert json.loads((await forager("audit", "log", "--who", "api:anonymous", "--json")).out)[0]["ip"] == "192.0.2.7"
    assert json.loads((await forager("audit", "log", "-n", "1", "--json")).out)[0]["action"] == "session.begin"
