"""The sites of the playground and how to order them: `shop`, `shop=5000`, `uniform=200x50` (sites x pages)."""

import difflib
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple, cast

from forager.errors import UsageError
from forager_playground.site import Site


class Recipe(NamedTuple):
    maker: str
    """Its class, or a function that takes seed and size."""
    size: int
    """How many of its main thing (products, stories, …) it has at scale 1."""
    module: str = ""
    """Where the maker is; empty: in the module of the site's name."""


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
LIFE_SITES = {
    "news": Recipe("News", 20),
    "wall": Recipe("make_wall", 24, "wall"),
    "gate": Recipe("make_gate", 24, "wall"),
    "club": Recipe("Club", 12),
    "closed": Recipe("make_closed", 12, "refusing"),
    "limited": Recipe("make_limited", 12, "refusing"),
    "soon": Recipe("make_soon", 12, "refusing"),
    "later": Recipe("make_later", 12, "refusing"),
    "broken": Recipe("make_broken", 12, "refusing"),
    "hidden": Recipe("Hidden", 12),
}
"""What domains go through in their lives: change, walls, refusals. Not in the demo."""
HOSTILE_SITES = {"maze": Recipe("Maze", 200)}
"""Made to do a crawler harm."""
SCRIPT_SITES = {"app": Recipe("App", 24)}
"""Written by scripts: whoever runs none finds nothing there."""
FIELDS = {
    "uniform": ("uniform_sites", 200, 50),
    "bench": ("bench_sites", 20, 1000),
    "lifelike": ("lifelike_sites", 20, 200),
}
"""Many equal sites: function, sites, pages of each."""


def make_sites(orders: Iterable[str], seed: int = 1, scale: float = 1.0, day: int = 0) -> list[Site]:
    """`day` is for sites that have one: prices change by it."""
    return [_on_day(site, day) for order in orders for site in _make(order, seed, scale)]


def _on_day(site: Site, day: int) -> Site:
    return cast("Site", replace(cast("Any", site), day=day)) if day and hasattr(site, "day") else site


def _make(order: str, seed: int, scale: float) -> list[Site]:
    name, _, size = order.partition("=")
    if name in FIELDS:
        return _make_field(name, size, seed, scale)
    recipe = (DEMO_SITES | LIFE_SITES | HOSTILE_SITES | SCRIPT_SITES).get(name)
    if recipe is None:
        raise _unknown(name)
    module = import_module(f"forager_playground.sites.{recipe.module or name}")
    make: Callable[[int, int], Site] = getattr(module, recipe.maker)
    return [make(seed, _read_size(order, size) if size else _scale_value(recipe.size, scale))]


def _make_field(name: str, size: str, seed: int, scale: float) -> list[Site]:
    function, count, pages = FIELDS[name]
    pages = _scale_value(pages, scale)
    if size:
        first, cross, second = size.partition("x")
        count, pages = _read_size(name, first), _read_size(name, second) if cross else pages
    make: Callable[[int, int, int], list[Site]] = getattr(import_module(f"forager_playground.sites.{name}"), function)
    return make(count, pages, seed)


def _scale_value(size: int, scale: float) -> int:
    if not 0 < scale < 1e9:
        raise UsageError(f"The scale must be a number above 0, not {scale}.")
    return max(1, round(size * scale))


def _read_size(order: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise UsageError(f"{text!r} is no size for the site {order.partition('=')[0]!r}; write a number from 1.")
    return int(text)


def _unknown(name: str) -> UsageError:
    known = [*DEMO_SITES, *LIFE_SITES, *HOSTILE_SITES, *SCRIPT_SITES, *FIELDS]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}."
    return UsageError(f"The playground has no site {name!r}; {hint}")
