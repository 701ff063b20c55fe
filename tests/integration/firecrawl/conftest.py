"""Fixtures: an API in this process that serves Firecrawl's routes, and clients of each role."""

from pathlib import Path

import pytest
from tests.integration.api.conftest import admin, anybody, app, database_url, ground, user

from forager.config.settings import Settings

__all__ = ["admin", "anybody", "app", "database_url", "ground", "user"]


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings.of(
        home=tmp_path,
        database_url=database_url,
        fetch_allow_networks=("127.0.0.0/8",),
        contact="test@forager.example",
        secret_key=("8f2c1de07b94a6350d7ecb15f93a42e8",),
        api_database_connections=5,
        api_firecrawl=True,
    )
