"""Extracts the product from visible elements: the cart button, the price beside it, the heading above. For pages
without markup."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from forager.parsing.products.claims import Claim
from forager.parsing.products.item_fields import clean_field, trim_breadcrumbs
from forager.parsing.products.money import Money, parse_amount, read_money, read_visible_price
from forager.parsing.products.select import is_similar
from forager.parsing.products.stock import Availability, read_availability
from forager.parsing.products.view import View
from forager.parsing.products.words import (
    CART_ATTRIBUTES,
    CART_NAMES,
    LONGEST_NAMES,
    SILENT,
    is_brand,
    is_cart_label,
    is_no_price,
    names_of,
    says_hidden,
    without_label,
)
from forager.parsing.tree_types import Tree

PRICE_NAMES = ("price", "preis", "prix", "precio", "prezzo", "cena", "fiyat", "amount")
STOCK_NAMES = ("stock", "avail", "lager", "dispo")
CRUMB_NAMES = ("breadcrumb", "crumbs")
BUTTON_NAMES = ("btn", "button")
OLD_PRICE = re.compile(r"price[\w-]*old|old[\w-]*price")
NO_BRAND = re.compile(r"^\W*$|^\d+$|%|\d{3}|[:!?]")
MOST_CARTS, MOST_BUTTONS, MOST_LINKS, MOST_PRICES = 40, 250, 400, 24
LONGEST_LABEL = 60
MANY_CARTS = 3
"""With more buttons, each for a different product, the page is a list."""
HIGHEST_CLIMB, LEVELS_AROUND = 8, 14
LONGEST_PRICE, LONGEST_STOCK = 120, 160
LONGEST_BLOCK = 3000
LEVELS_HIDDEN, LEVELS_TOLD, LEVELS_STRUCK = 8, 3, 4
LONGEST_TOLD, LONGEST_MONEY, MOST_BELOW = 600, 40, 40
MOST_HEADINGS, MOST_STOCKS, MOST_STRUCK = 8, 20, 40
LONGEST_BRAND = 40
MOST_IN_BRAND = 200
"""Bytes; a longer text is not a brand name."""
FAR = 300
"""Maximum number of elements between a heading and what belongs to it."""
NEAR, ANYWHERE, BARE = 0.8, 0.55, 0.4
"""Confidence of a price next to the button or below the heading; elsewhere; without a currency."""
REDUCED = 0.97
"""Markup gives the price that the page shows as struck through: the other one is current."""
TOLD = 0.96
MOST_REDUCED = 20
FEW_PRICES = 8
GONE = frozenset({Availability.OUT_OF_STOCK, Availability.DISCONTINUED})
BRAND_NAMES = ("brand", "manufacturer", "marke", "marque")


PARTS = {"price": PRICE_NAMES, "stock": STOCK_NAMES, "brand": BRAND_NAMES, "crumbs": CRUMB_NAMES}
PART_NAMES = tuple(name for names in PARTS.values() for name in names)
PART_ATTRIBUTES = ("class", "id", "itemprop", "aria-label")


def find_parts(tree: Tree) -> dict[str, list[int]]:
    """Returns elements named as a part of a product: price, stock, brand, breadcrumbs. One query for all of them: each
    query scans every element."""
    numbers = tree.find(PART_ATTRIBUTES, PART_NAMES)
    columns = [tree.column(numbers, name) for name in PART_ATTRIBUTES]
    found: dict[str, list[int]] = {part: [] for part in PARTS}
    for number, *values in zip(numbers, *columns, strict=True):
        for part in _parts_of(" ".join(filter(None, values))[:LONGEST_NAMES]):
            found[part].append(number)
    return found


@lru_cache(8192)
def _parts_of(names: str) -> tuple[str, ...]:
    names = names.lower()
    return tuple(part for part, words in PARTS.items() if any(word in names for word in words))


class Heading(NamedTuple):
    number: int
    text: str


def find_heading(tree: Tree, *titles: str | None) -> Heading | None:
    """Returns the first heading that matches a title: a cart, menu or notice above it may have a heading too. Else the
    first."""
    numbers = tree.tags("h1")[:MOST_HEADINGS]
    found = [
        Heading(number, text[:512]) for number, text in zip(numbers, tree.texts(numbers, 512), strict=True) if text
    ]
    if len(found) < 2:
        return found[0] if found else None
    alike = (each for each in found if any(is_similar(each.text, title) for title in titles if title))
    return next(alike, found[0])


def find_cart_buttons(view: View, *, also_links: bool) -> list[int]:
    """Returns the cart buttons for this page's product; those of other products are skipped."""
    tree = view.tree
    named = tree.find(CART_ATTRIBUTES, CART_NAMES)[:MOST_CARTS]
    found = [number for number in named if not is_outside_product(view, number)]
    if not found:
        found = _filter_by_label(view, _find_buttons(tree)[:MOST_BUTTONS])
        if not found and also_links:
            below = [number for number in _links(tree) if number > view.heading]
            found = _filter_by_label(view, below[:MOST_LINKS])
    outer: list[int] = []
    for number in found:
        if not outer or number >= tree.end(outer[-1]):
            outer.append(number)
    return outer


