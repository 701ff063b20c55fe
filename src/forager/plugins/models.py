"""Records of plug-ins: where they are found, what is known about them, what went wrong in them."""

from dataclasses import dataclass
from typing import NamedTuple

IMPORT = "import"
"""Stands in the place of a hook for errors while a plug-in is imported."""
CRASH = "crash"
"""Stands in the place of a hook where a plug-in ended its parser process."""
UNKNOWN = "unknown"
"""Stands for the name of the plug-in that ended a parser process after it was called."""
BUILT_IN = "built in"


class PluginConfig(NamedTuple):
    """Which plug-ins a process may load."""

    folder: str = ""
    """The folder of plug-in files; empty: neither files nor packages are looked for."""
    is_enabled: bool = True
    disabled: tuple[str, ...] = ()
    """Names of plug-ins that are not loaded."""
    timeout_s: float = 10.0
    """The time limit of one call in a parser process."""


NO_PLUGINS = PluginConfig()


class PluginError(NamedTuple):
    """Failures of one hook of one plug-in since the last report; texts are those of the last one."""

    plugin: str
    hook: str
    error: str
    traceback: str = ""
    url: str | None = None
    """The page it was called for."""
    times: int = 1


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """What `forager plugins` lists."""

    name: str
    version: str | None
    source: str
    """`built in`, the path of the file, or the name of the package."""
    hooks: tuple[str, ...]
    """The hooks it implements; empty if it is not loaded."""
    state: str
    """`loaded`, `disabled` or `broken`."""
    problem: str | None = None
    """Why it is broken."""
