from tests.ground import database, database_url, ground

__all__ = ["database", "database_url", "ground"]