def _find_buttons(tree: Tree) -> list[int]:
    inputs = tree.tags("input")
    pressed = {
        number for number, kind in zip(inputs, tree.column(inputs, "type"), strict=True) if kind in {"submit", "button"}
    }
    looks = {
        number for number in (*tree.find(("class",), BUTTON_NAMES), *tree.having("role")) if tree.tag(number) == "a"
    }
    return sorted({*tree.tags("button"), *pressed, *looks})


def _links(tree: Tree) -> list[int]:
    """Returns links and image inputs, which shops without buttons use."""
    inputs = tree.tags("input")
    kinds = tree.column(inputs, "type")
    return sorted([*tree.tags("a"), *(number for number, kind in zip(inputs, kinds, strict=True) if kind == "image")])


def _filter_by_label(view: View, numbers: list[int]) -> list[int]:
    return [
        number
        for number in numbers
        if is_cart_label(_label(view.tree, number)) and not is_outside_product(view, number)
    ]


def _label(tree: Tree, number: int) -> str:
    get = tree.get
    return tree.text(number)[:80] or get(number, "value") or get(number, "aria-label") or get(number, "title") or ""


def is_outside_product(view: View, number: int) -> bool:
    """Whether an element is in a list of other products or in boilerplate. An element that also contains the heading is
    neither, whatever its name; the header of an article belongs to it."""
    tree, heading = view.tree, view.heading
    place, is_in_header = number, False
    for _ in range(LEVELS_AROUND):
        if place < 0 or (tag := tree.tag(place)) == "body":
            return is_in_header
        if tag in {"main", "article"} or place < heading < tree.end(place):
            return False
        if tag in {"footer", "nav", "aside"}:
            return True
        is_in_header |= tag == "header"
        if place != number and view.is_non_product(place):
            return True
        place = tree.parent(place)
    return is_in_header


def find_visible_claims(
    view: View, carts: list[int], heading: Heading | None, marked: Decimal | None
) -> Iterator[Claim]:
    """Yields visible price, currency and availability. `marked` is the price in markup."""
    parts = find_parts(view.tree)
    price = find_price(view, carts, heading, parts["price"])
    if price is not None:
        money, where, confidence, place = price
        regular = _regular_price(view, place, money.amount)
        if regular is not None:
            yield Claim("regular_price", regular, 0.7, where)
            if marked == regular:
                confidence = REDUCED
        yield Claim("price", money.amount, confidence, where)
        if money.currency:
            yield Claim("currency", money.currency, confidence * money.confidence, where)
    yield from _find_stock_claims(view, carts, parts["stock"])
    yield from _find_brand(view, heading, parts["brand"])
    if crumbs := _get_category(view, heading, parts["crumbs"]):
        yield Claim("category", crumbs, 0.5, "css breadcrumb")


# Prices -------------------------------------------------------------------------------------------------------------


class Seen(NamedTuple):
    money: Money
    where: str
    confidence: float
    place: int
    """The element that contains the price and its surroundings."""


def find_price(view: View, carts: list[int], heading: Heading | None, named: list[int]) -> Seen | None:
    """Returns the price nearest to a button or below the heading, in the smaller block of the two; else the first one
    that belongs to no other product."""
    if view.body_element is None:
        return None
    if priced := view.tree.having("data-price"):
        named = sorted({*named, *priced})
    near = [
        found
        for anchor, prices in [(cart, named) for cart in carts[:2]]
        + ([(heading.number, named[bisect_right(named, heading.number) :])] if heading is not None else [])
        if (found := _find_near_price(view, anchor, prices)) is not None
    ]
    if near:
        return min(near, key=lambda seen: (seen.money.is_per_unit, view.tree.end(seen.place) - seen.place))
    return _price_in(view.body_element, named, view, ANYWHERE) or _price_in_text(view, carts, heading)


def _find_near_price(view: View, anchor: int, named: list[int]) -> Seen | None:
    """Returns the nearest price; a unit price only if there is no other."""
    of_unit: Seen | None = None
    for place in _iter_ancestors(view, anchor, HIGHEST_CLIMB):
        if (found := _price_in(place, named, view, NEAR)) is not None:
            if not found.money.is_per_unit:
                return found
            of_unit = of_unit or found
    return of_unit


