"""What a person sees: the button of the cart, the price beside it, the heading above. For pages without markup."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from forager.extract.products.claims import Claim
from forager.extract.products.facts import cut, trim_crumbs
from forager.extract.products.money import Money, read_amount, read_money
from forager.extract.products.stock import read_availability
from forager.extract.products.view import View
from forager.extract.products.words import (
    CART,
    CART_ATTRIBUTES,
    CART_NAMES,
    is_no_price,
    is_struck,
    is_surrounding,
    names_of,
)
from forager.extract.tree import Tree

PRICE_NAMES = ("price", "preis", "prix", "precio", "prezzo", "cena", "fiyat", "amount")
STOCK_NAMES = ("stock", "avail", "lager", "dispo")
CRUMB_NAMES = ("breadcrumb", "crumbs")
BUTTON_NAMES = ("btn", "button")
PRODUCT_BODY = re.compile(
    r"(?:^|\s)(?:single-product|template-product\S*|product-template\S*|catalog-product-view|page-product|product-page|"
    r"product-detail\S*|page-type-product|productpage|product-product(?:-\d+)?|is-product|pdp|page-pdp|product-view)(?:\s|$)",
    re.IGNORECASE,
)
LISTING_BODY = re.compile(
    r"(?:^|\s)(?:catalog-category-view|tax-product_cat|tax-product_tag|post-type-archive-product|template-collection\S*|"
    r"product-category\S*|catalogsearch-result-index|template-search|page-category|category-page|search-results|woocommerce-shop|"
    r"template-cart|woocommerce-cart|woocommerce-checkout|template-article|template-blog|template-list-collections|catalog-list|plp)(?:\s|$)",
    re.IGNORECASE,
)
LISTING_IDS = frozenset(
    {
        "category",
        "search",
        "cart",
        "manufacturer",
        "new-products",
        "best-sales",
        "prices-drop",
        "module-blockwishlist-view",
    }
)
PRODUCT_IDS = frozenset({"product", "product-page", "page-product", "product-detail", "product-details"})
MOST_CARTS, MOST_BUTTONS, MOST_PRICES = 40, 250, 40
MANY_CARTS = 3
"""More buttons than that, each for another thing, and the page is a list."""
HIGHEST_CLIMB, LEVELS_AROUND = 8, 14
LONGEST_PRICE, LONGEST_STOCK = 120, 160
LONGEST_BLOCK = 3000


class Sight(NamedTuple):
    """A page as its body tells: of a product, of many, or neither."""

    is_product: bool
    is_listing: bool


def sight_of(view: View) -> Sight:
    if view.trunk is None:
        return Sight(is_product=False, is_listing=False)
    classes, identity = view.tree.get(view.trunk, "class") or "", (view.tree.get(view.trunk, "id") or "").lower()
    is_product = bool(PRODUCT_BODY.search(classes)) or identity in PRODUCT_IDS
    is_listing = bool(LISTING_BODY.search(classes)) or identity in LISTING_IDS
    return Sight(is_product, is_listing and not is_product)


def find_heading(tree: Tree) -> str | None:
    return next((text[:512] for number in tree.tags("h1")[:5] if (text := tree.text(number))), None)


def find_carts(tree: Tree) -> list[int]:
    """Buttons that fill the cart with this page's thing; those of things beside it are left out."""
    named = tree.find(CART_ATTRIBUTES, CART_NAMES)[:MOST_CARTS]
    found = [number for number in named if not is_beside(tree, number)]
    if not found:
        labelled = _buttons(tree)[:MOST_BUTTONS]
        found = [number for number in labelled if CART.search(_label(tree, number)) and not is_beside(tree, number)]
    outer: list[int] = []
    for number in found:
        if not outer or number >= tree.end(outer[-1]):
            outer.append(number)
    return outer


def _buttons(tree: Tree) -> list[int]:
    inputs = tree.tags("input")
    pressed = {
        number for number, kind in zip(inputs, tree.column(inputs, "type"), strict=True) if kind in {"submit", "button"}
    }
    looks = {
        number for number in (*tree.find(("class",), BUTTON_NAMES), *tree.having("role")) if tree.tag(number) == "a"
    }
    return sorted({*tree.tags("button"), *pressed, *looks})


def _label(tree: Tree, number: int) -> str:
    get = tree.get
    return tree.text(number)[:80] or get(number, "value") or get(number, "aria-label") or get(number, "title") or ""


