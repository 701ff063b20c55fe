"""Plug-ins: Python files of the data folder, and installed packages, that add to what Forager does.

A plug-in implements hooks (`specifications.py`) with `@forager.hookimpl`. `registry.py` finds and loads plug-ins in the
processes that need them, and calls them so that a failure costs its own result only. The names here are for plug-ins.
"""

from typing import TYPE_CHECKING, Any

from forager.plugins.contributions import AlertRule, Exporter, Notifier, RuleFinding, ScheduledJob, Storage
from forager.plugins.markers import hookimpl, hookspec

if TYPE_CHECKING:
    from forager.plugins.page import Page

__all__ = [
    "AlertRule",
    "Exporter",
    "Notifier",
    "Page",
    "RuleFinding",
    "ScheduledJob",
    "Storage",
    "hookimpl",
    "hookspec",
]


def __getattr__(name: str) -> Any:
    """Provides `Page` when it is first used: it loads the parser."""
    if name == "Page":
        from forager.plugins.page import Page

        return Page
    raise AttributeError(f"module 'forager.plugins' has no attribute {name!r}")
