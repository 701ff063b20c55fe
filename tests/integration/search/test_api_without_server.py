"""The API while its search server is away: it answers, says why, and its health is degraded, not down."""

from pathlib import Path
from typing import Any

import asyncpg
import pytest
from tests.integration.api.conftest import client_for, running, token_of
from tests.integration.search.conftest import IN_POSTGRES

from forager.accounts.identity import Role, Scope
from forager.config.settings import Settings

pytestmark = IN_POSTGRES
LIVE = "INSERT INTO search_builds (name, owner, state, is_made) VALUES ('b1', gen_random_uuid(), 'live', true)"


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings.of(
        home=tmp_path,
        database_url=database_url,
        secret_key=("8f2c1de07b94a6350d7ecb15f93a42e8",),
        search_backend="opensearch",
        search_url="http://crawler:s3cret@127.0.0.1:9",
    )


async def test_it_answers_by_postgresql(library: Any, settings: Settings, conn: asyncpg.Connection) -> None:
    await library.a_product("http://a.example/pot", "Blue pot", "For tea.")
    await conn.execute(LIVE)
    async with running(settings) as app, client_for(app, await token_of(conn, Role.USER, Scope.READ)) as user:
        for path in ("/api/search", "/api/products/search"):
            answer = await user.get(path, params={"q": "pot"})
            assert (answer.status_code, answer.json()["total"]) == (200, 1)
            assert answer.json()["note"].endswith("PostgreSQL answered instead.")
        health = await user.get("/health")
        assert (health.status_code, health.json()["status"]) == (200, "degraded")
        assert health.json()["parts"]["search"] == {
            "state": "degraded",
            "detail": "the search server does not answer, PostgreSQL does",
        }
        assert (await user.get("/api/search", params={"q": "pot", "after": "s1065353216-1"})).status_code == 409
        shown = await user.get("/api/settings")
        assert "s3cret" not in health.text + shown.text + answer.text