def is_beside(tree: Tree, number: int) -> bool:
    """In a list of other things, or in what surrounds every page."""
    place = number
    for _ in range(LEVELS_AROUND):
        if place < 0 or (tag := tree.tag(place)) in {"body", "main"}:
            return False
        if tag in {"footer", "header", "nav", "aside"}:
            return True
        if place != number and is_surrounding(names_of(tree, place)):
            return True
        place = tree.parent(place)
    return False


def claims_of_sight(view: View, carts: list[int]) -> Iterator[Claim]:
    """Price, currency and availability as they are shown."""
    money, where = find_price(view, carts)
    if money is not None:
        yield Claim("price", money.amount, 0.55 if where.startswith("css") else 0.45, where)
        if money.currency:
            yield Claim("currency", money.currency, 0.6 * money.confidence, where)
    for number in view.tree.find(("id", "class"), STOCK_NAMES)[:20]:
        text = view.read_text(number)
        if (
            text
            and len(text) <= LONGEST_STOCK
            and not is_beside(view.tree, number)
            and (state := read_availability(text))
        ):
            yield Claim("availability", str(state), 0.5, f"css {_name(view.tree, number)}")
            break
    crumbs = _crumbs(view)
    if crumbs:
        yield Claim("category", crumbs, 0.5, "css breadcrumb")


def find_price(view: View, carts: list[int]) -> tuple[Money | None, str]:
    """The nearest to the button; without a button, the first that is not beside."""
    if view.trunk is None:
        return None, ""
    named = sorted({*view.tree.find(("id", "class", "itemprop"), PRICE_NAMES), *view.tree.having("data-price")})
    for cart in carts[:2]:
        for place in _around(view, cart, HIGHEST_CLIMB):
            if (found := _price_in(place, named, view))[0] is not None:
                return found
    if (found := _price_in(view.trunk, named, view))[0] is not None:
        return found
    return _price_in_text(view, carts)


def _around(view: View, number: int, levels: int) -> Iterator[int]:
    """What holds it, from the inside out, below `body`."""
    place = view.tree.parent(number)
    for _ in range(levels):
        if place < 0 or place == view.trunk:
            return
        yield place
        place = view.tree.parent(place)


def _price_in(place: int, named: list[int], view: View) -> tuple[Money | None, str]:
    best: tuple[Money, str] | None = None
    tree = view.tree
    inside = named[bisect_right(named, place) : bisect_left(named, tree.end(place))]
    for number in inside[:MOST_PRICES]:
        money = _read_price(number, view)
        if money is None or money.amount <= 0 or is_beside(tree, number):
            continue
        if money.currency:
            return money, f"css {_name(tree, number)}"
        best = best or (money, f"css {_name(tree, number)}")
    return best or (None, "")


def _read_price(number: int, view: View) -> Money | None:
    tree = view.tree
    if tree.tag(number) in {"script", "style", "input"} or is_no_price(names_of(tree, number)):
        return None
    parent = tree.parent(number)
    if is_struck(tree, number) or (parent >= 0 and is_struck(tree, parent)):
        return None
    text = view.read_text(number)
    if text and len(text) <= LONGEST_PRICE:
        return read_money(text, view.place)
    if amount := read_amount(tree.get(number, "data-price") or "", view.place, is_machine=True):
        return Money(amount)
    return None


def _price_in_text(view: View, carts: list[int]) -> tuple[Money | None, str]:
    """No element is called a price: a number with a currency in the block around the button."""
    for cart in carts[:1]:
        for place in _around(view, cart, 5):
            text = view.read_text(place)
            if len(text) > LONGEST_BLOCK:
                break
            for chunk in re.findall(r"[^\n]{0,40}\d[\d.,' \u00a0]*[^\n]{0,12}", text)[:20]:
                money = read_money(chunk, view.place)
                if money and money.currency and money.amount > 0:
                    return money, "text beside the cart button"
    return None, ""


def _crumbs(view: View) -> str | None:
    tree = view.tree
    number = next(iter(tree.find(("class", "id", "aria-label"), CRUMB_NAMES)), None)
    if number is None:
        return None
    links = tree.tags("a")
    inside = links[bisect_right(links, number) : bisect_left(links, tree.end(number))]
    names = [tree.text(link) for link in inside[:10]]
    kept = trim_crumbs([name for name in names if name and len(name) < 80], find_heading(tree))
    return cut("category", " > ".join(kept)) or None


def _name(tree: Tree, number: int) -> str:
    tag, identity, classes = tree.tag(number), tree.get(number, "id"), (tree.get(number, "class") or "").split()
    return f"{tag}#{identity}" if identity else f"{tag}.{classes[0]}" if classes else tag
