"""Extracts the products that a list page links to. Only those that name their own page.

A list has less data than the product's own page, and often another price: the product's own page overrides it.
"""

from collections.abc import Iterable, Iterator, Sequence

from forager.errors import BadUrlError
from forager.parsing.products.claims import Claim
from forager.parsing.products.item_fields import absolute, claims_of
from forager.parsing.products.select import is_product
from forager.parsing.products.view import View
from forager.parsing.structured.items import Item
from forager.urls.normalize import normalize

MOST_LISTED = 100
FEWEST = 2
"""A single product is the page's own, or does not count."""
FIELDS = frozenset(
    ("name", "price", "currency", "availability", "rating", "review_count", "brand", "sku", "gtin", "image_urls")
)
"""Fields that a list entry states reliably; texts and variants come from the product's own page."""
LESS_SURE = 0.8


def list_products(items: Sequence[Item], view: View) -> Iterator[tuple[str, list[Claim]]]:
    """Yields the URL of each product's page with its claims, in page order, each page once."""
    named: dict[str, Item] = {}
    for item, address in _products(items):
        if (url := _own_page(address, view)) is not None:
            named.setdefault(url, item)
        if len(named) >= MOST_LISTED:
            break
    if len(named) < FEWEST:
        return
    for url, item in named.items():
        claims = [
            claim._replace(confidence=claim.confidence * LESS_SURE)
            for claim in claims_of(item, view)
            if claim.field in FIELDS
        ]
        if {"name", "price"} <= {claim.field for claim in claims}:
            yield url, claims


def _products(items: Iterable[Item]) -> Iterator[tuple[Item, str | None]]:
    """Yields products side by side and those inside lists, with the URL that the list or the product names."""
    for item in items:
        if is_product(item):
            yield item, _address(item)
        elif item.is_a("itemlist", "offercatalog"):
            yield from _elements(item)
        elif item.is_a("collectionpage", "searchresultspage", "webpage"):
            for inner in item.items("mainentity", "haspart"):
                if inner.is_a("itemlist", "offercatalog"):
                    yield from _elements(inner)


def _elements(listing: Item) -> Iterator[tuple[Item, str | None]]:
    for element in listing.items("itemlistelement"):
        if is_product(element):
            yield element, _address(element)
        for inner in element.items("item", "itemoffered"):
            if is_product(inner):
                yield inner, _address(inner) or element.text("url")


def _address(item: Item) -> str | None:
    own = item.text("url") or next((text for offer in item.items("offers") if (text := offer.text("url"))), None)
    return own or (item.id if item.id and "://" in item.id else None)


def _own_page(address: str | None, view: View) -> str | None:
    """Returns the normalised URL; None if it is this page itself, or a part of it."""
    url = absolute(view.base_url, address)
    if url is None or view.is_page_url(url):
        return None
    try:
        return normalize(url)
    except BadUrlError:
        return None
