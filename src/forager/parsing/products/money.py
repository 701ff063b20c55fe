"""Parses a price as shops write it into amount and currency. Pure, linear, never raises.

`1.234,56 €`, `$1,234.56`, `1 234,56`, `1'234.50 CHF`, `¥1,234`, `₹1,23,456.00`, `1.299,-`, `9–12 €`, `12€99`.
"""

import re
import unicodedata
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from forager.parsing.products.currency import (
    CODES,
    GUESSED,
    SHARED,
    SIGN,
    THREE_DECIMALS,
    WITHOUT_DECIMALS,
    WORDS,
    Currency,
    PageLocale,
    resolve_sign,
)

LONGEST_TEXT = 200
MOST_DIGITS = 24
HIGHEST = Decimal(10) ** 13
ANYWHERE = PageLocale()
SPACES = {ord(space): " " for space in "\u00a0\u2007\u2008\u2009\u200a\u202f\u205f\u3000\t\n\r\f\v"}
SIGNS = SPACES | {
    **{ord(mark): None for mark in "\u200b\u200c\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2069\ufeff\u00ad"},
    **{ord(mark): "'" for mark in "’‘`´′"},
    **{ord(dash): "-" for dash in "–—−‐‑‒―"},
    ord("٫"): ".",
    ord("٬"): ",",
    ord("،"): ",",
    ord("。"): ".",
}
NUMBER = re.compile(r"\d+(?:(?<=\d)[ ]\d{3}(?!\d))*(?:[.,']\d+)*")
SPLIT_CENTS = re.compile(r"(?<![\d.,])(\d{1,6}) ?([€£$]|kr|zł) ?(\d{2})(?!\d|[.,]\d| ?%)", re.IGNORECASE)
APART_CENTS = re.compile(
    r"(?<![\d.,])(\d{1,3}(?:[.,' ]\d{3})*)[.,]? (\d{2})(?= ?(?:[€£$₺]|kr\b|zł|kč|tl\b|eur\b|lei\b|$))", re.IGNORECASE
)
BARE_CENTS = re.compile(r"(?<![\d.,\w])([.,]\d{2})(?=\s?(?:[€£$¢]|eur\b|usd\b)|$)", re.IGNORECASE)
"""`.75 €`"""
RANGE = re.compile(
    r"^\D{0,12}?(?:-|~|から|至|(?<![^\W\d_])(?:to|bis|à|au|a|al|até|hasta|do|tot|til|till|ile|до)(?![^\W\d_]))\D{0,12}$",
    re.IGNORECASE,
)
PER_UNIT = re.compile(
    r"[^\d/]{0,8}(?:/|per|pro|par|por|je|za|la)\s?(?:\d{1,4}\s?)?(?:kg|g|l|ml|cl|m|m2|m²|st|stk|pc|unit|liter|litre|"
    r"oz|lb|mo|month|monat|mois|mes|mese)\b",
    re.I,
)
_DIGITS = r"\d[\d.,']*(?: \d{3}(?!\d))*"
_AMOUNT = (
    rf"(?:(?:[A-Z]{{0,2}}[$€£¥₹]|\bkr\.?|\b(?-i:[A-Z]{{3}})) ?{_DIGITS}"
    rf"|{_DIGITS} ?(?:[$€£¥₹]|kr\b|zł|kč|(?-i:[A-Z]{{3}})\b))"
)
NOT_PAID = re.compile(
    r"\b(?:sav(?:e|ed|es|ings?)|spare?n?|ersparnis|économi(?:e|es|sez)|ahorr[ao]s?|risparmi[ao]?|bespaar|oszczędzasz|ušetříte)"
    rf"\b(?: up to| bis zu| jusqu'à)?[: ]*{_AMOUNT}"
    r"|\b(?:free|gratis|kostenloser?|offerte|gratuite?) (?:shipping|delivery|versand|lieferung)\D{0,20}"
    rf"\b(?:over|above|from|ab|of) {_AMOUNT}"
    rf"|\b(?:livraison (?:offerte|gratuite)|envío gratis|spedizione gratuita)\D{{0,20}}\b(?:dès|de|desde|da) {_AMOUNT}"
    rf"|(?<!free )\b(?:shipping|delivery|versand(?:kosten)?|livraison|envío|spedizione|frete)"
    rf"(?: costs?| from| ab| fee)?[: ]+{_AMOUNT}"
    r"|\b\d{1,2} (?:[\w-]+ ){0,3}?(?:payments?|instal?lments?|monatsraten|raten|mensualités|cuotas|parcelas|rate)"
    rf"(?: of| zu| à| de| da)? {_AMOUNT}|\b\d{{1,2}} ?x (?:de|of) {_AMOUNT}"
    rf"|\b(?:was|statt|instead of|au lieu de|invece di|en lugar de)[: ]+{_AMOUNT}",
    re.IGNORECASE,
)
"""Amounts labelled as something other than the price: savings, shipping, an instalment, a former price."""
FORMER = re.compile(rf"\b(?:(?:regular|list|original|old) price|rrp|msrp|uvp)[: ]+{_AMOUNT}", re.IGNORECASE)
"""Used as the price if there is no other."""
MINUS = re.compile(r"-[$€£¥₹]$")
BETWEEN = 16
"""Maximum characters between a currency and its number."""
CLOSE = 2


