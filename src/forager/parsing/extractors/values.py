"""Converts what a source found to the type of its field: numbers, amounts and days as the page's language writes them.

Pure. None means that the text is not a value of this type.
"""

import re
from datetime import UTC, date, time
from decimal import Decimal
from typing import Any, NamedTuple

from ada_url import join_url

from forager.parsing.dates import PageDate, parse_datetime
from forager.parsing.products.currency import PageLocale
from forager.parsing.products.money import normalize_text, parse_amount, read_visible_price
from forager.parsing.structured.items import sanitize_text

LONGEST_TEXT = 10_000
LONGEST_URL = 2_000
NEGATIVE = re.compile(r"^\s*[-−–](?=\s?\d)")
SLASHED = re.compile(r"(?<!\d)(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?!\d)")
MONTH_FIRST = frozenset({"us", "ph", "bz"})
SHORTENED = re.compile(r"(\d(?:[\d.,]*\d)?)\s?(k|m|tsd|mio|mn|million|thousand)\b", re.IGNORECASE)
SCALES = {"k": 1_000, "tsd": 1_000, "thousand": 1_000, "m": 10**6, "mio": 10**6, "mn": 10**6, "million": 10**6}
FALSE = frozenset({"", "0", "false", "no", "off", "none", "null", "nein", "non", "nee", "nej", "não", "нет", "いいえ"})
LINKED = ("url", "@id", "href", "contentUrl", "src")
NAMED = ("name", "@value", "text", "value", "title", "headline", "url", "@id")
PLAIN_MONEY = ("price", "lowPrice", "amount", "value", "minPrice")
CURRENCY = ("priceCurrency", "currency", "currencyCode")


class Context(NamedTuple):
    """What the page says about how its values are written."""

    base_url: str
    place: PageLocale


def convert(kind: str, raw: Any, context: Context) -> Any:
    """Returns the value as JSON can hold it; None if it is not of this kind."""
    match kind:
        case "number":
            return read_number(raw, context)
        case "money":
            return read_amount(raw, context)
        case "date":
            return read_day(raw, context)
        case "url" | "image":
            return read_url(raw, context)
        case "flag":
            return read_flag(raw)
        case _:
            return text_of(raw) or None


def text_of(raw: Any) -> str:
    """Returns a value of a page on one line; of an object its name."""
    if isinstance(raw, dict):
        return next((text for name in NAMED if name in raw and (text := text_of(raw[name]))), "")
    if isinstance(raw, list):
        return ", ".join(text for each in raw if (text := text_of(each)))[:LONGEST_TEXT]
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if raw is None:
        return ""
    return " ".join(sanitize_text(str(raw)[: LONGEST_TEXT * 4]).split())[:LONGEST_TEXT]


def read_number(raw: Any, context: Context) -> int | float | None:
    if isinstance(raw, bool):
        return None
    if isinstance(raw, int | float | Decimal):
        return _plain(Decimal(str(raw)))
    text = text_of(raw)
    if shortened := SHORTENED.search(text):
        amount = parse_amount(shortened[1], context.place)
        return None if amount is None else _plain(amount * SCALES[shortened[2].lower()])
    normal = normalize_text(text)
    is_negative = NEGATIVE.match(normal) is not None
    amount = parse_amount(NEGATIVE.sub("", normal), context.place)
    if amount is None:
        return None
    return _plain(-amount if is_negative else amount)


def _plain(amount: Decimal) -> int | float | None:
    if not amount.is_finite() or abs(amount) > Decimal(10) ** 18:
        return None
    return int(amount) if amount == amount.to_integral_value() else float(amount)


def read_amount(raw: Any, context: Context) -> dict[str, str | None] | None:
    """Returns `{"amount": "1299.00", "currency": "EUR"}`: amounts are text, so that no digit is lost."""
    if isinstance(raw, list):
        raw = raw[0] if raw else None
    if isinstance(raw, dict):
        return _object_amount(raw, context)
    if isinstance(raw, bool) or raw is None:
        return None
    if isinstance(raw, int | float | Decimal):
        amount = Decimal(str(raw))
        return _money(amount, context.place.currency) if amount.is_finite() else None
    money = read_visible_price(text_of(raw), context.place)
    return None if money is None else _money(money.amount, money.currency or context.place.currency)


def _object_amount(given: dict[str, Any], context: Context) -> dict[str, str | None] | None:
    """Reads an offer, or a price with its currency, of structured data."""
    price = next((given[name] for name in PLAIN_MONEY if given.get(name) not in {None, ""}), None)
    currency = next((text_of(given[name]) for name in CURRENCY if given.get(name)), None) or context.place.currency
    found = parse_amount(text_of(price), context.place, currency, is_machine=True) if price is not None else None
    return None if found is None else _money(found, currency)


def _money(amount: Decimal, currency: str | None) -> dict[str, str | None]:
    return {"amount": f"{amount:f}", "currency": currency}


def read_day(raw: Any, context: Context) -> str | None:
    """Returns `2024-03-12`, or a moment in UTC if the page states a time."""
    text = text_of(raw)
    if not text:
        return None
    moment = parse_datetime(text)
    if moment is not None and not _is_slashed(text):
        return _iso(moment)
    if found := SLASHED.search(text):
        return _from_numbers(found, context.place)
    return _iso(moment) if moment is not None else None


def _is_slashed(text: str) -> bool:
    return SLASHED.search(text) is not None and SLASHED.search(text)[2] == "/"  # type: ignore[index]


def _iso(moment: PageDate) -> str:
    if moment.at.time() == time(0) and moment.at.date() == moment.on:
        return moment.on.isoformat()
    return moment.at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _from_numbers(found: re.Match[str], place: PageLocale) -> str | None:
    """Reads `03/04/2024` as the page's country writes it: the month comes first in the United States."""
    first, second, year = int(found[1]), int(found[3]), int(found[4])
    year += 2000 if year < 70 else 1900 if year < 100 else 0
    is_month_first = found[2] != "." and (
        place.country in MONTH_FIRST or (not place.country and place.language == "en")
    )
    day, month = (second, first) if (is_month_first and first <= 12) or second > 12 else (first, second)
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def read_url(raw: Any, context: Context) -> str | None:
    """Returns the absolute URL of a link or an image."""
    if isinstance(raw, list):
        raw = raw[0] if raw else None
    if isinstance(raw, dict):
        raw = next((raw[name] for name in LINKED if raw.get(name)), None)
        return read_url(raw, context) if isinstance(raw, str | list) else None
    text = text_of(raw).replace(" ", "%20")
    if not text or len(text) > LONGEST_URL:
        return None
    try:
        joined = join_url(context.base_url, text)
    except ValueError:
        return None
    return str(joined) if joined.startswith(("http://", "https://")) else None


def read_flag(raw: Any) -> bool:
    """Returns whether there is something that does not say no."""
    if isinstance(raw, bool):
        return raw
    return text_of(raw).lower() not in FALSE
