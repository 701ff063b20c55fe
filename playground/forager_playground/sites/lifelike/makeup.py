"""How much of what a page has: size, links, images, scripts. Numbers from a survey of 1,449 saved real pages.

Larger pages have more of everything, but not in proportion: markup grows with the power 0.75 of the size, and scripts
and styles fill the rest. On average a quarter of the bytes are scripts, a fifth styles, two fifths attributes, and one
byte in twenty is text a reader sees.
"""

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from math import exp, log

from forager_playground.seeded import Draws

KB = 1024
SIZES_KB = (
    (0.0, 14.0),
    (0.1, 35.0),
    (0.25, 63.0),
    (0.5, 121.0),
    (0.75, 262.0),
    (0.9, 470.0),
    (0.99, 1000.0),
    (1.0, 1200.0),
)
"""(share of the pages, size): median 121, mean about 200."""
MEDIAN_KB = 121.0
GOLDEN = 0.6180339887498949
MARKUP_POWER = 0.75
SMALL_POWER = 0.95
"""Below the median: small pages are small in everything."""


class PageKind(StrEnum):
    HOME = "home"
    LIST = "list"
    ARTICLE = "article"
    PRODUCT = "product"
    RECIPE = "recipe"
    PLAIN = "plain"
    """About, contact, terms: no structured data of its own."""


SHARES = (
    (PageKind.ARTICLE, 0.38),
    (PageKind.LIST, 0.20),
    (PageKind.PLAIN, 0.20),
    (PageKind.RECIPE, 0.15),
    (PageKind.PRODUCT, 0.07),
)
STRUCTURED = {
    PageKind.HOME: 0.6,
    PageKind.LIST: 0.45,
    PageKind.ARTICLE: 0.55,
    PageKind.PLAIN: 0.2,
    PageKind.RECIPE: 0.93,
    PageKind.PRODUCT: 0.75,
}
"""The share of pages with JSON-LD; 54 % of all."""


@dataclass(frozen=True, slots=True)
class PageProfile:
    kind: PageKind
    size_bytes: int
    links: int
    images: int
    icons: int
    paragraphs: int
    scripts: int
    """With their code inside, JSON-LD apart; there are nearly as many with `src`."""
    styles: int
    fields: int
    comments: int
    metas: int
    has_json_ld: bool


def plan_page(draws: Draws, position: float) -> PageProfile:
    """`position` says where the page stands among all pages by size, from 0 to 1."""
    kind = pick_kind(draws)
    size_kb = size_at(position)
    ratio = size_kb / MEDIAN_KB
    growth: float = ratio ** (MARKUP_POWER if ratio > 1 else SMALL_POWER)

    def about(middle: float, spread: float = 0.45) -> int:
        return round(middle * growth * _lognormal(draws, spread))

    return PageProfile(
        kind=kind,
        size_bytes=round(size_kb * KB),
        links=min(max(30, about(122)), 600),
        images=about(38 if kind is not PageKind.PLAIN else 12, 0.6),
        icons=about(30, 0.6) if draws.chance(0.5) else 0,
        paragraphs=max(2, about(22, 0.5)),
        scripts=max(2, about(14)),
        styles=about(4.5, 0.6),
        fields=about(13, 0.7),
        comments=about(24, 0.7),
        metas=max(4, round(30 * _lognormal(draws, 0.4))),
        has_json_ld=draws.chance(STRUCTURED[kind]),
    )


def place(page: int, offset: float) -> float:
    """Positions that are spread evenly however many pages there are, so that small sites are fair samples too."""
    return (page * GOLDEN + offset) % 1.0


def size_at(position: float) -> float:
    """The size in KB at that share of the pages."""
    right = min(bisect_right(SIZES_KB, position, key=lambda point: point[0]), len(SIZES_KB) - 1)
    (left_share, left), (right_share, upper) = SIZES_KB[right - 1], SIZES_KB[right]
    along = (position - left_share) / (right_share - left_share)
    return exp(log(left) + along * (log(upper) - log(left)))


def pick_kind(draws: Draws) -> PageKind:
    left = draws.share()
    for kind, share in SHARES:
        left -= share
        if left < 0:
            return kind
    return PageKind.ARTICLE


def _lognormal(draws: Draws, spread: float) -> float:
    """Around 1. Three uniform draws stand for a normal one: cheap, and the same on every machine."""
    normal = draws.share() + draws.share() + draws.share() - 1.5
    return exp(spread * 2 * normal)
