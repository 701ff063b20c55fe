"""Manners for tests of `why`: those of the default settings."""

from forager.app.fetch_policy import manners_of
from forager.settings import Settings

MANNERS = manners_of(Settings.model_validate({}))