class Money(NamedTuple):
    amount: Decimal
    currency: str | None = None
    confidence: float = 1.0
    """Confidence of the currency, lower if the number itself is ambiguous."""
    highest: Decimal | None = None
    """Upper end of a range."""
    is_per_unit: bool = False
    """Whether the price is per kilogram, litre or month."""


def read_visible_price(text: str, place: PageLocale = ANYWHERE) -> Money | None:
    """Returns the price in a text that may also contain savings, shipping costs and a former price."""
    text = normalize_text(text)
    if NUMBER.search(text) is None:
        return None
    if text.upper() == text.lower():  # only a number and signs
        return read_money(text, place)
    text = NOT_PAID.sub(" ", text)
    money = read_money(text, place)
    if money is not None and money.currency and FORMER.search(text):
        rest = read_money(FORMER.sub(" ", text), place)
        return rest if rest is not None and rest.currency else money
    return money


def read_money(text: str, place: PageLocale = ANYWHERE) -> Money | None:
    """Returns the first price of a short text; numbers with a currency take precedence over numbers without one."""
    text = normalize_text(text)
    text = SPLIT_CENTS.sub(r"\2 \1.\3", text)
    text = APART_CENTS.sub(r"\1,\2" if "." in text.partition(",")[0] else r"\1.\2", text)
    text = BARE_CENTS.sub(r"0\1", text)
    numbers: list[re.Match[str]] = []
    refused: list[re.Match[str]] = []
    for found in NUMBER.finditer(text):
        (refused if _is_no_price(text, found) else numbers).append(found)
    if not numbers:
        return None
    signs = _free_signs(_signs(text, place), numbers, refused, text)
    paired = [(found, sign) for found in numbers if (sign := _find_near_currency(found, signs, text)) is not None]
    whole = [(found, sign) for found, sign in paired if not PER_UNIT.match(text, found.end())]
    close = [pair for pair in whole if _find_near_currency(pair[0], signs, text, CLOSE) is not None]
    best: tuple[re.Match[str], Currency | None] = (close or whole or paired)[0] if paired else (numbers[0], None)
    found, sign = best
    code = sign.code if sign else None
    is_per_unit = PER_UNIT.match(text, found.end()) is not None
    found = _range_start(text, found, numbers)
    amount = parse_amount(found.group(), place, code or place.currency)
    if amount is None:
        return None
    highest = _range_end(text, found, numbers, place, code)
    return Money(amount, code, sign.confidence if sign else GUESSED, highest, is_per_unit)


def parse_amount(
    text: str, place: PageLocale = ANYWHERE, code: str | None = None, *, is_machine: bool = False
) -> Decimal | None:
    """Returns a number without its currency. `is_machine`: machine-readable, with a decimal point."""
    text = normalize_text(text)
    digits = sum(map(str.isdigit, text))
    found = NUMBER.search(text)
    if not found or digits > MOST_DIGITS or text[: found.start()].endswith("-"):
        return None
    try:
        amount = Decimal(_plain(found.group(), place, code, is_machine=is_machine))
    except InvalidOperation:
        return None
    return amount if amount <= HIGHEST else None


def normalize_text(text: str) -> str:
    """Normalises digits, spaces, dashes and apostrophes of all scripts."""
    text = text[:LONGEST_TEXT]
    if not text.isascii():
        text = text.translate(SIGNS)
        if not text.isascii():
            text = "".join(map(_to_ascii_digit, unicodedata.normalize("NFKC", text).translate(SIGNS)))
    return " ".join(text.split())


def _to_ascii_digit(character: str) -> str:
    return str(unicodedata.digit(character)) if character.isdigit() and not character.isascii() else character


def _plain(number: str, place: PageLocale, code: str | None, *, is_machine: bool) -> str:
    """Returns the number with a decimal point and no other separators."""
    number = (
        number.replace(" ", "").replace("'", "") if not _is_apostrophe_decimal(number) else number.replace("'", ".")
    )
    point, comma = number.rfind("."), number.rfind(",")
    if point >= 0 and comma >= 0:
        decimal, other = (".", ",") if point > comma else (",", ".")
        if number.count(decimal) > 1:
            return number.replace(".", "").replace(",", "")
        return number.replace(other, "").replace(decimal, ".")
    sign = "." if point >= 0 else ","
    if sign not in number:
        return number
    if number.count(sign) > 1:
        return number.replace(sign, "")
    whole, _, rest = number.partition(sign)
    if len(rest) == 3 and _is_thousands_separator(whole, sign, place, code, is_machine=is_machine):
        return whole + rest
    return f"{whole}.{rest}"


