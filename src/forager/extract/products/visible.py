"""What a person sees: the button of the cart, the price beside it, the heading above. For pages without markup."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from forager.extract.products.claims import Claim
from forager.extract.products.facts import cut, trim_crumbs
from forager.extract.products.money import Money, read_amount, read_money
from forager.extract.products.stock import read_availability
from forager.extract.products.view import View
from forager.extract.products.words import BESIDE, CART, CART_NAMES, NO_PRICE, is_struck, names_of, unique

PRICE_NAMES = (
    "[itemprop=price],[class*=price],[class*=Price],[id*=price],[id*=Price],[data-price],[class*=preis],[class*=Preis],"
    "[class*=prix],[class*=precio],[class*=prezzo],[class*=cena],[class*=fiyat],[class*=amount]"
)
STOCK_NAMES = (
    "[class*=stock],[class*=Stock],[id*=stock],[class*=avail],[class*=Avail],[id*=avail],[class*=lager],[class*=dispo]"
)
BUTTONS = "button,input[type=submit],input[type=button],a[role=button],a[class*=btn],a[class*=button]"
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


def sight_of(tree: LexborHTMLParser) -> Sight:
    if tree.body is None:
        return Sight(is_product=False, is_listing=False)
    attributes = tree.body.attributes
    classes, identity = attributes.get("class") or "", (attributes.get("id") or "").lower()
    is_product = bool(PRODUCT_BODY.search(classes)) or identity in PRODUCT_IDS
    is_listing = bool(LISTING_BODY.search(classes)) or identity in LISTING_IDS
    return Sight(is_product, is_listing and not is_product)


def find_heading(tree: LexborHTMLParser) -> str | None:
    for node in tree.tags("h1")[:5]:
        text = " ".join(node.text(separator=" ").split())
        if text:
            return text[:512]
    return None


def find_carts(tree: LexborHTMLParser) -> list[LexborNode]:
    """Buttons that fill the cart with this page's thing; those of things beside it are left out."""
    found = [node for node in unique(tree.css(CART_NAMES)[: 2 * MOST_CARTS]) if not is_beside(node)]
    if not found:
        found = [
            node
            for node in unique(tree.css(BUTTONS)[:MOST_BUTTONS])
            if CART.search(_label(node)) and not is_beside(node)
        ]
    outer: list[LexborNode] = []
    for node in found:
        if not any(_holds(each, node) for each in outer[-2:]):
            outer.append(node)
    return outer[:MOST_CARTS]


def _holds(outer: LexborNode, inner: LexborNode) -> bool:
    node = inner.parent
    for _ in range(HIGHEST_CLIMB):
        if node is None:
            return False
        if node.mem_id == outer.mem_id:
            return True
        node = node.parent
    return False


def _label(node: LexborNode) -> str:
    attributes = node.attributes
    text = " ".join(node.text(separator=" ").split())[:80]
    return text or attributes.get("value") or attributes.get("aria-label") or attributes.get("title") or ""


def is_beside(node: LexborNode) -> bool:
    """In a list of other things, or in what surrounds every page."""
    place: LexborNode | None = node
    for _ in range(LEVELS_AROUND):
        if place is None or place.tag in {"body", "main", None}:
            return False
        if place.tag in {"footer", "header", "nav", "aside"}:
            return True
        attributes = place.attributes
        names = names_of(attributes)
        if place.mem_id != node.mem_id and BESIDE.search(names) and "product-info" not in names:
            return True
        place = place.parent
    return False


def claims_of_sight(view: View, carts: list[LexborNode]) -> Iterator[Claim]:
    """Price, currency and availability as they are shown."""
    money, where = find_price(view, carts)
    if money is not None:
        yield Claim("price", money.amount, 0.55 if where.startswith("css") else 0.45, where)
        if money.currency:
            yield Claim("currency", money.currency, 0.6 * money.confidence, where)
    for node in unique(view.tree.css(STOCK_NAMES)[:20]):
        text = view.read_text(node)
        if text and len(text) <= LONGEST_STOCK and not is_beside(node) and (state := read_availability(text)):
            yield Claim("availability", str(state), 0.5, f"css {_name(node)}")
            break
    crumbs = _crumbs(view)
    if crumbs:
        yield Claim("category", crumbs, 0.5, "css breadcrumb")


def find_price(view: View, carts: list[LexborNode]) -> tuple[Money | None, str]:
    """The nearest to the button; without a button, the first that is not beside."""
    for cart in carts[:2]:
        place = cart.parent
        for _ in range(HIGHEST_CLIMB):
            if place is None or place.tag in {"body", "html"}:
                break
            if (found := _price_in(place, view))[0] is not None:
                return found
            place = place.parent
    if view.tree.body is not None and (found := _price_in(view.tree.body, view))[0] is not None:
        return found
    return _price_in_text(view, carts)


def _price_in(place: LexborNode, view: View) -> tuple[Money | None, str]:
    best: tuple[Money, str] | None = None
    for node in unique(place.css(PRICE_NAMES)[: 2 * MOST_PRICES]):
        money = _read_price(node, view)
        if money is None or money.amount <= 0 or is_beside(node):
            continue
        if money.currency:
            return money, f"css {_name(node)}"
        best = best or (money, f"css {_name(node)}")
    return best or (None, "")


def _read_price(node: LexborNode, view: View) -> Money | None:
    attributes = node.attributes
    names = names_of(attributes)
    if (
        node.tag in {"del", "s", "strike", "script", "style", "input"}
        or is_struck(attributes)
        or NO_PRICE.search(names)
    ):
        return None
    if node.parent is not None and (node.parent.tag in {"del", "s", "strike"} or is_struck(node.parent.attributes)):
        return None
    text = view.read_text(node)
    if text and len(text) <= LONGEST_PRICE:
        return read_money(text, view.place)
    if amount := read_amount(attributes.get("data-price") or "", view.place, is_machine=True):
        return Money(amount)
    return None


def _price_in_text(view: View, carts: list[LexborNode]) -> tuple[Money | None, str]:
    """No element is called a price: a number with a currency in the block around the button."""
    for cart in carts[:1]:
        place = cart.parent
        for _ in range(5):
            if place is None or place.tag in {"body", "html"}:
                break
            text = view.read_text(place)
            if len(text) > LONGEST_BLOCK:
                break
            for chunk in re.findall(r"[^\n]{0,40}\d[\d.,' \u00a0]*[^\n]{0,12}", text)[:20]:
                money = read_money(chunk, view.place)
                if money and money.currency and money.amount > 0:
                    return money, "text beside the cart button"
            place = place.parent
    return None, ""


def _crumbs(view: View) -> str | None:
    node = view.tree.css_first("[class*=breadcrumb],[id*=breadcrumb],[class*=crumbs],[aria-label*=readcrumb]")
    if node is None:
        return None
    names = [" ".join(link.text(separator=" ").split()) for link in node.css("a")[:10]]
    kept = trim_crumbs([name for name in names if name and len(name) < 80], find_heading(view.tree))
    return cut("category", " > ".join(kept)) or None


def _name(node: LexborNode) -> str:
    attributes = node.attributes
    identity, classes = attributes.get("id"), (attributes.get("class") or "").split()
    return f"{node.tag}#{identity}" if identity else f"{node.tag}.{classes[0]}" if classes else f"{node.tag}"
