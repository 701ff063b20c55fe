"""Bodies of requests about plug-ins, and their responses."""

from typing import Annotated

from pydantic import Field

from forager.api.types import Body, Row, Text


class PluginsClear(Body):
    plugin: Annotated[Text | None, Field(max_length=60, examples=["shop"])] = None
    """A plug-in; by default all."""


class PluginsCleared(Row):
    cleared: int
    """Hooks that had errors."""
