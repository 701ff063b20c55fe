"""Product parsers of single sites: plug-ins with the hook `find_product`. The modules of this package are those that
Forager brings.

A domain's `parser_name` selects one; `auto` selects the one whose `HOSTS` match, else the generic one. A parser whose
result changes must raise its `VERSION`, so that products record which version produced them.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, NamedTuple

from forager.parsing.products import find
from forager.parsing.products.view import View
from forager.plugins import registry
from forager.plugins.models import BUILT_IN
from forager.plugins.page import Page
from forager.plugins.products import read_product
from forager.plugins.registry import Implementation, PluginRegistry
from forager.products.models import Product

AUTO = "auto"
GENERIC = find.NAME
HOOK = "find_product"


class SiteParser(NamedTuple):
    name: str
    version: int
    hosts: re.Pattern[str] | None
    """Hosts for which `auto` selects it; None: none."""
    find_product: Callable[[View], Product | None]
    needs_hints: bool = True
    """Whether `auto` skips it for pages that do not seem to sell anything."""


GENERIC_PARSER = SiteParser(GENERIC, find.VERSION, None, find.find_product)


def parsers() -> Mapping[str, SiteParser]:
    """Returns the parsers by name; the generic one first."""
    return _parsers_of(registry.current(), registry.current().left_out)


def parser_for(name: str, host: str) -> SiteParser:
    """Returns the parser. An unknown name selects the generic parser, so that the crawl continues."""
    plugins = registry.current()
    return _parser_for(plugins, plugins.left_out, name, host)


@lru_cache(8)
def _parsers_of(plugins: PluginRegistry, _left_out: frozenset[str]) -> Mapping[str, SiteParser]:
    found = {GENERIC: GENERIC_PARSER}
    for source in plugins.sources:
        for each in plugins.implementations(HOOK):
            if each.plugin == source.name:
                found[each.plugin] = _site_parser(plugins, each, is_own=source.label == BUILT_IN)
    return found


@lru_cache(4096)
def _parser_for(plugins: PluginRegistry, left_out: frozenset[str], name: str, host: str) -> SiteParser:
    known = _parsers_of(plugins, left_out)
    if name not in known and plugins.is_left_out(name):
        return SiteParser(name, 1, None, _find_none)  # no product is better than that of another parser
    if name != AUTO:
        return known.get(name, GENERIC_PARSER)
    fitting = (parser for parser in known.values() if parser.hosts is not None and parser.hosts.search(host))
    return next(fitting, GENERIC_PARSER)


def _site_parser(plugins: PluginRegistry, found: Implementation, *, is_own: bool) -> SiteParser:
    module = plugins.module_of(found.plugin)
    version, hosts = _version(getattr(module, "VERSION", 1)), _hosts(plugins, found, getattr(module, "HOSTS", None))
    return SiteParser(found.plugin, version, hosts, partial(_call, plugins, found, version), needs_hints=is_own)


def _call(plugins: PluginRegistry, found: Implementation, version: int, view: View) -> Product | None:
    return plugins.call(
        found,
        {"page": Page(view)},
        lambda result: read_product(result, view, found.plugin, version),
        url=view.url,
    )


def _find_none(_view: View) -> None:
    """Stands for a plug-in that is left out."""


def _version(value: Any) -> int:
    return value if isinstance(value, int) and 0 < value < 2**15 else 1


def _hosts(plugins: PluginRegistry, found: Implementation, value: Any) -> re.Pattern[str] | None:
    if value is None or isinstance(value, re.Pattern):
        return value
    try:
        return re.compile(value)
    except (TypeError, re.error) as error:
        plugins.note(found.plugin, HOOK, ValueError(f"HOSTS is not a regular expression: {error}"))
        return None
