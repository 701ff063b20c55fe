"""Who wrote a page, when it was published and when changed, where the page says so in a way made for machines.

Asked in this order: `<meta>`, JSON-LD, microdata and `rel=author`, `<time>`, the date in the address. Text is no guide.
"""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from forager.extract.clean import collapse
from forager.extract.dates import date_in_path, parse_date
from forager.extract.head import Head
from forager.extract.tree import Tree

LONGEST_AUTHOR = 200
MOST_AUTHORS = 5
LARGEST_DATA = 256 * 1024
MOST_SCRIPTS = 10
MOST_NODES = 2000
MOST_TIMES = 20
MOST_MARKS = 500
LD_JSON = "application/ld+json"
MARKED = "[itemprop],[rel=author]"

AUTHOR = (
    "author",
    "article:author",
    "dc.creator",
    "dcterms.creator",
    "parsely-author",
    "sailthru.author",
    "citation_author",
    "byl",
)
PUBLISHED = (
    "article:published_time", "og:article:published_time", "datepublished", "parsely-pub-date", "sailthru.date",
    "dc.date.issued", "dcterms.issued", "dcterms.created", "dc.date.created", "citation_publication_date",
    "citation_date",
    "publish-date", "publish_date", "pubdate", "publication_date", "date", "dc.date", "dcterms.date",
)  # fmt: skip
MODIFIED = (
    "article:modified_time", "og:updated_time", "og:article:modified_time", "datemodified", "dcterms.modified",
    "dc.date.modified", "last-modified", "lastmod", "revised",
)  # fmt: skip
NAMES = frozenset((*AUTHOR, *PUBLISHED, *MODIFIED))
ARTICLE = re.compile(
    r"(?:Article|Posting|Report|Recipe|HowTo|Chapter|Review(?:NewsArticle)|ScholarlyArticle|Question|VideoObject)$"
)
PAGE = re.compile(r"(?:WebPage|ItemPage|AboutPage|QAPage|Book|Dataset|PodcastEpisode)$")
BY = re.compile(r"^(?:by|von|par|por|di|door|av|af|od|yazan|автор|作者|著者|記者|文)\s*[:：]?\s+", re.IGNORECASE)


class Byline(NamedTuple):
    author: str | None = None
    published_at: datetime | None = None
    modified_at: datetime | None = None


def find_byline(tree: Tree, head: Head, url: str) -> Byline:
    found = Byline()
    if not NAMES.isdisjoint(head.metas):
        found = Byline(_first_author(head), _first_date(head, PUBLISHED), _first_date(head, MODIFIED))
    if None in found:
        found = _fill(found, _from_data(tree))
    if found.author is not None and found.published_at is not None:
        return found
    times = tree.tags("time")
    if times or _has_marks(tree):
        found = _fill(found, _from_marks(tree))
    if found.published_at is None:
        found = found._replace(published_at=_from_times(times) or date_in_path(url))
    return found


def _fill(found: Byline, other: Byline) -> Byline:
    return Byline(
        found.author or other.author,
        found.published_at or other.published_at,
        found.modified_at or other.modified_at,
    )


# <meta> ---------------------------------------------------------------------------------------------------------------


def _first_author(head: Head) -> str | None:
    for name in AUTHOR:
        names = [author for text in head.metas.get(name, ())[:MOST_AUTHORS] if (author := clean_author(text))]
        if names:
            return ", ".join(dict.fromkeys(names))[:LONGEST_AUTHOR]
    return None


def _first_date(head: Head, names: tuple[str, ...]) -> datetime | None:
    return next((date for name in names for text in head.metas.get(name, ()) if (date := parse_date(text))), None)


def clean_author(text: str | None) -> str | None:
    """A name without "by"; None for what is an address or a handle."""
    name = collapse(text, LONGEST_AUTHOR)
    if name is None or name.startswith(("http://", "https://", "/", "@")):
        return None
    return BY.sub("", name).strip(" ,|·-") or None


# JSON-LD --------------------------------------------------------------------------------------------------------------


