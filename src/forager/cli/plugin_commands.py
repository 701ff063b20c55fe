"""Commands of plug-ins: looked for when a word is not a command of Forager, and for help.

Nothing is imported while there are no plug-ins: `forager --help` stays fast.
"""

import copy
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from forager.config.home import default_home
from forager.errors import ForagerError

PANEL = "Plug-ins"
HOOK = "register_commands"


def with_plugin_commands(app: typer.Typer) -> typer.Typer:
    """Returns the app with the commands of plug-ins; the same app if there are none."""
    if not _may_exist():
        return app
    from forager.config.loader import load
    from forager.plugins import registry
    from forager.plugins.config import use_plugins

    plugins = use_plugins(load())
    extended = copy.copy(app)
    extended.registered_commands = list(app.registered_commands)
    extended.registered_groups = list(app.registered_groups)
    for each in plugins.implementations(HOOK):
        own = typer.Typer()
        if plugins.call(each, {"app": own}, lambda _: True):
            _add(extended, own, each.plugin)
    for error in registry.current().take_errors():
        _warn(f"The plug-in {error.plugin} adds no commands: {error.error}")
    return extended


def _may_exist() -> bool:
    if os.environ.get("FORAGER_CONFIG"):
        return True
    from forager.plugins.discovery import has_own
    from forager.plugins.models import PluginConfig

    home = Path(os.environ.get("FORAGER_HOME") or default_home())
    return has_own(PluginConfig(str(home.expanduser() / "plugins")))


def _add(app: typer.Typer, own: typer.Typer, plugin: str) -> None:
    taken = {each.name for each in app.registered_commands} | {each.name for each in app.registered_groups}
    for command in own.registered_commands:
        command.name = command.name or _name_of(command.callback)
        if command.name not in taken and command.callback is not None:
            command.callback = _guarded(command.callback, plugin)
            command.rich_help_panel = PANEL
            app.registered_commands.append(command)
    for group in own.registered_groups:
        if isinstance(group.name, str) and group.name not in taken:
            group.rich_help_panel = PANEL
            app.registered_groups.append(group)


def _name_of(callback: Callable[..., Any] | None) -> str:
    return getattr(callback, "__name__", "").replace("_", "-").lower()


def _guarded(callback: Callable[..., Any], plugin: str) -> Callable[..., Any]:
    """Reports what a command raises as a failure of its plug-in."""

    @functools.wraps(callback)
    def run(*arguments: Any, **named: Any) -> Any:
        try:
            return callback(*arguments, **named)
        except (ForagerError, typer.Exit, typer.Abort, typer.TyperException, OSError):
            raise
        except Exception as error:
            if os.environ.get("FORAGER_LOG_LEVEL", "").lower() == "debug":
                import traceback

                traceback.print_exception(error)
            message = f"the plug-in {plugin} failed: {type(error).__name__}: {error}. The flag -v shows the trace."
            raise ForagerError(message) from error

    return run


def _warn(sentence: str) -> None:
    from forager.cli import output

    output.complain(sentence)
