"""A page → the product it sells, or None. Sources from the surest to the least sure, then one decision per field.

clues ── JSON-LD, microdata, RDFa ── which item is the page's ── the shop's own JSON ── meta tags ── what can be seen
  ──> claims ──> product
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from forager.extract.needle import holds
from forager.extract.products.check import problems_of
from forager.extract.products.choose import Titles, choose, is_list, is_writing
from forager.extract.products.claims import Claim, Settled, settle
from forager.extract.products.embedded import read_embedded
from forager.extract.products.facts import category_of_crumbs, claims_of, cut
from forager.extract.products.goods import find_good
from forager.extract.products.lists import list_products
from forager.extract.products.metatags import (
    LISTING_TYPES,
    OTHER_TYPES,
    PRODUCT_TYPES,
    claims_for_any_page,
    claims_of_metas,
    has_price_tag,
    type_of,
    without_site,
)
from forager.extract.products.view import View
from forager.extract.products.visible import MANY_CARTS, claims_of_sight, find_carts, find_heading, sight_of
from forager.extract.structured.items import Item
from forager.extract.tree import Tree
from forager.records.product import FACTS, Listed, Product

NAME, VERSION = "generic", 2
LISTINGS = ("itemlist", "collectionpage", "searchresultspage")
OWN_JSON = "data"
"""The source of items that are no markup."""
LATER_ITEM = 0.97
"""A second item about the same product is believed a little less than the first."""
WEIGHTS = {"name": 0.45, "price": 0.35, "currency": 0.1, "availability": 0.1}


@dataclass(frozen=True, slots=True)
class Clues:
    """What is worth looking for."""

    scripts: tuple[str, ...]
    """JSON-LD."""
    has_metas: bool
    has_words: bool
    """Somewhere it says `product`: microdata, RDFa, or the names a shop gives its elements."""

    def __bool__(self) -> bool:
        return bool(self.scripts) or self.has_metas or self.has_words


def look_for_clues(view: View) -> Clues:
    scripts = tuple(text for text, _ in view.structured.scripts)
    has_metas = has_price_tag(view) or type_of(view) in PRODUCT_TYPES
    return Clues(scripts, has_metas, has_words=bool(scripts) or has_metas or holds(view.body, b"roduct"))


def _scripts(tree: Tree) -> list[int]:
    """Those of the page itself that are no JSON-LD: code, and data for it."""
    scripts = tree.tags("script")
    columns = zip(scripts, tree.column(scripts, "type"), tree.column(scripts, "src"), strict=True)
    return [number for number, kind, address in columns if address is None and "ld+json" not in (kind or "").lower()]


def find_product(view: View) -> Product | None:
    """By what pages of any shop have in common."""
    clues = look_for_clues(view)
    if not clues:
        return None
    claims = collect(view)
    return assemble(claims, NAME, VERSION) if claims else None


def find_listed(view: View) -> tuple[Listed, ...]:
    """The products of a page that has none of its own, after a parser looked at it."""
    return tuple(Listed(url, assemble(claims, NAME, VERSION)) for url, claims in list_products(view.items, view))


def collect(view: View) -> list[Claim]:
    """All that speaks of this page's product; empty when it has none."""
    items = view.items = view.structured.items
    titles = Titles(find_heading(view.tree), view.head.title, view.head.meta("og:title"))
    chosen = choose(items, view, titles)
    sight, kind = sight_of(view), type_of(view)
    if sight.is_listing or kind in LISTING_TYPES:
        return []
    if not any(_says_price(item) for item in chosen) and not any(item.is_a(*LISTINGS) for item in items):
        chosen += _own_json(view, titles)
    is_tagged = kind in PRODUCT_TYPES or has_price_tag(view)
    carts = None
    if not chosen or is_writing(items) or kind in OTHER_TYPES:
        carts = find_carts(view.tree)
        is_marked = is_tagged or sight.is_product
        if chosen and not is_marked:
            return []
        if not chosen and not _is_sold_here(
            view, items, kind=kind, carts=len(carts), is_tagged=is_tagged, is_product=sight.is_product
        ):
            return []
    elif is_list(items, chosen[0]):
        return []
    claims = [claim for at, item in enumerate(chosen) for claim in _weaker(claims_of(item, view), at)]
    claims += claims_of_metas(view)
    claims += claims_for_any_page(view)
    claims += category_of_crumbs(items, next((claim.value for claim in claims if claim.field == "name"), None))
    said = {claim.field for claim in claims}
    is_bare = "availability" not in said and not chosen
    if not {"price", "currency"} <= said or is_bare or (chosen and chosen[0].source == OWN_JSON):
        carts = find_carts(view.tree) if carts is None else carts
        claims += claims_of_sight(view, carts)
    if titles.heading:
        claims.append(Claim("name", cut("name", titles.heading), 0.75 if not chosen else 0.5, "css h1"))
    elif view.head.title and "name" not in said:
        claims.append(
            Claim("name", cut("name", without_site(view.head.title, view.head.meta("og:site_name"))), 0.4, "css title")
        )
    if not chosen and not any(claim.field == "price" for claim in claims):
        return []
    return claims


