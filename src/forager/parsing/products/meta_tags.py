"""Converts OpenGraph and similar tags in the head of a page to claims."""

from collections.abc import Iterator

from forager.parsing.products.claims import Claim
from forager.parsing.products.currency import read_currency
from forager.parsing.products.detect import PRICES
from forager.parsing.products.item_fields import SURE, absolute, clean_field
from forager.parsing.products.money import parse_amount, read_money
from forager.parsing.products.numbers import read_gtin
from forager.parsing.products.stock import read_availability
from forager.parsing.products.view import View

CURRENCIES = (
    *("product:sale_price:currency", "product:price:currency", "og:price:currency", "product:currency"),
    *("etsymarketplace:currency_code", "og:product:price:currency", "og:currency"),
)
AVAILABILITIES = ("product:availability", "og:availability", "og:product:availability")
BRANDS = ("product:brand", "og:brand", "og:product:brand")
NUMBERS = ("product:retailer_item_id", "product:retailer_part_no")
REGULAR = ("product:original_price:amount", "og:standard_price:amount", "product:regular_price:amount")
GTINS = (
    "product:ean",
    "product:gtin",
    "product:upc",
    "product:isbn",
    "product:gtin13",
    "og:ean",
    "og:upc",
    "book:isbn",
)
TITLES = ("og:title", "twitter:title")
SEPARATORS = (" | ", " – ", " — ", " · ", " :: ", " • ", " - ", " « ", " » ", "｜", "：")
LONGEST_LABEL = 30


def claims_of_metas(view: View) -> Iterator[Claim]:
    head, sure = view.head, SURE["meta"]
    currency, currency_at = None, ""
    for name in CURRENCIES:
        if (text := head.meta(name)) and (found := read_currency(text, view.place)):
            currency, currency_at = found.code, f"meta {name}"
            break
    yield from _price(view, currency, sure)
    if currency:
        yield Claim("currency", currency, sure, currency_at)
    for name in AVAILABILITIES:
        if (text := head.meta(name)) and (state := read_availability(text)):
            yield Claim("availability", str(state), sure, f"meta {name}")
            break
    for field, names in (
        ("brand", BRANDS),
        ("sku", NUMBERS),
        ("mpn", ("product:mfr_part_no",)),
        ("category", ("product:category",)),
    ):
        for name in names:
            if (text := head.meta(name)) and "://" not in text:
                yield Claim(field, clean_field(field, text), sure * 0.9, f"meta {name}")
                break
    for name in GTINS:
        if (text := head.meta(name)) and (gtin := read_gtin(text)):
            yield Claim("gtin", gtin, sure, f"meta {name}")
            break


def claims_for_any_page(view: View) -> Iterator[Claim]:
    """Yields claims from tags that pages of every kind have: used once a page is known to be a product's."""
    head = view.head
    for name in TITLES:
        if title := head.meta(name):
            yield Claim(
                "name", clean_field("name", without_site(title, head.meta("og:site_name"))), 0.7, f"meta {name}"
            )
            break
    for name in ("og:description", "description", "twitter:description"):
        if text := head.meta(name):
            yield Claim("description", clean_field("description", text), 0.6, f"meta {name}")
            break
    images = [found for text in head.metas.get("og:image", [])[:20] if (found := absolute(view.base_url, text))]
    if images:
        yield Claim("image_urls", tuple(dict.fromkeys(images)), 0.7, "meta og:image")


def without_site(title: str, site: str | None) -> str:
    """Returns the title without the shop's name: `Blue kettle | Copper & Oak`."""
    if not site:
        return title
    for separator in SEPARATORS:
        first, mark, last = title.rpartition(separator)
        if mark and last.strip().casefold() == site.strip().casefold() and first.strip():
            return first.strip()
    return title


def _price(view: View, currency: str | None, sure: float) -> Iterator[Claim]:
    place = view.place._replace(currency=currency)
    for name in PRICES:
        text = view.head.meta(name)
        if not text:
            continue
        is_number = text.strip().replace(".", "").replace(",", "").isdigit()
        money = None if is_number else read_money(text, place)
        amount = parse_amount(text, place, currency, is_machine=True) if is_number else money and money.amount
        if amount is not None:
            yield Claim("price", amount, sure, f"meta {name}")
            regular = parse_amount(view.head.meta(*REGULAR) or "", place, currency, is_machine=True)
            if regular is not None and regular > amount:
                yield Claim("regular_price", regular, sure, f"meta {REGULAR[0]}")
            if money and money.currency and not currency:
                yield Claim("currency", money.currency, sure * money.confidence, f"meta {name}")
            return
    for number in ("1", "2"):
        label, text = view.head.meta(f"twitter:label{number}"), view.head.meta(f"twitter:data{number}")
        if (
            label
            and text
            and label.strip().lower()[:LONGEST_LABEL] in {"price", "preis", "prix", "precio", "prezzo", "cena"}
        ):
            money = read_money(text, place)
            if money:
                yield Claim("price", money.amount, 0.6, f"meta twitter:data{number}")
                if money.currency:
                    yield Claim("currency", money.currency, 0.6 * money.confidence, f"meta twitter:data{number}")
