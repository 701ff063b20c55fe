"""The sites of the playground and how to order them: `shop`, `shop=5000`, `uniform=200x50` (sites x pages)."""

import difflib
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import NamedTuple

from forager.errors import UsageError
from forager.playground.site import Site


class Recipe(NamedTuple):
    class_name: str
    """In the module of the site's name."""
    size: int
    """How many of its main thing (products, stories, …) it has at scale 1."""


DEMO_SITES = {
    "shop": Recipe("Shop", 48),
    "blog": Recipe("Blog", 20),
    "docs": Recipe("Docs", 36),
    "gallery": Recipe("Gallery", 30),
    "strict": Recipe("Strict", 16),
    "slow": Recipe("Slow", 16),
    "flaky": Recipe("Flaky", 24),
    "trap": Recipe("Trap", 24),
}
FIELDS = {"uniform": ("uniform_sites", 200, 50), "bench": ("bench_sites", 20, 1000)}
"""Many equal sites: function, sites, pages of each."""


def make_sites(orders: Iterable[str], seed: int = 1, scale: float = 1.0) -> list[Site]:
    return [site for order in orders for site in _make(order, seed, scale)]


def _make(order: str, seed: int, scale: float) -> list[Site]:
    name, _, size = order.partition("=")
    if name in FIELDS:
        return _make_field(name, size, seed, scale)
    if name not in DEMO_SITES:
        raise _unknown(name)
    recipe = DEMO_SITES[name]
    make: Callable[[int, int], Site] = getattr(import_module(f"forager.playground.sites.{name}"), recipe.class_name)
    return [make(seed, _read_size(order, size) if size else _scaled(recipe.size, scale))]


def _make_field(name: str, size: str, seed: int, scale: float) -> list[Site]:
    function, count, pages = FIELDS[name]
    pages = _scaled(pages, scale)
    if size:
        first, cross, second = size.partition("x")
        count, pages = _read_size(name, first), _read_size(name, second) if cross else pages
    make: Callable[[int, int, int], list[Site]] = getattr(import_module(f"forager.playground.sites.{name}"), function)
    return make(count, pages, seed)


def _scaled(size: int, scale: float) -> int:
    if not 0 < scale < 1e9:
        raise UsageError(f"The scale must be a number above 0, not {scale}.")
    return max(1, round(size * scale))


def _read_size(order: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise UsageError(f"{text!r} is no size for the site {order.partition('=')[0]!r}; write a number from 1.")
    return int(text)


def _unknown(name: str) -> UsageError:
    known = [*DEMO_SITES, *FIELDS]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}."
    return UsageError(f"The playground has no site {name!r}; {hint}")