def _iter_ancestors(view: View, number: int, levels: int) -> Iterator[int]:
    """Yields ancestors from the inside out, below `body`."""
    place = view.tree.parent(number)
    for _ in range(levels):
        if place < 0 or place == view.body_element:
            return
        yield place
        place = view.tree.parent(place)


def _price_in(place: int, named: list[int], view: View, confidence: float) -> Seen | None:
    best: Seen | None = None
    of_unit: Seen | None = None
    tree = view.tree
    inside = named[bisect_right(named, place) : bisect_left(named, tree.end(place))][:MOST_PRICES]
    for number in inside:
        money = _read_price(number, view)
        if money is None:
            continue
        seen = Seen(money, f"css {_name(tree, number)}", confidence if money.currency else BARE, place)
        if money.is_per_unit:
            of_unit = of_unit or seen
            continue
        if money.currency and not (money.highest and number < inside[-1] < tree.end(number)):
            return seen
        best = best or seen
    return best or of_unit or _only_old(place, inside, view)


def _only_old(place: int, inside: list[int], view: View) -> Seen | None:
    """Returns the only price of a block although it is named old: some shops do so, and add the new one beside it
    later."""
    tree = view.tree
    if not 0 < len(inside) <= FEW_PRICES:
        return None
    for number in inside:
        if (
            OLD_PRICE.search(names_of(tree, number))
            and tree.tag(number) not in SILENT
            and not is_outside_product(view, number)
        ):
            text = " ".join(each for _, each in tree.runs(number, LONGEST_MONEY))
            money = read_money(text, view.place)
            if money is not None and money.currency and money.amount > 0:
                return Seen(money, f"css {_name(tree, number)}", BARE, place)
    return None


def _read_price(number: int, view: View) -> Money | None:
    """Parses the price of an element, once: it is part of all its ancestors."""
    if number not in view.prices:
        money = _read_new_price(number, view)
        view.prices[number] = None if money is None or money.amount <= 0 or is_outside_product(view, number) else money
    return view.prices[number]


def _read_new_price(number: int, view: View) -> Money | None:
    tree = view.tree
    if tree.tag(number) in {"script", "style", "input"} or is_no_price(names_of(tree, number)):
        return None
    parent = tree.parent(number)
    if view.is_old_price(number) or (parent >= 0 and view.is_old_price(parent)):
        return None
    text = view.read_text(number)
    if text and len(text) <= LONGEST_PRICE:
        money = read_visible_price(text, view.place)
        if money is None or money.currency or len(text) > LONGEST_MONEY or parent < 0:
            return money
        around = view.read_text(parent)
        wider = read_visible_price(around, view.place) if len(around) <= LONGEST_MONEY else None
        return wider if wider is not None and wider.amount == money.amount else money
    if amount := parse_amount(tree.get(number, "data-price") or "", view.place, is_machine=True):
        return Money(amount)
    return None


def _regular_price(view: View, place: int, price: Decimal) -> Decimal | None:
    """Returns the struck-through price next to a price, if higher."""
    tree = view.tree
    for around in (place, tree.parent(place)):
        if around < 0 or around == view.body_element:
            return None
        for number, text in tree.numbers(around, LONGEST_MONEY)[:MOST_STRUCK]:
            if not _is_old_price_within(view, number, around) or is_outside_product(view, number):
                continue
            money = read_money(text, view.place)
            if money is not None and price < money.amount <= price * MOST_REDUCED:
                return money.amount
    return None


def _is_old_price_within(view: View, number: int, around: int) -> bool:
    for _ in range(LEVELS_STRUCK):
        if number <= around:
            return False
        if view.is_old_price(number):
            return True
        number = view.tree.parent(number)
    return False


def _price_in_text(view: View, carts: list[int], heading: Heading | None) -> Seen | None:
    """Finds a price where no element is named so: a number with a currency in the block around the button, or below the
    heading."""
    for cart in carts[:1]:
        for place in _iter_ancestors(view, cart, 5):
            text = view.read_text(place)
            if len(text) > LONGEST_BLOCK:
                break
            for chunk in re.findall(r"[^\n]{0,40}\d[\d.,' \u00a0]*[^\n]{0,12}", text)[:20]:
                money = read_visible_price(chunk, view.place)
                if money and money.currency and money.amount > 0:
                    return Seen(money, "text beside the cart button", 0.45, place)
    return None if heading is None else _price_below(view, heading)


