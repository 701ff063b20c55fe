"""Is what was read what the truth says? Comparison of single values, as public benchmarks of extraction do it.

Spelling that changes nothing (case, spaces, quotation marks, `http` or `https`) is no mistake; everything else is.
"""

import html
import re
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin, urlsplit

from forager.errors import BadUrlError
from forager.parsing.models import Reading
from forager.urls.normalize import normalize

QUOTES = str.maketrans("\u2018\u2019\u201c\u201d\u2013\u2014\u00a0", "''\"\"-- ")
BY = re.compile(r"(?:written by|by|par|von|por|di|da|door|av|od|от)\b:?\s+", re.IGNORECASE)
SEPARATORS = re.compile(r"[\s/.\-_]+")
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
"""A run of letters, or one character of a script without spaces."""
SHINGLE = 4
BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "br",
        "dd",
        "div",
        "dl",
        "dt",
        "figcaption",
        "figure",
        "footer",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "nav",
        "ol",
        "option",
        "p",
        "pre",
        "section",
        "table",
        "td",
        "th",
        "tr",
        "ul",
    ]
)
UNSEEN = frozenset({"script", "style", "template"})
DOLLARS = frozenset(["USD", "CAD", "AUD", "NZD", "TWD", "HKD", "SGD", "CLP", "MXN", "ARS", "COP", "BRL", "JMD"])
SIGNS = {
    "$": DOLLARS,
    "€": frozenset({"EUR"}),
    "£": frozenset({"GBP"}),
    "₹": frozenset({"INR"}),
    "Rs": frozenset({"PKR", "INR", "LKR", "NPR"}),
    "원~": frozenset({"KRW"}),
}
"""What the truth writes for a currency → what it may mean."""
SELLS = frozenset({"in_stock", "limited", "preorder", "backorder", "in_store_only"})


def same_text(found: str, accepted: Collection[str]) -> bool:
    return _spell(found) in {_spell(value) for value in accepted}


def _spell(text: str) -> str:
    return " ".join(html.unescape(text).translate(QUOTES).casefold().split())


def same_person(found: str, accepted: Collection[str]) -> bool:
    """`By Jane Doe, 4 May` is right when `Jane Doe` is found: bylines of the truth have more than names."""
    words = _name(found)
    return any(_is_begun(words, _name(value)) for value in accepted)


def _name(byline: str) -> list[str]:
    spelled = _spell(byline)
    return WORD.findall(spelled[before.end() :] if (before := BY.match(spelled)) else spelled)


def _is_begun(words: list[str], wanted: list[str]) -> bool:
    return bool(words) and (words == wanted or (len(words) > 1 and words == wanted[: len(words)]))


def same_code(found: str, accepted: Collection[str]) -> bool:
    """`123/123` is `123123`, as product-extraction-benchmark has it."""
    return SEPARATORS.sub("", found).casefold() in {SEPARATORS.sub("", value).casefold() for value in accepted}


def same_gtin(found: str, accepted: Collection[str]) -> bool:
    return found.strip().lstrip("0") in {value.strip().lstrip("0") for value in accepted}


def same_number(found: Decimal, accepted: Collection[str]) -> bool:
    return any(_number(value) == found for value in accepted)


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text.strip())
    except InvalidOperation:
        return None


def same_rating(found: Decimal, accepted: Collection[str]) -> bool:
    """To two places, as the truth has it."""
    return any((value := _number(text)) is not None and abs(value - found) <= Decimal("0.0051") for text in accepted)


def same_currency(found: str, accepted: Collection[str]) -> bool:
    return any(found in SIGNS.get(value, {value}) for value in accepted)


def same_state(found: str, accepted: Collection[str]) -> bool:
    return ("InStock" if found in SELLS else "OutOfStock") in accepted


def same_language(found: str, accepted: Collection[str]) -> bool:
    """Whether `en-GB` or `en-US` matters less than whether it is English."""
    return _primary(found) in {_primary(value) for value in accepted}


def _primary(tag: str) -> str:
    return tag.replace("_", "-").partition("-")[0].casefold()


def same_day(found: date, accepted: Collection[str]) -> bool:
    return found in {datetime.fromisoformat(value.strip()).date() for value in accepted}


def same_url(found: str, accepted: Collection[str]) -> bool:
    return _place(found) in {_place(value) for value in accepted}


def _place(url: str) -> str:
    with suppress(BadUrlError):
        url = normalize(url)
    return url.partition("://")[2].removeprefix("www.").rstrip("/")


def same_image(found: str, accepted: Collection[str]) -> bool:
    """The same file: what a query asks of it (size, quality) makes no other picture."""
    return _file(found) in {_file(value) for value in accepted}


def _file(url: str) -> str:
    parts = urlsplit(html.unescape(url.strip()))
    place = f"{parts.netloc.removeprefix('www.')}{unquote(parts.path)}"
    return place if "." in parts.path.rpartition("/")[2] else f"{place}?{parts.query}"


def primary_image(reading: Reading) -> str | None:
    first = next((image.src for image in reading.images if image.image_type == "primary"), None)
    return urljoin(reading.base_url, first) if first else None


def published_day(reading: Reading) -> date | None:
    """The page's own day; where it has none, that of the moment in UTC."""
    return reading.published_on or (reading.published_at.date() if reading.published_at else None)


def text_scores(found: str, expected: str) -> tuple[float, float]:
    """F1 over words and over shingles of four, each as multisets."""
    got, wanted = WORD.findall(found.casefold()), WORD.findall(expected.casefold())
    return _f1(Counter(got), Counter(wanted)), _f1(_shingles(got), _shingles(wanted))


def _shingles(words: list[str]) -> Counter[tuple[str, ...]]:
    size = min(SHINGLE, len(words)) or 1
    return Counter(tuple(words[start : start + size]) for start in range(len(words) - size + 1))


def _f1(found: Counter[str] | Counter[tuple[str, ...]], wanted: Counter[str] | Counter[tuple[str, ...]]) -> float:
    common = sum((found & wanted).values())  # type: ignore[operator]
    return 2 * common / (found.total() + wanted.total()) if common else 0.0


class _Text(HTMLParser):
    """The words of a fragment; blocks part words, other elements do not."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in UNSEEN
        if tag in BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._unseen = max(self._unseen - (tag in UNSEEN), 0)
        if tag in BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.parts.append(data)


def text_of(fragment: str) -> str:
    parser = _Text()
    parser.feed(fragment)
    parser.close()
    return "".join(parser.parts)
