"""The pages: each thing in three shapes, in turn, so that each shape meets several languages."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.quality.products.goods import THINGS, Thing, with_check_digit
from tests.quality.products.shapes import SHAPES

SHAPES_PER_THING = 4
AMAZONS = {
    "en-US": "www.amazon.com",
    "de-DE": "www.amazon.de",
    "ja-JP": "www.amazon.co.jp",
    "en-IN": "www.amazon.in",
    "fr-FR": "www.amazon.fr",
}


class Page(NamedTuple):
    label: str
    url: str
    html: bytes
    expected: dict[str, Any]
    """Field → value; None where the page does not say."""


def pages() -> Iterator[Page]:
    names = [name for name in SHAPES if name not in {"amazon", "rakuten"}]
    for number, thing in enumerate(THINGS):
        for turn in range(SHAPES_PER_THING):
            yield make(thing, names[(number + turn * 6) % len(names)])
        if thing.language in AMAZONS:
            yield make(thing, "amazon", AMAZONS[thing.language])
        if thing.language == "ja-JP":
            yield make(thing, "rakuten")


def make(thing: Thing, shape_name: str, host: str | None = None) -> Page:
    shape = SHAPES[shape_name]
    path = shape.path.format(sku=thing.sku)
    html = shape.write(thing).encode(shape.charset, "xmlcharrefreplace")
    return Page(
        f"{shape_name} {thing.language}",
        f"https://{host or thing.host}{path}",
        html,
        _expect(thing, shape_name, shape.tells),
    )


def _expect(thing: Thing, shape_name: str, tells: frozenset[str]) -> dict[str, Any]:
    truth = {
        "name": thing.name,
        "price": thing.amount,
        "currency": thing.currency,
        "availability": thing.availability,
        "rating": thing.stars,
        "review_count": thing.reviews,
        "brand": thing.brand,
        "category": " > ".join(thing.crumbs[1:]),
        "sku": "B0ABCDEFGH" if shape_name == "amazon" else thing.sku,
        "gtin": with_check_digit(thing.gtin),
    }
    return {field: value if field in tells else None for field, value in truth.items()}
