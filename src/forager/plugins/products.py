"""Turns what the hook `find_product` returns into a product."""

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from forager.parsing.products.claims import Claim
from forager.parsing.products.find import assemble
from forager.parsing.products.item_fields import MOST_IMAGES, absolute, clean_field
from forager.parsing.products.money import read_money
from forager.parsing.products.numbers import read_count, read_gtin
from forager.parsing.products.stock import Availability, read_availability
from forager.parsing.products.view import View
from forager.products.models import FACTS, Product

CONFIDENCE = 0.95
"""A plug-in was written for the site."""
WHERE = "plug-in"
TEXTS = frozenset({"name", "description", "brand", "category", "sku", "mpn", "seller"})
AMOUNTS = frozenset({"price", "regular_price", "unit_price", "shipping"})
AS_TEXT = frozenset({"unit", "condition", "currency"})


def read_product(result: Product | Mapping[str, Any] | None, view: View, name: str, version: int) -> Product | None:
    """Returns the product; raises TypeError or ValueError for fields that are not a product's."""
    if result is None or isinstance(result, Product):
        return result
    if not isinstance(result, Mapping):
        raise TypeError(f"find_product returned a {type(result).__name__}; it returns a dict, a Product or None")
    if unknown := [field for field in result if field not in FACTS]:
        raise ValueError(f"a product has no field {unknown[0]!r}; it has {', '.join(FACTS)}")
    claims = list(_claims({field: value for field, value in result.items() if value is not None}, view, name))
    return assemble(claims, name, version) if claims else None


def _claims(fields: Mapping[str, Any], view: View, name: str) -> Iterator[Claim]:
    where = f"{WHERE} {name}"
    for field, value in fields.items():
        for claimed, settled in _settle(field, value, view):
            yield Claim(claimed, settled, CONFIDENCE, where)


def _settle(field: str, value: Any, view: View) -> Iterator[tuple[str, Any]]:  # noqa: C901, PLR0912 (one case per kind)
    if field in TEXTS:
        yield field, clean_field(field, str(value))
    elif field in AMOUNTS:
        if isinstance(value, str) and (money := read_money(value, view.place)) is not None:
            yield field, money.amount
            if field == "price" and money.currency:
                yield "currency", money.currency
        else:
            yield field, _decimal(field, value)
    elif field == "rating":
        yield field, _decimal(field, value)
    elif field == "review_count":
        if (count := read_count(str(value))) is not None:
            yield field, count
    elif field == "availability":
        known = str(value) in set(Availability)
        state = str(value) if known else read_availability(str(value))
        if state is not None:
            yield field, str(state)
    elif field == "gtin":
        if (gtin := read_gtin(str(value))) is not None:
            yield field, gtin
    elif field == "image_urls":
        urls = [value] if isinstance(value, str) else list(value)
        found = [url for each in urls if (url := absolute(view.base_url, str(each)))]
        if found:
            yield field, tuple(dict.fromkeys(found))[:MOST_IMAGES]
    elif field == "attributes":
        if value:
            yield field, {clean_field("name", str(key)): clean_field("name", str(each)) for key, each in value.items()}
    elif field == "variants":
        if value:
            yield field, tuple(value)
    elif field in AS_TEXT:
        yield field, clean_field("name", str(value))


def _decimal(field: str, value: Any) -> Decimal:
    try:
        found = Decimal(str(value))
    except InvalidOperation:
        raise ValueError(f"{field} is {value!r}, which is not a number") from None
    if not found.is_finite():
        raise ValueError(f"{field} is not finite")
    return found
