"""Where a page belongs and how it is judged: site name, section, keywords, ratings."""

import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import NamedTuple

from forager.extract.clean import collapse
from forager.extract.head import Head
from forager.extract.structured import Item, StructuredData
from forager.extract.structured.items import storable
from forager.extract.tree import Tree

LONGEST_NAME = 200
LONGEST_TAG = 100
MOST_TAGS = 50
BEST_RATING = 5
MOST_RATED = 1_000_000_000

SITE_METAS = (
    "og:site_name",
    "application-name",
    "apple-mobile-web-app-title",
    "dc.publisher",
    "twitter:app:name:iphone",
)
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


def find_metadata(tree: Tree, head: Head, data: StructuredData, url: str) -> Metadata:
    items = data.items
    rating, count = find_rating(items)
    return Metadata(find_site_name(head, items, url), find_section(head, items), find_tags(head, items), rating, count)


# site name ------------------------------------------------------------------------------------------------------------


def find_site_name(head: Head, items: list[Item], url: str) -> str | None:
    for name in SITE_METAS[:1]:
        if name in head.metas and (given := _name(head.meta(name))):
            return given
    sites = [item for item in items if item.is_a("website")]
    for item in sites:
        if given := _name(item.text("name") or item.text("alternatename")):
            return given
    for name in SITE_METAS[1:]:
        if name in head.metas and (given := _name(head.meta(name))):
            return given
    for item in items:
        for whole in item.items("ispartof"):
            if whole.is_a("website") and (given := _name(whole.text("name"))):
                return given
    for item in items:
        if given := _name(item.text("publisher")):
            return given
    return _name_of_title(head.title, url)


def _name(text: str | None) -> str | None:
    name = collapse(text, LONGEST_NAME)
    return None if name is None or name.startswith(("http://", "https://", "@")) else name


def _name_of_title(title: str | None, url: str) -> str | None:
    """The last or first part of the title, where the host has its words."""
    if not title:
        return None
    parts = SEPARATORS.split(title)
    if len(parts) < 2:
        return None
    host = _letters(url.split("/", 3)[2].rpartition("@")[2])
    for part in (parts[-1], parts[0]):
        letters = _letters(part)
        if len(letters) > 2 and letters in host:
            return part.strip()
    return None


@lru_cache(4096)
def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


# section and keywords -------------------------------------------------------------------------------------------------


def find_section(head: Head, items: list[Item]) -> str | None:
    for name in SECTION_METAS:
        if name in head.metas and (given := _name(head.meta(name))):
            return given
    for item in items:
        if "articlesection" in item.properties and (given := _name(item.text("articlesection"))):
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
        if values := item.properties.get("keywords"):
            _take_tags(found, [text for value in values if (text := value if isinstance(value, str) else None)])
    return tuple(found.values())


def _take_tags(found: dict[str, str], texts: list[str]) -> None:
    for text in texts[:MOST_TAGS]:
        for each in text[: LONGEST_TAG * MOST_TAGS].split(",") if "," in text else text.split(";"):
            tag = collapse(each, LONGEST_TAG)
            if tag and len(found) < MOST_TAGS:
                found.setdefault(tag.lower(), storable(tag))


# ratings --------------------------------------------------------------------------------------------------------------


def find_rating(items: list[Item]) -> tuple[Decimal | None, int | None]:
    """Of the first item that was rated, scaled to 5, and by how many."""
    for item in items:
        ratings = [item] if item.is_a("aggregaterating") else list(item.items("aggregaterating"))
        for rating in ratings:
            value = _number(rating.text("ratingvalue"))
            if value is None:
                continue
            best, worst = _number(rating.text("bestrating")), _number(rating.text("worstrating"))
            scaled = scale(value, best, worst)
            if scaled is not None:
                return scaled, _count(rating)
    return None, None


def scale(value: Decimal, best: Decimal | None, worst: Decimal | None) -> Decimal | None:
    """From 0 to 5; None where a rating is better than the best."""
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