def _says_price(item: Item) -> bool:
    return "price" in item.properties or any(
        "price" in offer.properties or "lowprice" in offer.properties or "pricespecification" in offer.properties
        for offer in item.items("offers", "offer")
    )


def _own_json(view: View, titles: Titles) -> list[Item]:
    """The product as the shop tells it to its own scripts; a guess, so what a person sees has a say too."""
    code = _scripts(view.tree)
    good = find_good(read_embedded(view.tree, code), view, titles) if code else None
    return [good] if good is not None else []


def _is_sold_here(view: View, items: list[Item], *, kind: str, carts: int, is_tagged: bool, is_product: bool) -> bool:
    """Without an item that says so: tags in the head, or a cart for one thing under one heading."""
    if is_writing(items) or kind in OTHER_TYPES:
        return False
    if is_tagged:
        return has_price_tag(view) or carts > 0 or is_product
    if any(item.is_a(*LISTINGS) for item in items):
        return False
    has_heading = find_heading(view.tree) is not None
    return has_heading and (0 < carts <= MANY_CARTS or (is_product and carts > 0))


def _weaker(claims: Iterable[Claim], at: int) -> Iterable[Claim]:
    return claims if at == 0 else (claim._replace(confidence=claim.confidence * LATER_ITEM) for claim in claims)


def assemble(claims: Iterable[Claim], parser_name: str, parser_version: int) -> Product:
    """One value per field, what is wrong with them, and how sure we are of the whole."""
    claims = list(claims)
    unreadable = {claim.field for claim in claims if claim.field.startswith("!")}
    settled = settle(claim for claim in claims if not claim.field.startswith("!"))
    facts: dict[str, Any] = {name: settled[name].value for name in FACTS if name in settled}
    return Product(
        **{"name": None} | facts,
        content_hash=hash_facts(facts),
        confidence=_overall(settled),
        evidence={name: settled[name].evidence for name in FACTS if name in settled},
        problems=problems_of(facts, unreadable),
        parser_name=parser_name,
        parser_version=parser_version,
    )


def _overall(settled: dict[str, Settled]) -> float:
    return round(sum(weight * settled[name].confidence for name, weight in WEIGHTS.items() if name in settled), 2)


def hash_facts(facts: dict[str, Any]) -> bytes:
    """The same facts, however sure and wherever found, have the same hash."""
    told = "\x1e".join(f"{name}\x1f{_plain(facts[name])}" for name in FACTS if name in facts)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).digest()[:16]


def _plain(value: Any) -> str:
    """`12.50` and `12.5` are one price."""
    return str(value.normalize()) if hasattr(value, "normalize") else str(value)
