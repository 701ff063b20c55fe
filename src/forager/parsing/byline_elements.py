"""Finds the visible byline and date of a page by the names of their elements.

Used only where machine-readable data does not provide them.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import islice

from forager.parsing.authors import clean_author
from forager.parsing.clean import collapse
from forager.parsing.dates import MONTHS, PageDate, find_day, parse_datetime
from forager.parsing.tree_types import Tree

LONGEST_BYLINE = 100
"""Characters of an element's text; a longer text is not a byline."""
MOST_LOOKED_AT = 150
MOST_READ = 12
MOST_WORDS = 10
HIGHEST_CLIMB = 40
LONGEST_NAMES = 300
NO_BYLINES = frozenset({"link", "body", "html", "input", "img", "style", "script"})

AUTHOR_WORDS = ("author", "byline", "auteur", "autor", "writtenby", "written-by", "contributor")
IS_AUTHOR = re.compile(r"byline|auth?or(?!i|ed)|auteur|written-?by|contributor")
NO_AUTHOR = re.compile(
    r"comment|avatar|related|footer|widget|social|follow|subscri|thumb|image|photo|picture|icon|img|bio|about|"
    r"desc|more-|-more|count|list-|label|form|input|search|no-?author|title$|job|role|note",
)
DATE_WORDS = ("date", "publish", "posted", "time", "datum", "fecha", "created")
IS_DATE = re.compile(
    r"(?:^|[\s_-])(?:date|datum|fecha|data|time|posted|posted-?on|published|publish|created)(?=[\s_-]|$)"
    r"|(?:post|entry|article|news|pub|publish(?:ed)?|publication|story|story|meta|byline)[\s_-]*(?:date|time)|date-?published"
    r"|dateline",
)
NO_DATE = re.compile(
    r"comment|updat|modif|related|footer|event|calendar|picker|birth|copyright|recent|sidebar|widget|cook|prep|"
    r"total|read|duration|expir|deliver|up-to-date|countdown|timer|timeline|current|today|list|archive",
)
BESIDE = re.compile(
    r"comment|disqus|related|recommend|sidebar|widget|footer|popular|trending|more-?(?:from|stories|news)|read-?(?:next|more)"
    r"|latest|recent|newsletter|promo|teaser|carousel|similar|suggest",
)
REMARKS = frozenset({"question", "answer", "review", "userreview", "criticreview", "comment", "usercomments"})
"""Item types written by readers and customers: their authors are not the page's."""
CUSTOMERS = re.compile("review|question|answer")
BESIDE_TAGS = frozenset({"footer", "aside", "nav", "form", "select"})
WEEKDAY = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend"
    r"|(?:lun|mar|mercre|jeu|vendre|same)di|dimanche|lunes|martes|miércoles|jueves|viernes|s[áa]bado|domingo"
    r"|(?:lune|marte|mercole|giove|vener)dì|domenica)\b|(?:mon|tue|wed|thu|fri|sat|sun)[.,]"
)
CUT = re.compile(
    r"\s+[|•·–—/]\s*|[|•·]|\s-\s|\b(?:updated|published|posted|last\s+modified|(?-i:on|in|at)(?!\s['’]))\b(?=\s|:)"
    rf"|\b(?:le|el|il|am|on|in|at)[\s:]+(?=\d|{WEEKDAY})|\b(?:on|in|at)\s+(?=(?:{'|'.join(MONTHS)})\b)"
    r"|\d|\bsays\b|@|(?<=\w\s\w{3})\s*\(|https?:",
    re.IGNORECASE,
)
"""Text that follows a name. "Le", "Il" and "In" are parts of names too: they count only before a date, in capitals."""
NO_NAME = re.compile(
    r"^(?:follow|last|about|share|comments?|view|see|more|read|reply|login|log in|sign|subscribe|contact|home|posts?|"
    r"all|e-?mail|staff writers?|guest|details|profile|author|by|contributors?|contributing writer|contributor|editor|"
    r"reviewed)\b",
    re.IGNORECASE,
)


