from tests.ground import database, database_url, ground
from tests.integration.scheduler.stage import jobs_are_new

__all__ = ["database", "database_url", "ground", "jobs_are_new"]
