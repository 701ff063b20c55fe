"""Who wrote a page, when it was published and when changed.

Asked in this order: JSON-LD and microdata of the article, `<meta>`, `rel=author` and elements that the page calls its
byline, `<time>` and elements that it calls a date, the date in the address. A person comes before a publisher.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from forager.extract.clean import collapse
from forager.extract.dates import Moment, date_in_path, find_day, parse_moment
from forager.extract.head import Head
from forager.extract.structured import Item, StructuredData, Value, text_of
from forager.extract.tree import Tree

LONGEST_AUTHOR = 200
LONGEST_BYLINE = 100
"""Of an element's text; more is no byline."""
MOST_AUTHORS = 5
MOST_TIMES = 20
MOST_ELEMENTS = 60

AUTHOR = (
    "author",
    "article:author",
    "article:author_name",
    "dc.creator",
    "dc:creator",
    "dcterms.creator",
    "dcterm:creator",
    "parsely-author",
    "sailthru.author",
    "citation_author",
    "byl",
    "article.author",
    "article-author",
    "cxenseparse:author",
    "book:author",
    "twitter:data1",
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
ARTICLES = ("article", "posting", "report", "recipe", "howto", "chapter", "question", "videoobject", "course")
PAGES = frozenset(
    [
        "webpage",
        "itempage",
        "aboutpage",
        "qapage",
        "book",
        "dataset",
        "podcastepisode",
        "creativework",
        "review",
        "movie",
        "event",
        "faqpage",
    ]
)
PEOPLE = frozenset({"person", "people", "author"})
BY = re.compile(
    r"^(?:(?:written|posted|published|created|recipe|story|text|words|submitted|reported|article)\s+(?:\w+\s+)?by"
    r"|by|von|par|por|di|da|door|av|af|od|от|yazan|автор|autora?|auteur|autore|author|authors|writer|text|redaktion"
    r"|作者|著者|記者|文)\s*(?:[:：]\s*|\s+|(?<=[作者著記文])(?=\w))",
    re.IGNORECASE,
)  # fmt: skip


class Byline(NamedTuple):
    author: str | None = None
    published: Moment | None = None
    modified: Moment | None = None


def find_byline(tree: Tree, head: Head, data: StructuredData, url: str) -> Byline:
    items = _writings(data.items)
    author = _author_of(items, is_person=True) or _author_of_metas(head)
    published = _date_of(items, "datepublished") or _date_of_metas(head, PUBLISHED)
    modified = _date_of(items, "datemodified") or _date_of_metas(head, MODIFIED)
    if author is None or published is None:
        marks = _Marks(tree)
        author = author or marks.author() or _author_of(items, is_person=False)
        published = published or marks.date("datepublished") or marks.time() or date_in_path(url)
        modified = modified or marks.date("datemodified")
    return Byline(author, published, modified)


# JSON-LD, microdata, RDFa ---------------------------------------------------------------------------------------------


def _writings(items: list[Item]) -> list[Item]:
    """What may have an author: articles first, then what stands for the page as a whole."""
    ranked = [(rank, item) for item in items if (rank := _rank(item.types))]
    return [item for wanted in (1, 2) for rank, item in ranked if rank == wanted]


@lru_cache(1024)
def _rank(types: tuple[str, ...]) -> int:
    if any(kind.endswith(ARTICLES) for kind in types):
        return 1
    return 2 if not PAGES.isdisjoint(types) else 0


def _author_of(items: list[Item], *, is_person: bool) -> str | None:
    for item in items:
        values = item.properties.get("author") or item.properties.get("creator") or ()
        names = [name for value in values[:MOST_AUTHORS] if (name := _name(value, is_person=is_person))]
        if names:
            return ", ".join(dict.fromkeys(names))[:LONGEST_AUTHOR]
    return None


def _name(value: Value, *, is_person: bool) -> str | None:
    if isinstance(value, Item):
        if is_person and value.types and PEOPLE.isdisjoint(value.types):
            return None
        return clean_author(value.text("name") or value.text("alternatename"))
    return clean_author(text_of(value)) if isinstance(value, str) else None


def _date_of(items: list[Item], name: str) -> Moment | None:
    for item in items:
        for value in item.properties.get(name, ())[:MOST_AUTHORS]:
            if isinstance(value, str) and (moment := parse_moment(value)):
                return moment
    return None


# <meta> ---------------------------------------------------------------------------------------------------------------


def _author_of_metas(head: Head) -> str | None:
    for name in AUTHOR:
        if name in head.metas:
            names = [author for text in head.metas[name][:MOST_AUTHORS] if (author := clean_author(text))]
            if names:
                return ", ".join(dict.fromkeys(names))[:LONGEST_AUTHOR]
    return None


def _date_of_metas(head: Head, names: tuple[str, ...]) -> Moment | None:
    for name in names:
        if name in head.metas:
            for text in head.metas[name]:
                if moment := parse_moment(text):
                    return moment
    return None


def clean_author(text: str | None) -> str | None:
    """A name without "by"; None for what is an address or a handle."""
    name = collapse(text, LONGEST_AUTHOR)
    if name is None or name.startswith(("http://", "https://", "/", "@")):
        return None
    return BY.sub("", name).strip(" ,|·-") or None


# elements -------------------------------------------------------------------------------------------------------------

NAMED_AUTHOR = ("author", "byline", "writtenby", "written-by")
NAMED_DATE = ("date", "publish", "posted", "time")
IS_AUTHOR = re.compile(
    r"(?:^|[\s_-])(?:by-?line|author|written-?by|p-author)s?(?:[\s_-]?name)?(?=[\s_-]|$)|byline|author", re.IGNORECASE
)
NO_AUTHOR = re.compile(
    r"comment|avatar|related|footer|widget|social|follow|subscri|thumb|image|photo|icon|no-author", re.IGNORECASE
)
IS_DATE = re.compile(
    r"(?:^|[\s_-])(?:date|pub(?:lish(?:ed)?)?|posted|time(?:stamp)?)(?=[\s_-]|$)|date|published", re.IGNORECASE
)
NO_DATE = re.compile(
    r"comment|updated?|modified|related|footer|event|calendar|picker|birth|copyright|recent|sidebar|widget",
    re.IGNORECASE,
)
PARTS_OF_BYLINE = re.compile(r"\s*(?:\s[|•·–—/]\s|[|•·]|\b(?:updated|published|posted|on)\b|\d)", re.IGNORECASE)


class _Marks:
    """What elements are called."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def _marked(self, name: str) -> Iterator[int]:
        numbers = self.tree.having("itemprop")
        for number, said in zip(numbers, self.tree.column(numbers, "itemprop"), strict=True):
            if said and name in said.lower():
                yield number

    def date(self, name: str) -> Moment | None:
        for number in self._marked(name):
            if moment := self._moment(number):
                return moment
        return None

    def time(self) -> Moment | None:
        """The first with a machine's date: a page shows its own before those of comments and of other pages."""
        for number in self.tree.tags("time")[:MOST_TIMES]:
            if moment := self._moment(number):
                return moment
        for number in self._named(NAMED_DATE, IS_DATE, NO_DATE):
            text = self.tree.texts([number], LONGEST_AUTHOR)[0]
            if len(text) < LONGEST_BYLINE and (moment := find_day(text)):
                return moment
        return None

    def _moment(self, number: int) -> Moment | None:
        for attribute in ("datetime", "content", "title"):
            if (given := self.tree.get(number, attribute)) and (moment := parse_moment(given)):
                return moment
        return find_day(self.tree.texts([number], LONGEST_BYLINE)[0])

    def author(self) -> str | None:
        tree = self.tree
        for number in tree.find(("rel", "itemprop"), ("author",)):
            if tree.tag(number) not in {"link", "meta"} and (name := self._author(number)):
                return name
        for number in self._named(NAMED_AUTHOR, IS_AUTHOR, NO_AUTHOR):
            if name := self._author(number):
                return name
        return None

    def _named(self, words: tuple[str, ...], wanted: re.Pattern[str], unwanted: re.Pattern[str]) -> Iterator[int]:
        for number in self.tree.find(("class", "id"), words)[:MOST_ELEMENTS]:
            said = f"{self.tree.get(number, 'class') or ''} {self.tree.get(number, 'id') or ''}"[:300]
            if wanted.search(said) and not unwanted.search(said) and self.tree.tag(number) not in {"body", "html"}:
                yield number

    def _author(self, number: int) -> str | None:
        tree = self.tree
        if tree.weights(number)[0] > LONGEST_BYLINE * 2:
            return None
        end = tree.end(number)
        inner = [each for each in self._marked("name") if number < each < end]
        text = tree.get(inner[0], "content") or tree.text(inner[0]) if inner else tree.text(number)
        name = clean_author(text)
        if name is None or len(name) >= LONGEST_BYLINE:
            return None
        name = PARTS_OF_BYLINE.split(name, maxsplit=1)[0].strip(" ,|·-–—:")
        return name if len(name) > 1 and any(map(str.isalpha, name)) else None
