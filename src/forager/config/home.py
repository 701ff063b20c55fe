"""The default data folder; known without loading the settings."""

import os
from pathlib import Path


def default_home() -> Path:
    """Returns the per-user data folder: XDG on Linux, Application Support on macOS, /var/lib for root."""
    if data := os.environ.get("XDG_DATA_HOME"):
        return Path(data) / "forager"
    if os.uname().sysname == "Darwin":
        return Path.home() / "Library/Application Support/forager"
    if os.geteuid() == 0:
        return Path("/var/lib/forager")
    return Path.home() / ".local/share/forager"