class VisibleByline:
    """The visible byline of a page; author and date are computed on demand."""

    def __init__(self, tree: Tree, *, for_author: bool, for_date: bool) -> None:
        self.tree = tree
        self.has_remarks = self.is_sold = False
        """Whether markup contains reader contributions; whether they are about a product."""
        self.words = (*(AUTHOR_WORDS if for_author else ()), *(DATE_WORDS if for_date else ()))

    @cached_property
    def marked(self) -> list[tuple[int, str]]:
        """Elements with `rel` or `itemprop`, with the values."""
        numbers = self.tree.having("rel", "itemprop")
        rows = self.tree.rows(numbers, ("rel", "itemprop"))
        return [
            (number, f"{rel or ''} {prop or ''}".lower()) for number, (rel, prop) in zip(numbers, rows, strict=True)
        ]

    def author(self) -> str | None:
        """Returns the author by `rel=author` and itemprops; else by the first element named as author."""
        marked = [number for number, said in self.marked if "author" in said]
        return self._first_author(marked) or self._first_author(self._named(is_author))

    def _first_author(self, numbers: Iterable[int]) -> str | None:
        for number in islice(numbers, MOST_READ):
            name = _read_author(self.tree, number)
            if name and not _is_outside_article(self.tree, number) and not self._is_in_user_content(number):
                return name
        return None

    def _is_in_user_content(self, number: int) -> bool:
        """Whether an element is in a review, question or comment, by microdata, and below a product by element
        names."""
        tree, levels = self.tree, HIGHEST_CLIMB if self.has_remarks else 0
        for _ in range(levels):
            if number < 0:
                return False
            kinds = (tree.get(number, "itemtype") or "")[:LONGEST_NAMES].lower().split()
            if any(kind.rpartition("/")[2] in REMARKS for kind in kinds):
                return True
            if self.is_sold and CUSTOMERS.search((tree.get(number, "class") or "")[:LONGEST_NAMES].lower()):
                return True
            number = tree.parent(number)
        return False

    def date(self) -> PageDate | None:
        """Returns the date by itemprops, then `time`, then elements named as date."""
        marked = [number for number, said in self.marked if "datepublished" in said or "datecreated" in said]
        times = (number for number in self.tree.tags("time")[:MOST_READ] if not _is_outside_article(self.tree, number))
        for number in (*marked[:MOST_READ], *times):
            if moment := _read_date(self.tree, number):
                return moment
        for number in self._named(is_date):
            text = self.tree.texts([number], LONGEST_BYLINE + 1)[0]
            if (
                len(text) <= LONGEST_BYLINE
                and (moment := find_day(text))
                and not _is_outside_article(self.tree, number)
            ):
                return moment
        return None

    @cached_property
    def named(self) -> list[tuple[int, str]]:
        """Elements with one of the words in their class or id, with the values."""
        numbers = self.tree.find(("class", "id"), self.words)[:MOST_LOOKED_AT]
        rows = self.tree.rows(numbers, ("class", "id"))
        return [
            (number, f"{kind or ''} {identity or ''}"[:LONGEST_NAMES].lower())
            for number, (kind, identity) in zip(numbers, rows, strict=True)
        ]

    def _named(self, is_wanted: Callable[[str], bool]) -> Iterator[int]:
        return (number for number, names in self.named if is_wanted(names))


@lru_cache(4096)
def is_author(names: str) -> bool:
    return bool(IS_AUTHOR.search(names)) and not NO_AUTHOR.search(names)


@lru_cache(4096)
def is_date(names: str) -> bool:
    return bool(IS_DATE.search(names)) and not NO_DATE.search(names)


def _read_author(tree: Tree, number: int) -> str | None:
    tag = tree.tag(number)
    if tag in NO_BYLINES:
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
    """Returns the text of the only link in an element; the author's role may follow it."""
    end = tree.end(number)
    links = [each for each in range(number + 1, min(end, number + 20)) if tree.tag(each) == "a"]
    return name_in(tree.text(links[0])) if len(links) == 1 else None


def name_in(text: str) -> str | None:
    """Returns the name in a byline, without "by", dates and trailing text."""
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


def _read_date(tree: Tree, number: int) -> PageDate | None:
    for attribute in ("datetime", "content", "title"):
        if (given := tree.get(number, attribute)) and (moment := parse_datetime(given)):
            return moment
    return find_day(tree.texts([number], LONGEST_BYLINE)[0])


# location in the page -------------------------------------------------------------------------------------------------


def _is_outside_article(tree: Tree, number: int) -> bool:
    """Whether an element is in comments, lists of other pages and similar blocks."""
    for _ in range(HIGHEST_CLIMB):
        tag = tree.tag(number)
        if tag in {"body", "html", "article", "main"}:
            return tag == "article" and _is_non_article(tree.get(number, "class") or "")
        if tag in BESIDE_TAGS:
            return True
        if _is_non_article(f"{tree.get(number, 'class') or ''} {tree.get(number, 'id') or ''}"[:LONGEST_NAMES]):
            return True
        number = tree.parent(number)
        if number < 0:
            return False
    return False


@lru_cache(4096)
def _is_non_article(names: str) -> bool:
    return bool(BESIDE.search(names.lower()))
