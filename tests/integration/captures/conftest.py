from tests.acceptance.conftest import forager, rng
from tests.ground import database_url, ground

__all__ = ["database_url", "forager", "ground", "rng"]
