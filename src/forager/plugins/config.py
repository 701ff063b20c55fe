"""Builds the configuration of plug-ins from Settings."""

from forager.config.settings import Settings
from forager.plugins.models import PluginConfig
from forager.plugins.registry import PluginRegistry, configure

FOLDER = "plugins"
"""In the data folder."""


def config_of(settings: Settings) -> PluginConfig:
    return PluginConfig(
        folder=str(settings.home / FOLDER),
        is_enabled=settings.plugins.enabled,
        disabled=tuple(settings.plugins.disabled),
        timeout_s=settings.plugins.timeout,
    )


def use_plugins(settings: Settings) -> PluginRegistry:
    """Names the plug-ins that this process may load. Imports none of them."""
    return configure(config_of(settings))
