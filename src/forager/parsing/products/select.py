"""Selects the item that a page is about: one product, or none. A list of products is none.

A wrong product costs more than a missing one: its prices would be tracked for months.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from forager.parsing.products.detect import PRODUCTS, SOLD_TOO, WRITING
from forager.parsing.products.view import View
from forager.parsing.structured.items import Item

PAGES = ("webpage", "itempage", "productpage", "aboutpage", "website", "productdetailpage")
REMARKS = frozenset(
    {"review", "criticreview", "userreview", "question", "qapage", "discussionforumposting", "socialmediaposting"}
)
"""Item types that customers write below a product."""
LISTS = frozenset({"collectionpage", "searchresultspage", "offercatalog"})
OWN_NUMBERS = ("sku", "gtin", "gtin13", "gtin12", "gtin8", "gtin14", "mpn", "productid", "isbn")
OF_ONE_FORM = frozenset({*OWN_NUMBERS, "offers", "size", "color"})
SHORTEST_NUMBER = 5
MANY = 2
MOST_CANDIDATES = 60
"""Every candidate is compared with every other."""


class PageTitles(NamedTuple):
    """The names the page gives itself."""

    heading: str | None
    title: str | None
    og_title: str | None

    @property
    def all(self) -> tuple[str, ...]:
        return tuple(each for each in self if each)


def select_product(items: Sequence[Item], view: View, titles: PageTitles) -> list[Item]:
    """Returns the product and other items about the same one; empty when the page is about something else."""
    found = candidates(items)[:MOST_CANDIDATES]
    if not found:
        return []
    if len(found) > 1:
        return _select_best(found, view, titles)
    return found if _is_main_item(found[0], view, titles, is_alone=True) else []


def _select_best(found: list[Item], view: View, titles: PageTitles) -> list[Item]:
    ranked = sorted(found, key=lambda item: -_score(item, view, titles))
    best = ranked[0]
    if not _is_main_item(best, view, titles, is_alone=len(_different(found)) == 1):
        return []
    return [best, *(item for item in ranked[1:] if _is_same(item, best))]


def as_variants(chosen: list[Item]) -> list[Item]:
    """Merges several items of one name, each with its own number: they are variants of one product."""
    if len(chosen) < 2:
        return chosen
    first = chosen[0]
    forms = [item for item in chosen if item.source == first.source and item.text("sku", "gtin13", "gtin", "mpn")]
    if len({item.text("sku", "gtin13", "gtin", "mpn") for item in forms}) < 2 or "hasvariant" in first.properties:
        return chosen
    shared = {name: values for name, values in first.properties.items() if name not in OF_ONE_FORM}
    offers = [offer for form in forms for offer in form.properties.get("offers", ())]
    whole = Item(
        first.source, first.path, first.types, {**shared, "offers": offers, "hasvariant": list(forms)}, first.id
    )
    return [whole, *(item for item in chosen if item not in forms)]


def candidates(items: Iterable[Item]) -> list[Item]:
    """Returns top-level items that are products."""
    found: list[Item] = []
    for item in items:
        if is_product(item):
            found.append(item)
        elif item.is_a(*PAGES):
            found += [each for each in item.items("mainentity", "about", "mainentityofpage") if is_product(each)]
        elif item.is_a("offer", "aggregateoffer") and not item.role:
            found += [_offered(each, item) for each in item.items("itemoffered", "includes") if is_product(each)]
    return found


def is_product(item: Item) -> bool:
    return item.is_a(*PRODUCTS) or (item.is_a(*SOLD_TOO) and "offers" in item.properties)


def _offered(product: Item, offer: Item) -> Item:
    product.properties.setdefault("offers", []).append(offer)
    return product


def is_writing(items: Iterable[Item]) -> bool:
    """Whether the items include something to read: its subject is not what the page sells."""
    return any(item.is_a(*WRITING) for item in items)


def is_article(items: Iterable[Item]) -> bool:
    """Whether the items include an article by its author; reader contributions do not count."""
    return any(item.is_a(*WRITING) and not item.is_a(*REMARKS) for item in items)


def is_list(items: Iterable[Item], chosen: Item) -> bool:
    """Whether a product item is actually a list: no number of its own, offers only as an aggregate."""
    if any(name in chosen.properties for name in OWN_NUMBERS):
        return False
    is_summed_up = any(offer.is_a("aggregateoffer") for offer in chosen.items("offers"))
    return is_summed_up and any(item.is_a(*LISTS) or _lists_many(item) for item in items)


def _lists_many(item: Item) -> bool:
    return item.is_a("itemlist") and len(item.properties.get("itemlistelement", ())) > MANY


def _score(item: Item, view: View, titles: PageTitles) -> float:
    name = item.text("name") or ""
    score = 4.0 * _links_to_page(item, view)
    score += 3.0 * (titles.heading is not None and is_similar(name, titles.heading))
    score += 2.0 * any(is_similar(name, title) for title in titles.all[1:])
    score += 1.0 * ("offers" in item.properties or "price" in item.properties) + 0.5 * (
        "description" in item.properties
    )
    return (
        score + 0.75 * item.is_a("productgroup") + {"jsonld": 0.3, "microdata": 0.2, "rdfa": 0.1}.get(item.source, 0.0)
    )


def _is_main_item(item: Item, view: View, titles: PageTitles, *, is_alone: bool) -> bool:
    name = item.text("name")
    if name is None:
        return is_alone and "offers" in item.properties
    is_named = any(is_similar(name, title) for title in titles.all)
    if is_alone:
        if is_named or _links_to_page(item, view) or not titles.heading or not _links_to_other(item, view):
            return True
        return "offers" in item.properties and _has_matching_id(item, view, titles)
    return is_named or _links_to_page(item, view)


def _links_to_page(item: Item, view: View) -> bool:
    addresses = [item.id, item.text("url"), *(offer.text("url") for offer in list(item.items("offers"))[:20])]
    is_start = not view.url.partition("://")[2].partition("/")[2].strip("/")
    return not is_start and any(view.is_page_url(address) for address in addresses if address)


def _links_to_other(item: Item, view: View) -> bool:
    address = item.text("url") or next((offer.text("url") for offer in item.items("offers")), None)
    return bool(address) and not view.is_page_url(address)


def _has_matching_id(item: Item, view: View, titles: PageTitles) -> bool:
    """Whether its own number is in the page's URL or title, whatever the language of the rest."""
    places = (view.url, *titles.all)
    return any(
        len(text) >= SHORTEST_NUMBER and text in place for text, _ in item.texts(*OWN_NUMBERS) for place in places
    )


def _different(items: Sequence[Item]) -> list[Item]:
    distinct: list[Item] = []
    for item in items:
        if not any(_is_same(item, each) for each in distinct):
            distinct.append(item)
    return distinct


def _is_same(one: Item, other: Item) -> bool:
    if one.id and one.id == other.id:
        return True
    first, second = one.text("name"), other.text("name")
    if first and second:
        return fold_text(first) == fold_text(second)
    return one.source != other.source or not (first or second)


def is_similar(name: str, title: str) -> bool:
    """Whether all or most of the words are the same."""
    first, second = fold_text(name), fold_text(title)
    if not first or not second:
        return False
    if first in second or (second in first and len(second) * 3 >= len(first)):
        return True
    words, others = set(name.casefold().split()), set(title.casefold().split())
    return len(words & others) * 5 >= len(words) * 3


@lru_cache(4096)
def fold_text(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
