"""Finds the author, the publication date and the modification date of a page.

Sources in this order: JSON-LD and microdata of the article, `<meta>`, `rel=author` and elements named as byline,
`<time>` and elements named as date, the date in the URL. A person takes precedence over a publisher.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from forager.parsing.authors import LONGEST_AUTHOR, clean_author
from forager.parsing.byline_elements import REMARKS, VisibleByline
from forager.parsing.clean import fold_text
from forager.parsing.dates import PageDate, date_in_path, parse_datetime
from forager.parsing.head import Head
from forager.parsing.structured import Item, StructuredData, Value, text_of
from forager.parsing.tree_types import Tree

MOST_AUTHORS = 5

AUTHOR = (
    *("dc:creator", "dcterms:creator", "dcterm:creator", "dcterms.creator", "dc.creator"),
    *("author", "article:author", "article:author_name", "og:article:author", "parsely-author", "sailthru.author"),
    *("citation_author", "byl", "article.author", "article-author", "cxenseparse:author", "book:author", "creator"),
)
PUBLISHED = (
    "article:published_time", "og:article:published_time", "datepublished", "parsely-pub-date", "sailthru.date",
    "dc.date.issued", "dcterms.issued", "dcterms.created", "dc.date.created", "citation_publication_date",
    "citation_date", "article:published", "article.published", "cxenseparse:recs:publishtime", "published_time",
    "publish-date", "publish_date", "publishdate", "pubdate", "publication_date", "published_date", "og:published_time",
    "date", "dc.date", "dcterms.date", "dc:date", "og:pubdate", "article:created", "created", "release_date",
)  # fmt: skip
MODIFIED = (
    "article:modified_time", "og:updated_time", "og:article:modified_time", "datemodified", "dcterms.modified",
    "dc.date.modified", "article:modified", "modified_time", "last-modified", "lastmod", "revised", "modified",
)  # fmt: skip
WORKS = ("recipe", "howto", "course", "podcastepisode")
"""Types that occur inside a page's article and are its subject."""
ARTICLES = ("article", "posting", "report", "chapter", "question", "videoobject")
PAGES = frozenset(
    {"webpage", "itempage", "aboutpage", "qapage", "faqpage", "book", "dataset", "creativework", "review"}
)
PRODUCTS = frozenset({"product", "productgroup", "individualproduct", "productmodel"})
PEOPLE = frozenset({"person", "people", "author"})
SAYS_WRITTEN_BY = re.compile(
    r"\b(?:by|von|par|por|door|da|di|av|af|przez|tarafından|автор|autora?|作者|著者|από|author|yazan)\b", re.IGNORECASE
)
"""Labels of an author among the values a page provides for social networks."""


class Byline(NamedTuple):
    author: str | None = None
    published: PageDate | None = None
    modified: PageDate | None = None


def find_byline(tree: Tree, head: Head, data: StructuredData, url: str) -> Byline:
    items = _find_candidates(data.items, head)
    author = _author_of(items, is_person=True) or _author_of_metas(head)
    published = _date_of(items, "datepublished") or _date_of_metas(head, PUBLISHED)
    modified = _date_of(items, "datemodified") or _date_of_metas(head, MODIFIED)
    shown = VisibleByline(tree, for_author=author is None, for_date=published is None)
    if author is None:
        shown.has_remarks = any(_has_user_content(item.types) for item in data.items)
        shown.is_sold = any(not PRODUCTS.isdisjoint(item.types) for item in data.items)
        author = shown.author() or _author_of(items, is_person=False) or _publisher_of(items)
    if published is None:
        published = shown.date() or date_in_path(url)
    return Byline(author, published, modified)


# JSON-LD, microdata, RDFa ---------------------------------------------------------------------------------------------


def _find_candidates(items: list[Item], head: Head) -> list[Item]:
    """Returns items that may have an author or a date: the page's subject, articles, then items for the page as a
    whole."""
    ranked = [(rank, item) for item in items if (rank := _rank(item.types))]
    if any(_is_user_content(item.types) for _, item in ranked) and any(_has_user_content(item.types) for item in items):
        ranked = [(rank, item) for rank, item in ranked if not _is_user_content(item.types)]
    if len(ranked) < 2:
        return [item for _, item in ranked]
    title = fold_text(head.title or "")
    ranked.sort(key=lambda entry: (entry[0], entry[0] < 3 and not _matches_title(entry[1], title)))
    return [item for _, item in ranked]


@lru_cache(1024)
def _rank(types: tuple[str, ...]) -> int:
    """Returns the rank of an item's types; 0: not a candidate."""
    for rank, kinds in ((1, WORKS), (2, ARTICLES)):
        if any(kind.endswith(kinds) for kind in types):
            return rank
    return 3 if not PAGES.isdisjoint(types) else 0


def _is_user_content(types: tuple[str, ...]) -> bool:
    return not REMARKS.isdisjoint(types)


def _has_user_content(types: tuple[str, ...]) -> bool:
    """Whether readers and customers write below an item of these types: a product, an article. On a page that is only a
    question or a review, its writer is the author."""
    return not PRODUCTS.isdisjoint(types) or (_rank(types) in {1, 2} and not _is_user_content(types))


def _matches_title(item: Item, title: str) -> bool:
    """Whether the item's name matches the page title; others are entries of a list of articles."""
    name = fold_text((item.text("headline") or item.text("name") or "")[:LONGEST_AUTHOR])
    return bool(name) and (name in title or title in name)


def _author_of(items: list[Item], *, is_person: bool) -> str | None:
    for item in items:
        values = item.get("author") or item.get("creator")
        if values and (names := _join(_name(value, is_person=is_person) for value in values[:MOST_AUTHORS])):
            return names
    return None


def _publisher_of(items: list[Item]) -> str | None:
    return next((name for item in items if (name := clean_author(item.text("publisher")))), None)


def _join(names: Iterable[str | None]) -> str | None:
    """Joins the names, each once, without names that extend another one."""
    kept: list[str] = []
    for name in names:
        if name and not any(name.startswith(other) for other in kept):
            kept.append(name)
    return ", ".join(kept)[:LONGEST_AUTHOR] or None


def _name(value: Value, *, is_person: bool) -> str | None:
    if isinstance(value, Item):
        if is_person and value.types and PEOPLE.isdisjoint(value.types):
            return None
        name = value.text("name") or value.text("alternatename")
        return clean_author(name, is_person=not PEOPLE.isdisjoint(value.types))
    return clean_author(text_of(value)) if isinstance(value, str) else None


def _date_of(items: list[Item], name: str) -> PageDate | None:
    for item in items:
        for value in item.get(name)[:MOST_AUTHORS]:
            if isinstance(value, str) and (moment := parse_datetime(value)):
                return moment
    return None


# <meta> ---------------------------------------------------------------------------------------------------------------


def _author_of_metas(head: Head) -> str | None:
    for name in AUTHOR:
        if name in head.metas and (names := _join(clean_author(text) for text in head.metas[name][:MOST_AUTHORS])):
            return names
    label = head.meta("twitter:label1")
    if label and SAYS_WRITTEN_BY.search(label):
        return clean_author(head.meta("twitter:data1"))
    return None


def _date_of_metas(head: Head, names: tuple[str, ...]) -> PageDate | None:
    for name in names:
        if name in head.metas:
            for text in head.metas[name]:
                if moment := parse_datetime(text):
                    return moment
    return None