def _from_data(tree: LexborHTMLParser) -> Byline:
    nodes: list[dict[str, Any]] = []
    scripts = [node for node in tree.tags("script") if (node.attributes.get("type") or "").strip().lower() == LD_JSON]
    for script in scripts[:MOST_SCRIPTS]:
        nodes += islice(_load(script.text_lexbor()), MOST_NODES - len(nodes))
    if not nodes:
        return Byline()
    found = Byline()
    by_id = {node["@id"]: node for node in nodes if isinstance(node.get("@id"), str) and len(node) > 1}
    for kinds in (ARTICLE, PAGE):
        for node in nodes:
            if _is_a(node, kinds):
                author = _names(node.get("author") or node.get("creator"), by_id)
                found = _fill(found, Byline(author, _date(node.get("datePublished")), _date(node.get("dateModified"))))
    return found


def _load(text: str) -> Iterator[dict[str, Any]]:
    """All objects of a JSON-LD script, from the outside in; nothing where it is no JSON."""
    if len(text) > LARGEST_DATA:
        return
    try:
        data = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return
    waiting = [data]
    while waiting:
        level, waiting = waiting, []
        for item in level:
            if isinstance(item, dict):
                yield item
                waiting += [value for value in item.values() if isinstance(value, (dict, list))]
            elif isinstance(item, list):
                waiting += item[:MOST_NODES]


def _is_a(node: dict[str, Any], kinds: re.Pattern[str]) -> bool:
    given = node.get("@type")
    return any(isinstance(kind, str) and kinds.search(kind) for kind in (given if isinstance(given, list) else [given]))


def _names(author: object, by_id: dict[str, dict[str, Any]]) -> str | None:
    people = author if isinstance(author, list) else [author]
    names = [name for person in people[:MOST_AUTHORS] if (name := _name(person, by_id))]
    return ", ".join(dict.fromkeys(names))[:LONGEST_AUTHOR] or None


def _name(person: object, by_id: dict[str, dict[str, Any]]) -> str | None:
    if isinstance(person, dict):
        known = person if "name" in person else by_id.get(str(person.get("@id")), {})
        person = known.get("name")
    if isinstance(person, list):
        person = next(iter(person), None)
    return clean_author(person) if isinstance(person, str) else None


def _date(value: object) -> datetime | None:
    return parse_date(value) if isinstance(value, str) else None


# microdata, rel=author, <time> ----------------------------------------------------------------------------------------


def _has_marks(tree: Tree) -> bool:
    """A look that is cheaper than to search for them: who marks authors marks dates or the article too."""
    if tree.first_has("article", "itemscope") or tree.first_has("main", "itemscope"):
        return True
    return any("itemscope" in node.attributes for node in (tree.body, tree.root) if node is not None)


def _from_marks(tree: LexborHTMLParser) -> Byline:
    found = Byline()
    for node in tree.css(MARKED)[:MOST_MARKS]:
        attributes = node.attributes
        match attributes.get("itemprop") or attributes.get("rel"):
            case "datePublished":
                found = _fill(found, Byline(published_at=_moment(node, attributes)))
            case "dateModified":
                found = _fill(found, Byline(modified_at=_moment(node, attributes)))
            case "author" if node.tag != "link":
                found = _fill(found, Byline(author=_marked_author(node, attributes)))
    return found


def _marked_author(node: LexborNode, attributes: dict[str, str | None]) -> str | None:
    name = node.css_first("[itemprop=name]")
    if name is not None:
        return clean_author(name.attributes.get("content") or name.text_lexbor())
    return clean_author(attributes.get("content") or node.text_lexbor())


def _from_times(nodes: list[LexborNode]) -> datetime | None:
    """The first with a machine's date: a page shows its own before those of comments and of other pages."""
    times = (_moment(node, node.attributes) for node in nodes[:MOST_TIMES])
    return next((moment for moment in times if moment), None)


def _moment(node: LexborNode, attributes: dict[str, str | None]) -> datetime | None:
    given = attributes.get("datetime") or attributes.get("content") or attributes.get("title")
    return parse_date(given or node.text_lexbor()[:100])
