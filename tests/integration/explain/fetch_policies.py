"""Manners for tests of `why`: those of the default settings."""

from forager.explain.conditions import build_fetch_policy
from forager.settings import Settings

MANNERS = build_fetch_policy(Settings.model_validate({}))
