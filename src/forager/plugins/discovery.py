"""Finds plug-ins without importing them: the parsers inside Forager, files of the data folder, installed packages."""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from forager.plugins.models import BUILT_IN, PluginConfig

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "forager.plugins"
SITES = "forager.parsing.sites"
"""The package of the product parsers inside Forager; each of its modules is a plug-in."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")
LARGEST_FILE = 4 * 1024 * 1024


@dataclass(frozen=True)
class Source:
    """Where one plug-in comes from."""

    name: str
    label: str
    """`built in`, the path of the file, or the name of the package."""
    module: str = ""
    path: Path | None = None
    entry_point: "EntryPoint | None" = None
    version: str | None = None

    def may_implement(self, hook: str) -> bool:
        """Whether the plug-in may implement a hook. A file that does not contain the name of the hook does not, so
        that a process imports only the files it has a use for."""
        if self.entry_point is not None:
            return True
        return hook in ("find_product" if self.path is None else self._text)

    @cached_property
    def _text(self) -> str:
        try:
            with (self.path or Path()).open("rb") as file:
                return file.read(LARGEST_FILE).decode("utf-8", "replace")
        except OSError:
            return ""


def find_sources(config: PluginConfig) -> list[Source]:
    """Returns all plug-ins; of two with one name the first: a file wins over a package, both over one of Forager's."""
    found: dict[str, Source] = {}
    sources = [*_files(config), *_packages()] if config.folder else []
    for source in [*sources, *_built_in()]:
        found.setdefault(source.name, source)
    return list(found.values())


def has_own(config: PluginConfig) -> bool:
    """Whether there may be plug-ins besides those of Forager."""
    return bool(config.folder and config.is_enabled) and (any(_files(config)) or _may_have_packages())


def _built_in() -> Iterator[Source]:
    from importlib.util import find_spec

    spec = find_spec(SITES)
    for module in iter_modules(spec.submodule_search_locations if spec else None):
        yield Source(module.name, BUILT_IN, module=f"{SITES}.{module.name}")


def _files(config: PluginConfig) -> Iterator[Source]:
    try:
        paths = sorted(Path(config.folder).glob("*.py"))
    except OSError:
        return
    for path in paths:
        if NAME.fullmatch(path.stem) and path.is_file():
            yield Source(path.stem, str(path), path=path)


def _packages() -> Iterator[Source]:
    if not _may_have_packages():
        return
    from importlib.metadata import entry_points

    for entry_point in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        if NAME.fullmatch(entry_point.name):
            package = entry_point.dist
            label, version = (package.name, package.version) if package is not None else (entry_point.value, None)
            yield Source(entry_point.name, label, entry_point=entry_point, version=version)


def _may_have_packages() -> bool:
    """Whether an installed package names the group: `importlib.metadata` takes ten times as long to say so."""
    for folder in sys.path:
        for pattern in ("*.dist-info/entry_points.txt", "*.egg-info/entry_points.txt"):
            try:
                if any(GROUP.encode() in path.read_bytes() for path in Path(folder).glob(pattern)):
                    return True
            except OSError:
                continue
    return False
