import pytest
from tests.ground import database, database_url
from tests.integration.accounts.stage import desk, open_app

from forager.accounts import session_cache

__all__ = ["database", "database_url", "desk", "open_app"]


@pytest.fixture(autouse=True)
def short_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever ends a session waits until it is forgotten everywhere; dozens of tests do."""
    monkeypatch.setattr(session_cache, "REMEMBERED_S", 0.1)
