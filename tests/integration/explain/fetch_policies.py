"""Manners for tests of `why`: those of the default settings."""

from forager.config.settings import Settings
from forager.explain.conditions import build_fetch_policy

MANNERS = build_fetch_policy(Settings())
