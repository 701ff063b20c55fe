"""Finds the product a page sells, or None. Sources from the most to the least reliable, then one decision per field.

clues ── JSON-LD, microdata, RDFa ── which item is the page's ── the shop's own JSON ── meta tags ── visible text
  ──> claims ──> product
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from forager.parsing.products.check import list_problems
from forager.parsing.products.claims import Claim, FieldValue, resolve_claims
from forager.parsing.products.detect import (
    LISTING_TYPES,
    LISTINGS,
    OTHER_TYPES,
    PRODUCT_TYPES,
    PageKind,
    detect_page_type,
    has_price_tag,
    type_of,
)
from forager.parsing.products.embedded import read_embedded
from forager.parsing.products.item_fields import category_of_breadcrumbs, claims_of, clean_field
from forager.parsing.products.json_items import find_json_product
from forager.parsing.products.labels import claims_of_address, claims_of_labels, claims_of_names
from forager.parsing.products.lists import list_products
from forager.parsing.products.meta_tags import claims_for_any_page, claims_of_metas, without_site
from forager.parsing.products.select import PageTitles, as_variants, is_article, is_list, is_writing, select_product
from forager.parsing.products.stock import Availability
from forager.parsing.products.view import View
from forager.parsing.products.visible import MANY_CARTS, find_cart_buttons, find_heading, find_visible_claims
from forager.parsing.structured.items import Item
from forager.parsing.tree_types import Tree
from forager.products.models import FACTS, Listed, Product

NAME, VERSION = "generic", 3
OWN_JSON = "data"
"""The source name of items that are not from markup."""
LATER_ITEM = 0.97
"""A second item about the same product has slightly less confidence than the first."""
WEIGHTS = {"name": 0.45, "price": 0.35, "currency": 0.1, "availability": 0.1}


def _scripts(tree: Tree) -> list[int]:
    """Returns inline scripts other than JSON-LD: code, and data for it."""
    scripts = tree.tags("script")
    columns = zip(scripts, tree.column(scripts, "type"), tree.column(scripts, "src"), strict=True)
    return [number for number, kind, address in columns if address is None and "ld+json" not in (kind or "").lower()]


def find_product(view: View) -> Product | None:
    """Finds the product by what pages of all shops have in common."""
    claims = collect(view)
    return assemble(claims, NAME, VERSION) if claims else None


def find_listed(view: View) -> tuple[Listed, ...]:
    """Returns the listed products of a page that has no product of its own, after a parser has checked it."""
    return tuple(Listed(url, assemble(claims, NAME, VERSION)) for url, claims in list_products(view.items, view))


def collect(view: View) -> list[Claim]:
    """Returns all claims about this page's product; empty when it has none."""
    items, og_title = view.items, view.head.meta("og:title")
    sight, kind = detect_page_type(view.tree), type_of(view.head)
    if sight.is_listing or kind in LISTING_TYPES:
        return []
    heading = find_heading(view.tree, view.head.title, og_title)
    view.heading = heading.number if heading else -1
    titles = PageTitles(heading.text if heading else None, view.head.title, og_title)
    chosen = as_variants(select_product(items, view, titles))
    if not any(map(_says_price, chosen)) and not any(item.is_a(*LISTINGS) for item in items):
        chosen += _own_json(view, titles)
    carts = find_cart_buttons(view, also_links=not chosen)
    if not _is_product_page(view, chosen, len(carts), sight, has_heading=heading is not None):
        return []
    claims = [claim for at, item in enumerate(chosen) for claim in _weaker(claims_of(item, view), at)]
    claims += claims_of_metas(view)
    claims += claims_for_any_page(view)
    claims += category_of_breadcrumbs(items, next((claim.value for claim in claims if claim.field == "name"), None))
    marked = next((claim.value for claim in claims if claim.field == "price"), None)
    claims += find_visible_claims(view, carts, heading, marked)
    claims += claims_of_labels(view)
    said = {claim.field for claim in claims}
    if "price" not in said and not chosen:
        return []
    if "sku" not in said:
        claims += list(claims_of_names(view)) or claims_of_address(view)
    if "price" in said and "availability" not in said:
        claims.append(Claim("availability", str(Availability.IN_STOCK), 0.3, "a price, and no word of being sold out"))
    if heading:
        claims.append(Claim("name", clean_field("name", heading.text), 0.75 if not chosen else 0.5, "css h1"))
    elif view.head.title and "name" not in said:
        title = without_site(view.head.title, view.head.meta("og:site_name"))
        claims.append(Claim("name", clean_field("name", title), 0.4, "css title"))
    return claims


