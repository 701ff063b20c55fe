from tests.ground import database, database_url
from tests.integration.accounts.stage import desk, open_app

__all__ = ["database", "database_url", "desk", "open_app"]
