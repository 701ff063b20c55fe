from tests.ground import database, database_url, ground
from tests.integration.proxies.stand import stand

__all__ = ["database", "database_url", "ground", "stand"]
