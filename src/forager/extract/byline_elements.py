"""The byline and the date that a page shows, by what it calls the elements they stand in.

Only asked where nothing made for machines tells them.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from forager.extract.clean import collapse
from forager.extract.dates import MONTHS, Moment, find_day, parse_moment
from forager.extract.people import clean_author
from forager.extract.tree import Tree

LONGEST_BYLINE = 100
"""Of the text of an element, in characters; more is no byline."""
MOST_LOOKED_AT = 80
MOST_READ = 12
MOST_WORDS = 10
HIGHEST_CLIMB = 40
LONGEST_NAMES = 300

AUTHOR_WORDS = ("author", "byline", "auteur", "autor", "writtenby", "written-by", "contributor")
IS_AUTHOR = re.compile(r"byline|auth?or(?!i|ed)|auteur|written-?by|contributor", re.IGNORECASE)
NO_AUTHOR = re.compile(
    r"comment|avatar|related|footer|widget|social|follow|subscri|thumb|image|photo|picture|icon|img|bio|about|"
    r"desc|more-|-more|count|list-|label|form|input|search|no-?author|title$|job|role|note",
    re.IGNORECASE,
)
DATE_WORDS = ("date", "publish", "posted", "time", "datum", "fecha", "created")
IS_DATE = re.compile(
    r"(?:^|[\s_-])(?:date|datum|fecha|data|time|posted|posted-?on|published|publish|created)(?=[\s_-]|$)"
    r"|(?:post|entry|article|news|pub|publish(?:ed)?|publication|story|story|meta|byline)[\s_-]*(?:date|time)|date-?published"
    r"|dateline",
    re.IGNORECASE,
)
NO_DATE = re.compile(
    r"comment|updat|modif|related|footer|event|calendar|picker|birth|copyright|recent|sidebar|widget|cook|prep|"
    r"total|read|duration|expir|deliver|up-to-date|countdown|timer|timeline|current|today|list|archive",
    re.IGNORECASE,
)
BESIDE = re.compile(
    r"comment|disqus|related|recommend|sidebar|widget|footer|popular|trending|more-?(?:from|stories|news)|read-?(?:next|more)"
    r"|latest|recent|newsletter|promo|teaser|carousel|similar|suggest",
    re.IGNORECASE,
)
BESIDE_TAGS = frozenset({"footer", "aside", "nav", "form", "select"})
CUT = re.compile(
    r"\s+[|•·–—/]\s*|[|•·]|\s-\s|\b(?:updated|published|posted|last\s+modified|on|in|at|am|le|el|il)\b(?=\s|:)"
    r"|\d|\bsays\b|@|(?<=\w\s\w{3})\s*\(|https?:",
    re.IGNORECASE,
)
NO_NAME = re.compile(
    r"^(?:follow|last|about|share|comments?|view|see|more|read|reply|login|log in|sign|subscribe|contact|home|posts?|"
    r"all|e-?mail|staff writers?|guest|details|profile|author|by|contributors?|contributing writer|contributor|editor|"
    r"reviewed)\b",
    re.IGNORECASE,
)


def find_author_element(tree: Tree) -> str | None:
    """The first by what it is called: `rel=author` and itemprops before classes."""
    numbers = tree.find(("rel", "itemprop", "class", "id"), AUTHOR_WORDS)[:MOST_LOOKED_AT]
    if not numbers:
        return None
    columns = (tree.column(numbers, name) for name in ("rel", "itemprop", "class", "id"))
    ranked = sorted(
        (rank, number)
        for number, rel, prop, kind, identity in zip(numbers, *columns, strict=True)
        if (rank := _rank(rel, prop, kind, identity))
    )
    for _rank_of, number in ranked[:MOST_READ]:
        if (name := _read_author(tree, number)) and not _is_beside(tree, number):
            return name
    return None


@lru_cache(4096)
def _rank(rel: str | None, prop: str | None, kind: str | None, identity: str | None) -> int:
    """1 for what is surest, 0 for what is no author."""
    names = f"{kind or ''} {identity or ''}"[:LONGEST_NAMES]
    if rel and "author" in rel.lower().split():
        return 0 if "comment" in names.lower() else 1
    if prop and "author" in prop.lower():
        return 1
    if not IS_AUTHOR.search(names) or NO_AUTHOR.search(names):
        return 0
    return 2


def _read_author(tree: Tree, number: int) -> str | None:
    tag = tree.tag(number)
    if tag in {"link", "body", "html", "input", "img", "style", "script"}:
        return None
    if tag == "meta":
        return name_in(tree.get(number, "content") or "")
    text = tree.text(number) if tree.weights(number)[0] <= 2 * LONGEST_BYLINE else ""
    if not text or len(text) > LONGEST_BYLINE:
        return None
    name = name_in(text)
    linked = _linked_name(tree, number)
    return linked if name and linked and name.startswith(linked) else name


def _linked_name(tree: Tree, number: int) -> str | None:
    """What the only link in it says: behind it may stand what the author is."""
    end = tree.end(number)
    links = [each for each in range(number + 1, min(end, number + 20)) if tree.tag(each) == "a"]
    return name_in(tree.text(links[0])) if len(links) == 1 else None


def name_in(text: str) -> str | None:
    """The name in a byline, without "by", dates and what comes behind."""
    name = clean_author(collapse(text, LONGEST_BYLINE))
    if name is None:
        return None
    words = CUT.split(name, maxsplit=1)[0].strip(" ,|·-–—:;/").split()
    while words and words[-1].strip(".,").lower() in MONTHS:
        words.pop()
    name = " ".join(words).strip(" ,")
    if not 0 < len(words) <= MOST_WORDS or NO_NAME.search(name) or "{" in name:
        return None
    return name if sum(map(str.isalpha, name)) > 2 or not name.isascii() else None


# dates ----------------------------------------------------------------------------------------------------------------


def find_date_element(tree: Tree) -> Moment | None:
    """Itemprops first, then `time`, then what is called a date."""
    for number in tree.find(("itemprop",), ("datepublished", "datecreated"))[:MOST_READ]:
        if moment := _read_moment(tree, number):
            return moment
    times = [number for number in tree.tags("time")[:MOST_READ] if not _is_beside(tree, number)]
    for number in times:
        if moment := _read_moment(tree, number):
            return moment
    for number in _dates(tree):
        text = tree.texts([number], LONGEST_BYLINE + 1)[0]
        if len(text) <= LONGEST_BYLINE and not _is_beside(tree, number) and (moment := find_day(text)):
            return moment
    return None


def _dates(tree: Tree) -> Iterator[int]:
    numbers = tree.find(("class", "id"), DATE_WORDS)[:MOST_LOOKED_AT]
    for number, kind, identity in zip(numbers, tree.column(numbers, "class"), tree.column(numbers, "id"), strict=True):
        if _is_date(f"{kind or ''} {identity or ''}"[:LONGEST_NAMES]) and tree.tag(number) not in {"body", "html"}:
            yield number


@lru_cache(4096)
def _is_date(names: str) -> bool:
    return bool(IS_DATE.search(names)) and not NO_DATE.search(names)


def _read_moment(tree: Tree, number: int) -> Moment | None:
    for attribute in ("datetime", "content", "title"):
        if (given := tree.get(number, attribute)) and (moment := parse_moment(given)):
            return moment
    return find_day(tree.texts([number], LONGEST_BYLINE)[0])


# where they stand -----------------------------------------------------------------------------------------------------


def _is_beside(tree: Tree, number: int) -> bool:
    """In comments, lists of other pages and the like."""
    for _ in range(HIGHEST_CLIMB):
        tag = tree.tag(number)
        if tag in {"body", "html", "article", "main"}:
            return tag == "article" and _is_beside_by_name(tree.get(number, "class") or "")
        if tag in BESIDE_TAGS:
            return True
        if _is_beside_by_name(f"{tree.get(number, 'class') or ''} {tree.get(number, 'id') or ''}"[:LONGEST_NAMES]):
            return True
        number = tree.parent(number)
        if number < 0:
            return False
    return False


@lru_cache(4096)
def _is_beside_by_name(names: str) -> bool:
    return bool(BESIDE.search(names))
