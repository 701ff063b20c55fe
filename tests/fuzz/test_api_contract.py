"""The contract of the API: schemathesis tries every operation with every check, against a real database, as each role.

In the suite for a quarter of a minute, most of it as an admin, who gets furthest; `make contract` for MINUTES, and then
in sequences too. It finds nothing.
"""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck as Unwell
from tests.conftest import in_thread
from tests.integration.api.conftest import PLENTY, token_of
from tests.integration.api.house import furnish

from forager.accounts.identity import Role, Scope
from forager.api.app import create_app
from forager.config.settings import Settings
from forager.db.pool import close, connect
from forager.engine.stop import StopRequest
from forager.instance import open_forager
from forager.runtime.server import bind, limits_of, serve

CONFIG = Path(__file__).with_name("schemathesis.toml")
SECONDS = float(os.environ.get("CONTRACT_SECONDS", "10"))
SHARES = {Role.ADMIN: 0.6, Role.USER: 0.2, Role.ANONYMOUS: 0.2}
"""Of the time, for each role."""
SEQUENCES = 0.6
"""So much time again for the phase in which one request follows from another."""
SIGNED_IN = """
[auth.openapi.token]
bearer = "${FORAGER_CONTRACT_TOKEN}"
"""
LONG_S = 120
LIVE, LIVE_EXAMPLES = "/api/live", 30
APART = 4_711_000
"""Numbers of our own account and token: nothing that is tried removes them."""


@dataclass(frozen=True)
class Instance:
    url: str
    document: Path
    tokens: dict[Role, str]
    database_url: str


@pytest.fixture
def instance(database_url: str, tmp_path: Path) -> Iterator[Instance]:
    """An API on a port, in a thread of its own, over a database with something of everything."""
    rates = dict.fromkeys(
        ("api_rate_limit_anonymous", "api_rate_limit_user", "api_rate_limit_admin", "api_rate_limit_seeds"), PLENTY
    )
    given = {"home": tmp_path, "database_url": database_url, "contact": "test@forager.example"}
    settings = Settings.of(**given, **rates, secret_key=("8f2c1de07b94a6350d7ecb15f93a42e8",))
    tokens = in_thread(_prepare(database_url))
    ready, stops = threading.Event(), []
    told: dict[str, Any] = {}

    async def run() -> None:
        stop, loop = StopRequest(), asyncio.get_running_loop()
        stops.append(lambda: loop.call_soon_threadsafe(stop.ask))
        async with open_forager(settings, application="contract", connections=8, statement_limit_s=10) as forager:
            app = create_app(settings, forager=forager)
            with bind("127.0.0.1", 0) as listening:
                told.update(document=app.openapi(), port=listening.getsockname()[1])
                ready.set()
                await serve(app, listening, stop, limits=limits_of(settings), on_stop=app.state.live.close)

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    assert ready.wait(30)
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(told["document"]))
    try:
        yield Instance(f"http://127.0.0.1:{told['port']}", document, tokens, database_url)
    finally:
        stops[0]()
        thread.join(30)


async def _prepare(dsn: str) -> dict[Role, str]:
    conn = await connect(dsn, application="forager test")
    try:
        await furnish(conn)
        for table in ("users", "api_tokens"):
            await conn.execute(f"ALTER SEQUENCE {table}_id_seq RESTART {APART}")
        scopes = {Role.ADMIN: Scope.ADMIN, Role.USER: Scope.READ}
        return {role: await token_of(conn, role, scope) for role, scope in scopes.items()}
    finally:
        await close(conn)


async def _changes(dsn: str) -> int:
    """Notes of what was done, but for what everybody may do with their own account."""
    conn = await connect(dsn, application="forager test")
    try:
        ours = "'session.%', 'token.%', 'user.%', 'auth.%'"
        number: int = await conn.fetchval(
            f"SELECT count(*) FROM audit_log WHERE outcome = 'done' AND NOT action LIKE ANY (ARRAY[{ours}])"
        )
        return number
    finally:
        await close(conn)


@pytest.mark.parametrize("role", SHARES)
def test_schemathesis_finds_nothing(instance: Instance, tmp_path: Path, role: Role) -> None:
    before = in_thread(_changes(instance.database_url))
    lines = attack(instance, tmp_path, "examples,coverage,fuzzing", SECONDS * SHARES[role], role)
    assert any("Tested: " in line for line in lines)
    if role is not Role.ADMIN:
        assert in_thread(_changes(instance.database_url)) == before, "nobody else changes anything"


@pytest.mark.skipif(SECONDS < LONG_S, reason="too short for sequences; `make contract` has the time")
def test_schemathesis_finds_nothing_in_what_follows_from_answers(instance: Instance, tmp_path: Path) -> None:
    """Ids of answers go into the next requests: what was just made is looked at, changed, removed, asked for again."""
    lines = attack(instance, tmp_path, "stateful", SECONDS * SEQUENCES, Role.ADMIN)
    followed = [int(line.split()[2]) for line in lines if line.strip().startswith("API Links:")]
    assert sum(followed) > 0, "\n".join(lines)


def attack(instance: Instance, folder: Path, phases: str, seconds: float, role: Role) -> list[str]:
    config = folder / "schemathesis.toml"
    token = instance.tokens.get(role)
    config.write_text(CONFIG.read_text() + (SIGNED_IN if token else ""))
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run", str(instance.document)]
    # One thread: Python 3.11's `ast.parse`, which Hypothesis calls, fails at random when two threads are in it.
    flags = ["--url", instance.url, "--exclude-path", LIVE, "--workers", "1", "--request-timeout", "30"]
    bounds = ["--phases", phases, "--max-time", f"{seconds:.0f}", "--warnings", "off"]
    environ = {**os.environ, "FORAGER_CONTRACT_TOKEN": token or ""}
    done = subprocess.run(
        [*command, *flags, *bounds],
        env=environ,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=seconds + 120,
        check=False,
    )
    lines = [line[:400] for line in done.stdout.splitlines()]
    assert done.returncode == 0, "\n".join(lines[-200:])
    return lines


def test_the_stream_keeps_its_contract(instance: Instance) -> None:
    """It has no end, so it is left after its first piece; the checks see that."""
    import requests
    import schemathesis  # a second and a half, which only this process need spend
    from schemathesis.specs.openapi.checks import ignored_auth

    schema = schemathesis.openapi.from_path(str(instance.document))
    headers = {"Authorization": f"Bearer {instance.tokens[Role.ADMIN]}"}
    seen: set[int] = set()

    @hypothesis.given(case=schema[LIVE]["GET"].as_strategy())
    @hypothesis.settings(max_examples=LIVE_EXAMPLES, deadline=None, database=None, suppress_health_check=list(Unwell))
    def ask(case: Any) -> None:
        asked = case.as_transport_kwargs(base_url=instance.url, headers=headers)
        with requests.request(**asked, stream=True, timeout=30) as answer:
            first = next(answer.iter_content(64 * 1024), b"")
            answer._content = first
            told = schemathesis.Response.from_requests(answer, verify=True)
            case.validate_response(told, excluded_checks=[ignored_auth])  # it does not see that the token is real
        seen.add(answer.status_code)
        assert first.startswith(b"retry: ")

    ask()
    assert seen == {200}
    assert requests.get(f"{instance.url}{LIVE}", timeout=30).status_code == 401
