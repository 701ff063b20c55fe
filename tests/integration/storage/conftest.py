from tests.acceptance.conftest import forager, open_web, rng

__all__ = ["forager", "open_web", "rng"]
