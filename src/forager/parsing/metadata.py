"""Extracts site name, section, keywords and ratings of a page."""

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from html import unescape
from typing import NamedTuple

from forager.parsing.clean import collapse, fold_text
from forager.parsing.head import Head
from forager.parsing.structured import Item, StructuredData
from forager.parsing.structured.items import sanitize_text

LONGEST_NAME = 200
LONGEST_TAG = 100
MOST_WORDS = 5
"""Words of a site's name in a title."""
MOST_TAGS = 50
BEST_RATING = 5
MOST_RATED = 1_000_000_000

SITE_METAS = ("application-name", "apple-mobile-web-app-title", "dc.publisher", "al:ios:app_name")
ORGANIZATIONS = ("organization", "newsmediaorganization", "corporation", "onlinestore", "store", "brand")
SECTION_METAS = (
    "article:section",
    "og:article:section",
    "parsely-section",
    "sailthru.section",
    "cxenseparse:category",
    "section",
    "category",
)
TAG_METAS = (
    "article:tag",
    "og:article:tag",
    "news_keywords",
    "keywords",
    "parsely-tags",
    "sailthru.tags",
    "book:tag",
    "dc.subject",
)
SEPARATORS = re.compile(r"\s+[|\-–—•·:»«/]+\s+|\s*[|»«•·]\s*")


class Metadata(NamedTuple):
    site_name: str | None = None
    section: str | None = None
    tags: tuple[str, ...] = ()
    rating: Decimal | None = None
    """From 0 to 5."""
    rating_count: int | None = None


def find_metadata(head: Head, data: StructuredData, url: str) -> Metadata:
    items = data.items
    rating, count = find_rating(items)
    return Metadata(find_site_name(head, items, url), find_section(head, items), find_tags(head, items), rating, count)


# site name ------------------------------------------------------------------------------------------------------------


def find_site_name(head: Head, items: list[Item], url: str) -> str | None:
    """Returns the site name from structured data or metas; else the part of the title that matches the host name."""
    given = next((name for text in _site_names(head, items) if (name := _name(text))), None)
    return given or _name_of_title(head.title, url.split("/", 3)[2].rpartition("@")[2])


def _site_names(head: Head, items: list[Item]) -> Iterator[str | None]:
    graph = head.meta("og:site_name") if "og:site_name" in head.metas else None
    for item in items:
        if item.is_a("website"):
            name = item.text("name") or item.text("alternatename")
            yield graph if name and graph and name.startswith(graph) and SEPARATORS.search(name) else name
    yield graph
    for item in items:
        for whole in item.get("ispartof"):
            if isinstance(whole, Item) and whole.is_a("website"):
                yield whole.text("name")
    for item in items:
        if item.get("publisher"):
            yield item.text("publisher")
    for name in SITE_METAS:
        if name in head.metas:
            yield head.meta(name)
    for item in items:
        if item.is_a(*ORGANIZATIONS):
            yield item.text("name")


def _name(text: str | None) -> str | None:
    name = collapse(text, LONGEST_NAME)
    if name is None or name.startswith(("http://", "https://", "@", "{")):
        return None
    return sanitize_text(unescape(name) if "&" in name else name)


def _name_of_title(title: str | None, host: str) -> str | None:
    """Returns the last or first part of the title if the host contains its letters; else the last words that match the
    domain name."""
    if not title:
        return None
    letters, parts = fold_text(host.removeprefix("www.")), SEPARATORS.split(title)
    for part in (parts[-1], parts[0]) if len(parts) > 1 else ():
        for name in (part, part.partition(":")[0]):
            spelled = fold_text(name)
            if len(spelled) > 2 and (spelled in letters or letters.startswith(spelled)):
                return name.strip()
    labels = {fold_text(label) for label in host.split(".")[:-1] if len(label) > 3}
    words = parts[-1].split()
    for count in range(min(len(words), MOST_WORDS), 0, -1):
        if fold_text("".join(words[-count:])) in labels:
            return " ".join(words[-count:])
    return None


# section and keywords -------------------------------------------------------------------------------------------------


def find_section(head: Head, items: list[Item]) -> str | None:
    for name in SECTION_METAS:
        if name in head.metas and (given := _name(head.meta(name))):
            return given
    for item in items:
        if item.get("articlesection") and (given := _name(item.text("articlesection"))):
            return given
    return None


def find_tags(head: Head, items: list[Item]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for name in TAG_METAS:
        if name in head.metas:
            _take_tags(found, head.metas[name])
            if found:
                break
    for item in items:
        if values := item.get("keywords"):
            _take_tags(found, [text for value in values if (text := value if isinstance(value, str) else None)])
    return tuple(found.values())


def _take_tags(found: dict[str, str], texts: list[str]) -> None:
    for text in texts[:MOST_TAGS]:
        for each in text[: LONGEST_TAG * MOST_TAGS].split(",") if "," in text else text.split(";"):
            tag = collapse(each, LONGEST_TAG)
            if tag and len(found) < MOST_TAGS:
                found.setdefault(tag.lower(), sanitize_text(tag))


# ratings --------------------------------------------------------------------------------------------------------------


def find_rating(items: list[Item]) -> tuple[Decimal | None, int | None]:
    """Returns the rating of the first rated item, scaled to 5, and the number of ratings."""
    for item in items:
        ratings = [item] if item.is_a("aggregaterating") else item.get("aggregaterating")
        for rating in ratings:
            if not isinstance(rating, Item):
                continue
            value = _number(rating.text("ratingvalue"))
            if value is None:
                continue
            scaled = scale(value, _number(rating.text("bestrating")))
            if scaled is not None:
                return scaled, _count(rating)
    return None, None


def scale(value: Decimal, best: Decimal | None) -> Decimal | None:
    """Scales to 0–5; None if a rating exceeds the maximum."""
    best = best if best and best > 0 else None
    if best is None:
        best = Decimal(5) if value <= 5 else Decimal(10) if value <= 10 else Decimal(100)
    if not 0 < value <= best:
        return None
    return value if best == BEST_RATING else (value * BEST_RATING / best).quantize(Decimal("0.01"))


def _count(rating: Item) -> int | None:
    for name in ("ratingcount", "reviewcount"):
        number = _number(rating.text(name))
        if number is not None and 0 <= number < MOST_RATED:
            return int(number)
    return None


NUMBER = re.compile(r"-?\d{1,12}(?:[.,]\d{1,12})?")


def _number(text: str | None) -> Decimal | None:
    match = NUMBER.search(text[:100]) if text else None
    try:
        return Decimal(match[0].replace(",", ".")) if match else None
    except InvalidOperation:
        return None
