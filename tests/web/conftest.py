from tests.acceptance.conftest import forager

__all__ = ["forager"]
