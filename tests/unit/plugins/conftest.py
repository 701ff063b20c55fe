"""Plug-ins of a test: files in a folder, and the process's own plug-ins as before afterwards."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forager.plugins import registry
from forager.plugins.models import NO_PLUGINS, PluginConfig
from forager.plugins.registry import PluginRegistry

Install = Callable[..., PluginRegistry]


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Install]:
    """Writes plug-ins, by name, and returns the plug-ins of this process."""

    def installed(*, disabled: tuple[str, ...] = (), is_enabled: bool = True, **files: str) -> PluginRegistry:
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(f"import forager\n{text}\n")
        registry.configure(NO_PLUGINS)
        return registry.configure(PluginConfig(str(tmp_path), is_enabled, disabled))

    yield installed
    registry.configure(NO_PLUGINS)
