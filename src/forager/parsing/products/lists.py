"""Lists: what a page that sells nothing itself says of the products it links to. Only what names a page of its own.

A list tells less than the product's own page, and often another price: what comes from here gives way to that page.
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
"""One product alone is a product of the page, or of nobody."""
FIELDS = frozenset(
    ("name", "price", "currency", "availability", "rating", "review_count", "brand", "sku", "gtin", "image_urls")
)
"""What a card of a list says well; texts and variants are for the product's own page."""
LESS_SURE = 0.8


def list_products(items: Sequence[Item], view: View) -> Iterator[tuple[str, list[Claim]]]:
    """The address of each product's page with what is claimed of it, in the page's order, each page once."""
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
    """Products side by side, and those inside of lists: with the address that the list or they themselves name."""
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
    """As pages are known by; None where it is this page itself, or a part of it."""
    url = absolute(view.base_url, address)
    if url is None or view.is_page_url(url):
        return None
    try:
        return normalize(url)
    except BadUrlError:
        return None
