from tests.ground import database, database_url, ground
from tests.integration.scheduler.stage import duties_are_new

__all__ = ["database", "database_url", "duties_are_new", "ground"]