def _price_below(view: View, heading: Heading) -> Seen | None:
    """Returns the first number below the heading that has a currency in its own element or in the parent."""
    tree = view.tree
    below = [number for number, _ in tree.numbers(view.body_element or 0, LONGEST_MONEY) if number > heading.number]
    for number in below[:MOST_BELOW]:
        for place in (number, tree.parent(number)):
            text = view.read_text(place)
            if len(text) > LONGEST_MONEY or view.is_old_price(place) or is_no_price(text):
                break
            money = read_visible_price(text, view.place)
            if money and money.currency and money.amount > 0 and not is_outside_product(view, number):
                return Seen(money, "text below the heading", BARE, tree.parent(place))
    return None


# Stock --------------------------------------------------------------------------------------------------------------


def _find_stock_claims(view: View, carts: list[int], named: list[int]) -> Iterator[Claim]:
    """Yields the visible availability; a visible "sold out" takes precedence over markup."""
    tree = view.tree
    told: list[tuple[Availability, int]] = []
    for number in named[:MOST_STOCKS]:
        if told and number < tree.end(told[-1][1]):
            continue
        text = view.read_text(number)
        if not text or len(text) > LONGEST_STOCK or is_outside_product(view, number) or is_hidden(tree, number):
            continue
        if (state := read_availability(text)) is not None:
            told.append((state, number))
    if told:
        state, number = told[0]
        is_sure = all(each in GONE for each, _ in told) and tree.tag(number) not in {"tr", "option", "li"}
        yield Claim("availability", str(state), TOLD if is_sure else 0.5, f"css {_name(tree, number)}")
        return
    if (state := _find_near_stock(view, carts)) is not None:
        yield Claim("availability", str(state), 0.5, "text beside the cart button")
        return
    for cart in carts[:2]:
        if (state := read_availability(_label(tree, cart))) in GONE and not is_hidden(tree, cart):
            yield Claim("availability", str(state), 0.6, f"css {_name(tree, cart)}")
            return
        if tree.get(cart, "disabled") is None and not is_hidden(tree, cart):
            yield Claim("availability", str(Availability.IN_STOCK), 0.45, f"css {_name(tree, cart)}")
            return


def _find_near_stock(view: View, carts: list[int]) -> Availability | None:
    """Returns unavailability if the block around the button states it."""
    for cart in carts[:1]:
        for place in _iter_ancestors(view, cart, LEVELS_TOLD):
            runs = view.tree.runs(place, LONGEST_BLOCK)
            if sum(len(text) for _, text in runs) >= LONGEST_TOLD:
                break
            for number, text in runs:
                if 3 < len(text) <= LONGEST_LABEL and (state := read_availability(text)) in GONE:
                    return None if is_hidden(view.tree, number) else state
    return None


def is_hidden(tree: Tree, number: int) -> bool:
    """Whether the attributes of the element or its ancestors hide it; style sheets are not evaluated."""
    place = number
    for _ in range(LEVELS_HIDDEN):
        if place < 0:
            return False
        if tree.get(place, "hidden") is not None or says_hidden(
            f"{tree.get(place, 'class') or ''} {tree.get(place, 'style') or ''}"[:LONGEST_NAMES]
        ):
            return True
        place = tree.parent(place)
    return False


# Brand and category -------------------------------------------------------------------------------------------------


def _find_brand(view: View, heading: Heading | None, named: list[int]) -> Iterator[Claim]:
    """Yields the brand from an element named so near the heading; for an image, from its alternative text."""
    tree = view.tree
    for number in named:
        if heading is None or abs(number - heading.number) > FAR or not is_brand(names_of(tree, number)):
            continue
        if tree.weights(number)[0] > MOST_IN_BRAND:
            continue
        shown = " ".join(text for _, text in tree.runs(number, MOST_IN_BRAND))[:MOST_IN_BRAND]
        text = without_label(shown or tree.texts([number], LONGEST_BRAND + 1)[0])
        if (
            NO_BRAND.search(text)
            or len(text) > LONGEST_BRAND
            or text == heading.text
            or is_outside_product(view, number)
        ):
            continue
        yield Claim("brand", clean_field("brand", text), 0.5, f"css {_name(tree, number)}")
        return


def _get_category(view: View, heading: Heading | None, named: list[int]) -> str | None:
    tree = view.tree
    if not named:
        return None
    number = named[0]
    links = tree.tags("a")
    inside = links[bisect_right(links, number) : bisect_left(links, tree.end(number))]
    names = [tree.text(link) for link in inside[:10]]
    kept = trim_breadcrumbs([name for name in names if name and len(name) < 80], heading.text if heading else None)
    return clean_field("category", " > ".join(kept)) or None


def _name(tree: Tree, number: int) -> str:
    tag, identity, classes = tree.tag(number), tree.get(number, "id"), (tree.get(number, "class") or "").split()
    return f"{tag}#{identity}" if identity else f"{tag}.{classes[0]}" if classes else tag
