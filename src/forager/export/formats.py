"""Formats of exports: those of Forager, and those that plug-ins register.

Plug-ins are asked only where a format is none of ours.
"""

import re
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from forager.errors import UsageError

if TYPE_CHECKING:
    from forager.plugins.contributions import Exporter
    from forager.plugins.registry import PluginRegistry

HOOK = "register_exporters"
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
EXTENSION = re.compile(r"[a-z0-9][a-z0-9_-]{0,19}(?:\.[a-z0-9][a-z0-9_-]{0,19})?")
RESERVED = ("gz", "zst", "warc", "warc.gz", "wacz")
"""Endings that mean something else."""


class Format(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"


class PluginFormat(NamedTuple):
    """A format that a plug-in writes."""

    plugin: str
    exporter: "Exporter"


Chosen = Format | PluginFormat


def find_format(name: str) -> Chosen:
    """Returns the format with this name. Raises UsageError."""
    if name in set(Format):
        return Format(name)
    found = plugin_formats()
    if name not in found:
        raise UsageError(
            f"There is no format {name[:60]!r}; there are {', '.join([*Format, *found])}.{_hint()}", field="format"
        )
    return found[name]


def format_of(name: str) -> Chosen:
    """Returns the format by the ending of a file; that of JSON lines if it is unknown."""
    name = name.lower()
    for ours in Format:
        if name.endswith(f".{ours}"):
            return ours
    if "." not in name.rpartition("/")[2]:
        return Format.JSONL
    fitting = [each for each in plugin_formats().values() if name.endswith(f".{each.exporter.extension}")]
    return max(fitting, key=lambda each: len(each.exporter.extension), default=Format.JSONL)


def plugin_formats() -> dict[str, PluginFormat]:
    """Returns the formats of plug-ins by name; of two with one name or one extension the first."""
    from forager.plugins import registry

    plugins = registry.current()
    return _formats_of(plugins) if plugins.may_call(HOOK) else {}


@lru_cache(4)
def _formats_of(plugins: "PluginRegistry") -> dict[str, PluginFormat]:
    from forager.plugins.collect import collect
    from forager.plugins.contributions import Exporter

    found: dict[str, PluginFormat] = {}
    taken = {*Format, *RESERVED}
    for plugin, each in collect(HOOK, Exporter):
        problem = _problem(each, {*taken, *found}, taken | {known.exporter.extension for known in found.values()})
        if problem is None:
            found[each.name] = PluginFormat(plugin, each)
        else:
            plugins.note(plugin, HOOK, ValueError(problem))
    return found


def _problem(exporter: "Exporter", names: set[str], extensions: set[str]) -> str | None:
    if not isinstance(exporter.name, str) or not NAME.fullmatch(exporter.name):
        return f"{exporter.name!r} is no name of a format: it has letters a to z, digits, - and _, at most 40"
    if not isinstance(exporter.extension, str) or not EXTENSION.fullmatch(exporter.extension):
        return f"{exporter.extension!r} is no extension of files: write it like xlsx, without the first dot"
    if exporter.name in names:
        return f"there is a format {exporter.name} already"
    return (
        f"files that end with .{exporter.extension} are of another format" if exporter.extension in extensions else None
    )


def _hint() -> str:
    from forager.plugins import registry

    return " A plug-in is broken: `forager plugins` shows what is wrong." if registry.current().has_errors else ""
