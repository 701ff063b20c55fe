"""Parsers for single sites. One file here is one parser: `NAME`, `VERSION`, `HOSTS` and `find_product`.

A domain's `parser_name` chooses it; `auto` takes the one whose `HOSTS` fit, else the generic one. A parser whose result
changes raises its `VERSION`, so that products say by which one they were read.
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
    """Which hosts `auto` gives it; None: none."""
    find_product: Callable[[View], Product | None]


@cache
def parsers() -> Mapping[str, SiteParser]:
    """By name; the generic one first."""
    found = {GENERIC: SiteParser(GENERIC, find.VERSION, None, find.find_product)}
    for module_info in iter_modules(__path__):
        module = import_module(f"{__name__}.{module_info.name}")
        found[module.NAME] = SiteParser(module.NAME, module.VERSION, module.HOSTS, module.find_product)
    return found


@lru_cache(4096)
def parser_for(name: str, host: str) -> SiteParser:
    """A name nobody knows any more is as good as none: the crawl goes on with the generic parser."""
    known = parsers()
    if name != AUTO:
        return known.get(name, known[GENERIC])
    fitting = (parser for parser in known.values() if parser.hosts is not None and parser.hosts.search(host))
    return next(fitting, known[GENERIC])