def _is_product_page(view: View, chosen: Sequence[Item], carts: int, sight: PageKind, *, has_heading: bool) -> bool:
    """Whether the page sells its subject. Reader contributions below a product do not make it an article; an article
    with a product in its markup is a product page only if meta tags or the page body mark it as one."""
    items, kind = view.items, type_of(view.head)
    is_tagged = kind in PRODUCT_TYPES or has_price_tag(view.head)
    if chosen:
        is_priced = any(map(_says_price, chosen))
        if is_article(items) if is_priced else is_writing(items) or kind in OTHER_TYPES:
            return is_tagged or sight.is_product
        return not is_list(items, chosen[0])
    if is_writing(items) or kind in OTHER_TYPES:
        return False
    if is_tagged:
        return has_price_tag(view.head) or carts > 0 or sight.is_product
    if any(item.is_a(*LISTINGS) for item in items):
        return False
    return has_heading and (0 < carts <= MANY_CARTS or (sight.is_product and carts > 0))


def _says_price(item: Item) -> bool:
    return "price" in item.properties or any(
        "price" in offer.properties or "lowprice" in offer.properties or "pricespecification" in offer.properties
        for offer in item.items("offers", "offer")
    )


def _own_json(view: View, titles: PageTitles) -> list[Item]:
    """Returns the product from the data for the shop's own scripts; it is a guess, so visible text counts too."""
    code = _scripts(view.tree)
    good = find_json_product(read_embedded(view.tree, code), view, titles) if code else None
    return [good] if good is not None else []


def _weaker(claims: Iterable[Claim], at: int) -> Iterable[Claim]:
    return claims if at == 0 else (claim._replace(confidence=claim.confidence * LATER_ITEM) for claim in claims)


def assemble(claims: Iterable[Claim], parser_name: str, parser_version: int) -> Product:
    """Returns the product: one value per field, its problems, and the overall confidence."""
    claims = list(claims)
    unreadable = {claim.field for claim in claims if claim.field.startswith("!")}
    settled = resolve_claims(claim for claim in claims if claim.value != "" and not claim.field.startswith("!"))
    facts: dict[str, Any] = {name: settled[name].value for name in FACTS if name in settled}
    return Product(
        **{"name": None} | facts,
        content_hash=hash_product(facts),
        confidence=_weighted_confidence(settled),
        evidence={name: settled[name].evidence for name in FACTS if name in settled},
        problems=list_problems(facts, unreadable),
        parser_name=parser_name,
        parser_version=parser_version,
    )


def _weighted_confidence(settled: dict[str, FieldValue]) -> float:
    return round(sum(weight * settled[name].confidence for name, weight in WEIGHTS.items() if name in settled), 2)


def hash_product(facts: dict[str, Any]) -> bytes:
    """Hashes the facts; confidence and source do not affect the hash."""
    told = "\x1e".join(f"{name}\x1f{_plain(facts[name])}" for name in FACTS if name in facts)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).digest()[:16]


def _plain(value: Any) -> str:
    """Returns a canonical text: `12.50` and `12.5` are one price; the order of attributes does not matter."""
    if isinstance(value, dict):
        return str(sorted(value.items()))
    return str(value.normalize()) if hasattr(value, "normalize") else str(value)
