"""What an operator sees of plug-ins, and does about their errors. The CLI and the API call these functions."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import with_config

from forager.config.settings import Settings
from forager.db.rows import RECORD
from forager.db.types import Connection
from forager.plugins import store
from forager.plugins.config import config_of
from forager.plugins.models import PluginInfo
from forager.plugins.probe import probe
from forager.plugins.store import ErrorRow


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class PluginFailure:
    """Failures of one hook of a plug-in."""

    hook: str
    """The hook; `import`; or `crash`, where the plug-in ended its parser process."""
    errors: int
    error: str
    """The last one."""
    traceback: str
    url: str | None
    """The page it was called for."""
    first_at: datetime
    last_at: datetime


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class PluginRow:
    """One plug-in."""

    name: str
    version: str | None
    source: str
    """`built in`, the path of the file, or the name of the package."""
    hooks: Sequence[str]
    state: str
    """`loaded`, `disabled` or `broken`; `gone` for one that is only known by its errors."""
    problem: str | None
    """Why it is broken."""
    errors: int
    failures: Sequence[PluginFailure]
    """By hook, the last first."""

    def to_dict(self) -> dict[str, Any]:
        failures = [{name: getattr(each, name) for name in PluginFailure.__slots__} for each in self.failures]
        return {name: getattr(self, name) for name in PluginRow.__slots__} | {"failures": failures}


async def find_plugins(settings: Settings) -> list[PluginInfo]:
    """Returns every plug-in. All are imported, in another process."""
    return await asyncio.to_thread(probe, config_of(settings))


async def list_plugins(conn: Connection, found: Sequence[PluginInfo]) -> list[PluginRow]:
    """Returns these plug-ins with their errors, and those that only have errors."""
    return combine(found, await store.list_errors(conn))


def combine(found: Sequence[PluginInfo], errors: Sequence[ErrorRow]) -> list[PluginRow]:
    """Returns the plug-ins with their errors, and those that only have errors."""
    by_plugin: dict[str, list[PluginFailure]] = {}
    for row in errors:
        by_plugin.setdefault(row.plugin, []).append(PluginFailure(*row[1:]))
    known = {each.name for each in found}
    gone = [PluginInfo(name, None, "", (), "gone") for name in sorted(by_plugin) if name not in known]
    return [_row(each, by_plugin) for each in (*found, *gone)]


def _row(info: PluginInfo, by_plugin: Mapping[str, list[PluginFailure]]) -> PluginRow:
    failures = by_plugin.get(info.name, [])
    errors = sum(each.errors for each in failures)
    return PluginRow(info.name, info.version, info.source, info.hooks, info.state, info.problem, errors, failures)


async def clear_errors(conn: Connection, plugin: str | None = None) -> int:
    """Forgets the errors of a plug-in, or of all; returns the number of hooks that had some."""
    return await store.clear_errors(conn, plugin)
