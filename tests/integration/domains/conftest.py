from tests.ground import database, database_url, ground
from tests.integration.world import forager, world

__all__ = ["database", "database_url", "forager", "ground", "world"]