def _is_apostrophe_decimal(number: str) -> bool:
    return (
        number.count("'") == 1 and len(number.partition("'")[2]) in {1, 2} and "." not in number and "," not in number
    )


def _is_thousands_separator(whole: str, sign: str, place: PageLocale, code: str | None, *, is_machine: bool) -> bool:
    """Whether the separator of `1.234` or `1,234` is a thousands separator."""
    if whole.startswith("0") or len(whole) > 3:
        return False
    if code in THREE_DECIMALS:
        return sign == "," and code != "TND"
    if is_machine and sign == ".":
        return code in WITHOUT_DECIMALS or (place.is_comma_decimal and code not in {"USD", "GBP"})
    return True


def _is_no_price(text: str, found: re.Match[str]) -> bool:
    """Whether the number is a discount, a quantity, part of a word such as `A4`, negative, or absurdly long."""
    after = text[found.end() : found.end() + 3].lstrip()
    before = text[: found.start()]
    if after.startswith("%") or len(found.group()) > MOST_DIGITS + 10 or before.endswith("%"):
        return True
    if MINUS.match(before):
        return True
    if before.endswith("-") and not before[:-1].rstrip()[-1:].isdigit():
        return True
    return bool(before) and before[-1].isalpha() and before[-1].isascii() and _word_before(before) not in _NAMES


def _word_before(before: str) -> str:
    at = len(before)
    while at and before[at - 1].isalpha():
        at -= 1
    return before[at:].lower()


_NAMES = frozenset({*WORDS, *SHARED, *(code.lower() for code in CODES), "from", "ab", "desde"})


def _signs(text: str, place: PageLocale) -> list[tuple[int, int, Currency]]:
    found: list[tuple[int, int, Currency]] = []
    small = text.lower()
    if len(small) != len(text):
        return found
    for match in SIGN.finditer(small):
        word = match.group()
        if word in WORDS:
            currency: Currency | None = Currency(WORDS[word], 1.0)
        elif word in SHARED:
            currency = resolve_sign(word, place)
        else:
            code = text[match.start() : match.end()]
            currency = Currency(code, 1.0) if code.isupper() and code in CODES else None
        if currency:
            found.append((match.start(), match.end(), currency))
    return found


def _free_signs(
    signs: list[tuple[int, int, Currency]], numbers: list[re.Match[str]], refused: list[re.Match[str]], text: str
) -> list[tuple[int, int, Currency]]:
    """Returns the currencies, without those of numbers that are not prices: the sign of `-5 €` does not apply to the
    next number."""
    owners = [each for each in refused if not text.startswith(("%", " %"), each.end())]
    if not owners:
        return signs

    def distance(sign: tuple[int, int, Currency], found: re.Match[str]) -> int:
        return sign[0] - found.end() if sign[0] >= found.end() else found.start() - sign[1]

    return [
        sign
        for sign in signs
        if min(distance(sign, each) for each in numbers) <= min(distance(sign, each) for each in owners)
    ]


def _find_near_currency(
    number: re.Match[str], signs: list[tuple[int, int, Currency]], text: str, between: int = 0
) -> Currency | None:
    best, best_distance = None, (between or BETWEEN) + 1
    for start, end, currency in signs:
        gap = text[number.end() : start] if start >= number.end() else text[end : number.start()]
        if any(map(str.isdigit, gap)):
            continue
        if currency.confidence < currency_confidence(best) and len(gap) >= best_distance - 1:
            continue
        if len(gap) < best_distance or (
            len(gap) <= (between or BETWEEN) and currency.confidence > currency_confidence(best)
        ):
            best, best_distance = currency, len(gap)
    if best is None and text[number.end() : number.end() + 2] == ",-":
        return resolve_sign(",-", ANYWHERE)
    return best


def currency_confidence(currency: Currency | None) -> float:
    return currency.confidence if currency else 0.0


def _range_start(text: str, found: re.Match[str], numbers: list[re.Match[str]]) -> re.Match[str]:
    """Returns the first number of a range such as `9.99 - 19.99 USD`, although the second is nearer to the currency."""
    at = numbers.index(found)
    return numbers[at - 1] if at and RANGE.match(text[numbers[at - 1].end() : found.start()]) else found


def _range_end(
    text: str, found: re.Match[str], numbers: list[re.Match[str]], place: PageLocale, code: str | None
) -> Decimal | None:
    at = numbers.index(found)
    if at + 1 >= len(numbers) or not RANGE.match(text[found.end() : numbers[at + 1].start()]):
        return None
    low, high = (parse_amount(each.group(), place, code) for each in (found, numbers[at + 1]))
    return high if low is not None and high is not None and high > low else None
