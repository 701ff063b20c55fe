"""Accounts against `forager api` as a real process: the printed link, the cookie on the wire, a restart."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg
import httpx
import pytest
from tests.conftest import in_thread

PASSWORD = "seven quiet otters"
GREETING = re.compile(r"on (http://[\d.]+:\d+);")
LINK = re.compile(r"/accept#([\w-]{43})")


@contextmanager
def api(database_url: str, home: Path, *flags: str) -> Iterator[tuple[str, str | None]]:
    """Its address, and the secret of the link it prints if it prints one."""
    given = {"FORAGER_DATABASE_URL": database_url, "FORAGER_HOME": str(home)}
    command = [sys.executable, "-m", "forager", "api", "--port", "0", *flags]
    with subprocess.Popen(command, env=os.environ | given, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            greeting = process.stderr.readline()
            found = GREETING.search(greeting)
            assert found, greeting + process.stderr.read()
            secret = _printed_secret(process) if not _has_people(database_url) else None
            _wait_until_it_answers(found[1])
            yield found[1], secret
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0


def _printed_secret(process: "subprocess.Popen[str]") -> str:
    assert process.stderr is not None
    told = process.stderr.readline() + process.stderr.readline()
    found = LINK.search(told)
    assert found, told
    return found[1]


def _has_people(database_url: str) -> bool:
    async def ask() -> bool:
        conn = await asyncpg.connect(database_url)
        try:
            return bool(await conn.fetchval("SELECT count(*) > 0 FROM users"))
        finally:
            await conn.close()

    return in_thread(ask())


def _wait_until_it_answers(address: str) -> None:
    with httpx.Client(transport=httpx.HTTPTransport(retries=8), timeout=20) as client:
        assert client.get(f"{address}/health").status_code in {200, 503}


@pytest.mark.acceptance
def test_from_the_printed_link_to_a_session_that_outlives_a_restart(database_url: str, tmp_path: Path) -> None:
    with api(database_url, tmp_path) as (address, secret), httpx.Client(base_url=address) as browser:
        assert browser.get("/api/auth/me").status_code == 401
        body = {"secret": secret, "name": "root", "password": PASSWORD}
        begun = browser.post("/api/auth/accept", json=body, headers={"Origin": address})
        assert begun.status_code == 200, begun.text
        cookie = begun.headers["set-cookie"]
        assert re.fullmatch(r"forager_session=[\w-]{43}; HttpOnly; Max-Age=86400; Path=/; SameSite=strict", cookie)
        assert browser.get("/api/auth/me").json()["name"] == "root"
        assert browser.post("/api/auth/accept", json=body).status_code == 404
        kept, csrf = dict(browser.cookies), begun.json()["csrf_token"]

    with api(database_url, tmp_path) as (address, secret), httpx.Client(base_url=address, cookies=kept) as browser:
        assert secret is None
        assert browser.get("/api/auth/me").json()["csrf_token"] == csrf
        made = browser.post("/api/tokens", json={"name": "x"}, headers={"Origin": address, "X-CSRF-Token": csrf})
        assert made.status_code == 201
        left = browser.post("/api/auth/logout", headers={"Origin": address, "X-CSRF-Token": csrf})
        assert left.status_code == 204
        again = httpx.get(f"{address}/api/auth/me", cookies=kept)
        assert again.status_code == 401
        told = httpx.get(f"{address}/api/auth/me", headers={"Authorization": f"Bearer {made.json()['token']}"})
        assert (told.json()["via"], told.json()["role"]) == ("token", "user")


@pytest.mark.acceptance
@pytest.mark.timeout(120)
def test_two_processes_serve_one_port_as_one(database_url: str, tmp_path: Path) -> None:
    with api(database_url, tmp_path, "--processes", "2") as (address, secret):
        body = {"secret": secret, "name": "root", "password": PASSWORD}
        begun = httpx.post(f"{address}/api/auth/accept", json=body, headers={"Origin": address}, timeout=20)
        kept = dict(begun.cookies)
        assert (begun.status_code, ask_anew(address, "/api/auth/me", kept, times=8)) == (200, {200})
        with httpx.stream("GET", f"{address}/api/live", cookies=kept, timeout=20) as events:
            assert next(events.iter_lines()), "numbers flow, whoever was asked"
        both = serving(os.getpid())
        assert len(both) == 2
        os.kill(both[0], signal.SIGKILL)
        assert ask_anew(address, "/health", kept, times=8) <= {200, 503}, "those that met the dead one waited"
        again = serving(os.getpid())
        assert len(again) == 2
        assert both[0] not in again
    assert not any(Path(f"/proc/{pid}").exists() for pid in again)


def ask_anew(address: str, path: str, cookies: dict[str, str], *, times: int) -> set[int]:
    """Each time by a connection of its own."""
    return {httpx.get(f"{address}{path}", cookies=cookies, timeout=25).status_code for _ in range(times)}


def serving(parent: int) -> list[int]:
    """The processes below us that have a socket to serve on."""
    pids = [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
    below = [each for pid in pids for each in serving(pid)]
    return below + [pid for pid in pids if b"--listening" in Path(f"/proc/{pid}/cmdline").read_bytes()]
