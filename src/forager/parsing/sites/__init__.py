"""Parsers for single sites. Each file is one parser: `NAME`, `VERSION`, `HOSTS` and `find_product`.

A domain's `parser_name` selects it; `auto` selects the one whose `HOSTS` match, else the generic one. A parser whose
result changes must raise its `VERSION`, so that products record which version produced them.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple

from forager.parsing.products import find
from forager.parsing.products.view import View
from forager.products.models import Product

AUTO = "auto"
GENERIC = find.NAME


class SiteParser(NamedTuple):
    name: str
    version: int
    hosts: re.Pattern[str] | None
    """Hosts for which `auto` selects it; None: none."""
    find_product: Callable[[View], Product | None]


@cache
def parsers() -> Mapping[str, SiteParser]:
    """Returns the parsers by name; the generic one first."""
    found = {GENERIC: SiteParser(GENERIC, find.VERSION, None, find.find_product)}
    for module_info in iter_modules(__path__):
        module = import_module(f"{__name__}.{module_info.name}")
        found[module.NAME] = SiteParser(module.NAME, module.VERSION, module.HOSTS, module.find_product)
    return found


@lru_cache(4096)
def parser_for(name: str, host: str) -> SiteParser:
    """Returns the parser. An unknown name selects the generic parser, so that the crawl continues."""
    known = parsers()
    if name != AUTO:
        return known.get(name, known[GENERIC])
    fitting = (parser for parser in known.values() if parser.hosts is not None and parser.hosts.search(host))
    return next(fitting, known[GENERIC])
