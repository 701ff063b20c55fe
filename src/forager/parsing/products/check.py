"""Lists the problems of an extracted product by name. Each has one line in `docs/how-to/products.md`."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from forager.parsing.products.currency import CODES

HIGHEST_PRICE = Decimal(10) ** 12


def list_problems(facts: Mapping[str, Any], unreadable: set[str]) -> tuple[str, ...]:
    """Returns the problems. `unreadable` are fields that the page contains in a form that cannot be parsed."""
    return tuple(dict.fromkeys(_problems(facts, unreadable)))


def _problems(facts: Mapping[str, Any], unreadable: set[str]) -> Iterator[str]:
    if not facts.get("name"):
        yield "no_name"
    price, currency, rating = facts.get("price"), facts.get("currency"), facts.get("rating")
    if price is None:
        yield "bad_price" if "!price" in unreadable else "no_price"
    elif price == 0:
        yield "price_zero"
    elif not 0 < price <= HIGHEST_PRICE:
        yield "price_out_of_range"
    if price is not None and currency is None:
        yield "bad_currency" if "!currency" in unreadable else "no_currency"
    elif currency is not None and currency not in CODES:
        yield "bad_currency"
    if rating is not None and not 0 <= rating <= 5:
        yield "rating_out_of_range"
    if rating is None and "!rating" in unreadable:
        yield "bad_rating"
    if "!gtin" in unreadable and not facts.get("gtin"):
        yield "bad_gtin"
    if facts.get("availability") is None:
        yield "no_availability"
