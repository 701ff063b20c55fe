"""Fixtures: a small crawled web in a real database."""

from tests.integration.world import database_url, forager, world

__all__ = ["database_url", "forager", "world"]
