"""Manners for tests of `why`: those of the default settings."""

from forager.app.fetch_policy import build_fetch_policy
from forager.config.settings import Settings

MANNERS = build_fetch_policy(Settings())
