"""Converts an item of type Product to claims, field by field."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from html import unescape
from itertools import islice
from typing import NamedTuple

from ada_url import join_url

from forager.parsing.products.claims import Claim
from forager.parsing.products.currency import PageLocale, read_currency
from forager.parsing.products.money import MOST_DIGITS, parse_amount, read_money
from forager.parsing.products.numbers import parse_rating, read_count, read_gtin
from forager.parsing.products.stock import Availability, read_availability
from forager.parsing.products.view import View
from forager.parsing.products.words import HOME, without_label
from forager.parsing.structured.items import Item, Value, plain_name, sanitize_text, text_of
from forager.products.models import Variant

SURE = {"jsonld": 0.95, "microdata": 0.9, "rdfa": 0.88, "plucked": 0.6, "meta": 0.8, "data": 0.85}
MOST_OFFERS = 200
MOST_VARIANTS = 200
MOST_IMAGES = 20
LONGEST = {"name": 512, "description": 5000, "brand": 255, "category": 255, "sku": 100, "mpn": 100, "seller": 255}
TAG = re.compile(r"<[^<>]{0,2000}>")
GTINS = ("gtin13", "gtin", "gtin14", "gtin12", "gtin8", "ean", "ean13", "upc", "isbn", "isbn13")
OLD_PRICES = (
    "listprice",
    "strikethroughprice",
    "msrp",
    "srp",
    "regularprice",
    "invoiceprice",
    "minimumadvertisedprice",
)


class Offer(NamedTuple):
    price: Decimal | None
    price_at: str
    currency: str | None
    currency_at: str
    availability: Availability | None
    availability_at: str
    item: Item

    @property
    def is_available(self) -> bool:
        return self.availability not in {Availability.OUT_OF_STOCK, Availability.DISCONTINUED}


def claims_of(item: Item, view: View) -> Iterator[Claim]:
    """Yields all claims of one product item."""
    sure = SURE[item.source]
    for field, names in TEXTS.items():
        for told, where in item.texts(*names):
            text = without_label(told) if field == "brand" else told
            if field == "brand" and "://" in text:
                continue
            yield Claim(field, clean_field(field, text), sure, where)
            break
    yield from _numbers(item, sure)
    yield from _offer_claims(item, view, sure)
    images = list_images(item, view)
    if images:
        yield Claim("image_urls", images, sure, next(iter(item.values("image", "images")))[1])
    attributes = list_attributes(item)
    if attributes:
        yield Claim("attributes", attributes, sure, f"{item.source} {item.path}")
    variants = list_variants(item, view)
    if len(variants) > 1:
        yield Claim("variants", variants, sure, f"{item.source} {item.path}")


TEXTS = {
    "name": ("name", "title"),
    "description": ("description",),
    "brand": ("brand", "manufacturer"),
    "category": ("category",),
}


def _numbers(item: Item, sure: float) -> Iterator[Claim]:
    for text, where in item.texts("sku", "productid"):
        yield Claim("sku", clean_field("sku", without_words(text.removeprefix("sku:"))), sure, where)
        break
    else:
        offers = _offer_items(item)
        alone = offers[0].texts("sku") if len(offers) == 1 else ()
        for text, where in (*alone, *item.texts("identifier")):
            yield Claim(
                "sku", clean_field("sku", without_words(text)), sure * (0.9 if where.endswith("sku") else 0.6), where
            )
            break
    for text, where in item.texts("mpn", "model"):
        yield Claim("mpn", clean_field("mpn", text), sure if where.endswith("mpn") else sure * 0.8, where)
        break
    holders = [item, *_offer_items(item)[:3]]
    for text, where in (pair for holder in holders for pair in holder.texts(*GTINS)):
        gtin = read_gtin(text)
        yield Claim("gtin", gtin, sure, where) if gtin else Claim("!gtin", text[:40], sure, where)
        if gtin:
            break
    for rating in item.items("aggregaterating"):
        for text, where in rating.texts("ratingvalue"):
            value = parse_rating(text, rating.text("bestrating"))
            if value is None:
                yield Claim("!rating", text[:40], sure, where)
            elif value > 0 or rating.text("reviewcount", "ratingcount") not in {None, "0"}:
                yield Claim("rating", value, sure, where)
            break
        for text, where in rating.texts("reviewcount", "ratingcount"):
            count = read_count(text)
            if count is not None:
                yield Claim("review_count", count, sure if where.endswith("reviewcount") else sure * 0.9, where)
                break


def without_words(code: str) -> str:
    """Returns a code without the text after it: `TE502955-1293415 Chair cover` is a code and a name."""
    found = CODE_AND_WORDS.match(code[: LONGEST["sku"]])
    return found[1] if found else code


CODE_AND_WORDS = re.compile(r"([\w./\-]*\d{4}[\w./\-]*)\s+[^\W\d_]{3,}\b.*[a-zà-ÿ]{3}")


# Offers -------------------------------------------------------------------------------------------------------------


def _offer_claims(item: Item, view: View, sure: float) -> Iterator[Claim]:
    offers = list_offers(item, view)
    yield from _invalid_claims(item, sure)
    if not offers:
        return
    offer = select_offer(offers, view)
    if offer.price is not None:
        yield Claim("price", offer.price, sure, offer.price_at)
    if offer.currency is not None:
        yield Claim("currency", offer.currency, sure, offer.currency_at)
    known = offer if offer.availability else next((each for each in offers if each.availability), offer)
    if known.availability is not None:
        yield Claim("availability", str(known.availability), sure, known.availability_at)
    yield from _terms(offer, item, view.place, sure)


def _terms(offer: Offer, item: Item, place: PageLocale, sure: float) -> Iterator[Claim]:
    """Yields claims on the terms of an offer: seller, condition, shipping cost, former price."""
    for text, where in offer.item.texts("seller", "offeredby"):
        if "://" not in text:
            yield Claim("seller", clean_field("seller", text), sure, where)
            break
    for text, where in (*offer.item.texts("itemcondition"), *item.texts("itemcondition")):
        if condition := CONDITIONS.get(plain_name(text).removesuffix("condition")):
            yield Claim("condition", condition, sure, where)
            break
    for details in offer.item.items("shippingdetails"):
        for rate in details.items("shippingrate"):
            for value, where in rate.values("value", "price"):
                amount, _ = read_price(value, place, offer.currency)
                if amount is not None:
                    yield Claim("shipping", amount, sure, where)
                    return
        break
    for specification in offer.item.items("pricespecification", "haspricespecification"):
        yield from _specified(specification, offer, place, sure)


def _specified(specification: Item, offer: Offer, place: PageLocale, sure: float) -> Iterator[Claim]:
    """Yields the price before a reduction, or the unit price."""
    for value, where in specification.values("price"):
        amount, _ = read_price(value, place, offer.currency)
        if amount is None or amount <= 0:
            continue
        quantity = next(specification.items("referencequantity"), None)
        if _is_old(specification) and offer.price is not None and amount > offer.price:
            yield Claim("regular_price", amount, sure, where)
        elif quantity is not None and (unit := _unit_of(quantity)):
            yield Claim("unit_price", amount, sure, where)
            yield Claim("unit", unit, sure, where)
        return


def _unit_of(quantity: Item) -> str | None:
    """Returns the unit: `100 g`, `kg`."""
    code = quantity.text("unittext", "unitcode")
    number = quantity.text("value") or "1"
    unit = UNITS.get((code or "").upper(), code)
    if not unit:
        return None
    return unit if number in {"1", "1.0", "1.00"} else f"{number} {unit}"


CONDITIONS = {
    **dict.fromkeys(("new", "newitem", "neu", "neuf", "nuevo", "nuovo", "nowy", "novo"), "new"),
    **dict.fromkeys(("used", "preowned", "secondhand", "usato", "gebraucht"), "used"),
    "refurbished": "refurbished",
    "damaged": "damaged",
}
UNITS = {
    "KGM": "kg",
    "GRM": "g",
    "LTR": "l",
    "MLT": "ml",
    "CLT": "cl",
    "MTR": "m",
    "MTK": "m²",
    "C62": "piece",
    "H87": "piece",
}
MORE_ATTRIBUTES = ("color", "material", "size", "pattern", "weight", "width", "height", "depth")
MOST_ATTRIBUTES = 60
LONGEST_ATTRIBUTE = 300


def list_attributes(item: Item) -> dict[str, str]:
    """Returns the other properties: color, material, and additional named ones."""
    found: dict[str, str] = {}
    for name in MORE_ATTRIBUTES:
        value = next(item.values(name), (None, ""))[0]
        text = _measure(value) if isinstance(value, Item) else None if value is None else text_of(value)
        if text and "://" not in text:
            found[name] = text[:LONGEST_ATTRIBUTE]
    for each in list(item.items("additionalproperty"))[:MOST_ATTRIBUTES]:
        label, text = each.text("name", "propertyid"), _measure(each)
        if label and text:
            found.setdefault(label[:60], text[:LONGEST_ATTRIBUTE])
    return found


def _measure(value: Item) -> str | None:
    """Returns a value with its unit: `2.5 kg`."""
    text = value.text("value", "name")
    unit = value.text("unittext", "unitcode")
    return f"{text} {UNITS.get(unit.upper(), unit)}" if text and unit else text


def _invalid_claims(item: Item, sure: float) -> Iterator[Claim]:
    """Yields unparsable prices and currencies; used only if there is nothing better."""
    for holder in (item, *_offer_items(item)[:1]):
        for text, where in holder.texts("price", "lowprice"):
            yield Claim("!price", text[:40], sure, where)
        for text, where in holder.texts("pricecurrency"):
            yield Claim("!currency", text[:40], sure, where)


def list_offers(item: Item, view: View) -> list[Offer]:
    found = [read_offer(each, view.place) for each in _offer_items(item)]
    if not any(offer.price is not None for offer in found) and "price" in item.properties:
        found.insert(0, read_offer(item, view.place))
    if not found:
        for variant in list(item.items("hasvariant", "model"))[:MOST_OFFERS]:
            found += [read_offer(each, view.place) for each in _offer_items(variant)[:2]]
    return [offer for offer in found if offer.price is not None or offer.availability is not None]


def _offer_items(item: Item) -> list[Item]:
    return list(islice(_each_offer(item), MOST_OFFERS))


def _each_offer(item: Item) -> Iterator[Item]:
    """Yields offers one by one: items may refer to each other, and a caller that needs the first must not wait for
    all."""
    for each in item.items("offers", "offer", "hasoffer"):
        inner = each.items("offers", "offer")
        is_bare = not any(name in each.properties for name in ("price", "lowprice", "pricespecification"))
        if is_bare and (first := next(iter(inner), None)) is not None:
            yield first
            yield from islice(each.items("offers", "offer"), 1, MOST_OFFERS)
        else:
            yield each


def select_offer(offers: Sequence[Offer], view: View) -> Offer:
    """Returns the offer for this URL, else the first one available."""
    priced = [offer for offer in offers if offer.price] or list(offers)
    if len(priced) > 1:
        here = [
            offer
            for offer in priced
            if view.is_page_url(offer.item.text("url")) and "?" in (offer.item.text("url") or "")
        ]
        if len(here) == 1 and view.has_query:
            return here[0]
    return next((offer for offer in priced if offer.is_available), priced[0])


def read_offer(item: Item, place: PageLocale) -> Offer:
    holder = _price_holder(item)
    currency, currency_at = _first_currency((holder, item), place)
    price, price_at, sign = None, "", None
    for value, where in holder.values("price", "lowprice", "minprice", "hascurrencyvalue", "value"):
        price, sign = read_price(value, place, currency)
        price_at = where
        if price is not None:
            break
    if currency is None and sign is not None:
        currency, currency_at = sign, price_at
    availability, availability_at = None, ""
    for value, where in item.values("availability"):
        text = str(value) if isinstance(value, bool) else text_of(value)
        if not text:
            continue
        availability = read_availability(text)
        availability_at = where
        if availability is not None:
            break
    return Offer(price, price_at, currency, currency_at, availability, availability_at, item)


def read_price(value: Value, place: PageLocale, currency: str | None) -> tuple[Decimal | None, str | None]:
    """Returns the amount, and the currency that its own text names."""
    if isinstance(value, bool | Item):
        return None, None
    if isinstance(value, int):
        return (Decimal(value) if 0 <= value < 10**13 else None), None
    text = str(value).strip()
    if isinstance(value, Decimal) and "E" in text:
        text = f"{value:f}" if abs(value.adjusted()) < MOST_DIGITS else ""
    if isinstance(value, Decimal) or text.replace(".", "").replace(",", "").isdigit():
        return parse_amount(text, place, currency, is_machine=True), None
    money = read_money(text, place._replace(currency=currency or place.currency))
    return (money.amount, money.currency) if money else (None, None)


def _price_holder(item: Item) -> Item:
    """Returns the offer itself, or the price specification that is neither an old price nor a unit price."""
    if any(name in item.properties for name in ("price", "lowprice")):
        return item
    specified = list(item.items("pricespecification", "haspricespecification"))
    current = [each for each in specified if not _is_old(each)] or specified
    whole = [each for each in current if "referencequantity" not in each.properties] or current
    return whole[0] if whole else item


def _is_old(specification: Item) -> bool:
    kind = (specification.text("pricetype") or "").rpartition("/")[2].lower()
    return kind in OLD_PRICES


def _first_currency(holders: Sequence[Item], place: PageLocale) -> tuple[str | None, str]:
    for holder in holders:
        for text, where in holder.texts("pricecurrency", "currency", "hascurrency"):
            currency = read_currency(text, place)
            if currency is not None:
                return currency.code, where
    return None, ""


# Variants, pictures, categories -------------------------------------------------------------------------------------


def list_variants(item: Item, view: View) -> tuple[Variant, ...]:
    variants = [_variant(each, view) for each in list(item.items("hasvariant", "model"))[:MOST_VARIANTS] if each.types]
    if not variants:
        own = item.text("name")
        offers = [each for each in _offer_items(item) if each.text("sku", "name", "url", "gtin13", "mpn")]
        variants = [_variant(each, view, own) for each in offers[:MOST_VARIANTS]]
        if len({(variant.sku, variant.name, variant.url) for variant in variants}) < len(variants):
            return ()
    return tuple(variants)


def _variant(item: Item, view: View, own_name: str | None = None) -> Variant:
    inner = next(_each_offer(item), item)
    offer = read_offer(inner, view.place)
    name = item.text("name") or next(
        (text for each in item.items("itemoffered") for text, _ in each.texts("name")), None
    )
    gtin = next((read_gtin(text) for text, _ in item.texts(*GTINS)), None)
    sku = item.text("sku", "mpn", "productid") or inner.text("sku")
    url = absolute(view.base_url, inner.text("url") or item.text("url"))
    return Variant(
        clean_field("name", name) if name and name != own_name else None,
        clean_field("sku", sku) if sku else None,
        gtin,
        offer.price,
        offer.currency,
        str(offer.availability) if offer.availability else None,
        url,
    )


def list_images(item: Item, view: View) -> tuple[str, ...]:
    found: list[str] = []
    for value, _ in item.values("image", "images"):
        texts = value.texts("contenturl", "url", "image") if isinstance(value, Item) else [(text_of(value), "")]
        address = next((absolute(view.base_url, text) for text, _ in texts if text), None)
        if isinstance(value, Item) and address is None and value.id:
            address = (
                absolute(view.base_url, value.id)
                if re.search(r"\.(?:jpe?g|png|webp|avif|gif)", value.id, re.I)
                else None
            )
        if address and address not in found:
            found.append(address)
    return tuple(found[:MOST_IMAGES])


def category_of_breadcrumbs(items: Sequence[Item], name: str | None) -> Iterator[Claim]:
    """Yields the category path without the start page and the product itself."""
    for item in items:
        if not item.is_a("breadcrumblist"):
            continue
        steps = sorted(item.items("itemlistelement"), key=_position)[:12]
        names = [text for step in steps if (text := _step_name(step))]
        kept = trim_breadcrumbs(names, name)
        if kept:
            yield Claim(
                "category",
                clean_field("category", " > ".join(kept)),
                SURE[item.source] * 0.85,
                f"{item.source} {item.path}",
            )
            return


def trim_breadcrumbs(names: Sequence[str], product: str | None) -> list[str]:
    kept = [each for each in names if each.strip()]
    if kept and (
        HOME.fullmatch(kept[0].strip()) or (len(kept) > 2 and kept[0].casefold().startswith(("home", "start")))
    ):
        kept = kept[1:]
    if kept and product and _same_words(kept[-1], product):
        kept = kept[:-1]
    return kept


def _same_words(crumb: str, product: str) -> bool:
    first, second = ("".join(filter(str.isalnum, each.casefold())) for each in (crumb.rstrip("…. "), product))
    return first == second or (len(first) * 10 >= len(second) * 6 and second.startswith(first))


def _position(step: Item) -> int:
    text = step.text("position") or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0


def _step_name(step: Item) -> str | None:
    own = step.text("name")
    if own and "://" not in own:
        return own
    inner = next((text for each in step.items("item") for text, _ in each.texts("name")), None)
    return inner if inner and "://" not in inner else None


def clean_field(field: str, text: str) -> str:
    if field == "description" and "<" in text:
        text = TAG.sub(" ", text[: LONGEST["description"] * 4])
    if "&" in text:
        text = unescape(text)
    return " ".join(sanitize_text(text).split())[: LONGEST[field]]


def absolute(base_url: str, href: str | None) -> str | None:
    if not href or len(href) > 2000:
        return None
    try:
        joined = join_url(base_url, href.strip())
    except ValueError:
        return None
    return joined if joined.startswith(("http://", "https://")) else None
