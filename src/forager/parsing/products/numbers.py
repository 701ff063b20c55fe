"""Parses ratings to one scale, counts with separators, and article numbers with check digits."""

import re
from decimal import Decimal, InvalidOperation

from forager.parsing.products.money import normalize_text

NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
OUT_OF = re.compile(
    r"(\d+(?:[.,]\d+)?)\s*(?:/|out of|von|sur|de|su|of|van|z|из|av|af|/|out|de un total de|üzerinden|件中)\s*(\d+)",
    re.IGNORECASE,
)
OUT_OF_JAPANESE = re.compile(r"(\d+)つ星のうち\s*(\d+(?:[.,]\d+)?)")
COUNT = re.compile(r"\d[\d.,' ]*")
SCALES = (Decimal(5), Decimal(10), Decimal(100))
LONGEST_TEXT = 120
MOST_REVIEWS = 2**31 - 1
GTIN_LENGTHS = frozenset({8, 12, 13, 14})
NO_DIGIT = re.compile(r"[\s\-.]")


def parse_rating(text: str, best: str | None = None) -> Decimal | None:
    """Returns the rating on a scale of 0 to 5. Without a declared maximum, the smallest usual scale that fits is
    assumed."""
    text = normalize_text(text[:LONGEST_TEXT])
    if (japanese := OUT_OF_JAPANESE.search(text)) is not None:
        return _scale_value(japanese.group(2), japanese.group(1))
    if (pair := OUT_OF.search(text)) is not None:
        return _scale_value(pair.group(1), pair.group(2))
    found = NUMBER.search(text)
    if found is None:
        return None
    top = NUMBER.search(normalize_text(best[:LONGEST_TEXT])) if best else None
    return _scale_value(found.group(), "100" if "%" in text else top.group() if top else None)


def _scale_value(value: str, best: str | None) -> Decimal | None:
    try:
        number = Decimal(value.replace(",", "."))
        top = Decimal(best.replace(",", ".")) if best else None
    except InvalidOperation:
        return None
    if top is None or top < number or top < 1:
        top = next((scale for scale in SCALES if number <= scale), None)
    if top is None or number < 0:
        return None
    return (number * 5 / top).quantize(Decimal("0.01"))


def read_count(text: str) -> int | None:
    """Parses a count: `1,234 ratings`, `(1.234)`, `2 345`, `1.2k`."""
    text = normalize_text(text[:LONGEST_TEXT])
    found = COUNT.search(text)
    if found is None:
        return None
    number, after = found.group().strip(" .,'"), text[found.end() : found.end() + 2].strip().lower()
    if after[:1] in {"k", "т"} or after[:1] == "万":
        try:
            return int(Decimal(number.replace(",", ".")) * (10_000 if after[:1] == "万" else 1000))
        except InvalidOperation:
            return None
    if re.fullmatch(r"\d+[.,]0+", number) and len(number.rpartition("." if "." in number else ",")[2]) != 3:
        number = number[: number.find("." if "." in number else ",")]
    digits = re.sub(r"\D", "", number)
    return int(digits) if digits and len(digits) <= 10 and int(digits) <= MOST_REVIEWS else None


def read_gtin(text: str) -> str | None:
    """Returns the digits if the check digit is valid; an ISBN-10 becomes an ISBN-13."""
    digits = NO_DIGIT.sub("", text.rpartition(":")[2][:40]).strip().upper()
    if len(digits) == 10 and digits[:9].isascii() and digits[:9].isdigit():
        return _from_isbn10(digits)
    if len(digits) not in GTIN_LENGTHS or not (digits.isascii() and digits.isdigit()) or not digits.strip("0"):
        return None
    return digits if _check_digit(digits[:-1]) == digits[-1] else None


def _check_digit(body: str) -> str:
    total = sum(int(digit) * (3 if at % 2 == 0 else 1) for at, digit in enumerate(reversed(body)))
    return str(-total % 10)


def _from_isbn10(digits: str) -> str | None:
    total = sum(
        (10 - at) * (10 if digit == "X" else int(digit))
        for at, digit in enumerate(digits)
        if digit.isdigit() or digit == "X"
    )
    if total % 11 or not (digits[9].isdigit() or digits[9] == "X"):
        return None
    body = "978" + digits[:9]
    return body + _check_digit(body)
