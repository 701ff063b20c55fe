"""What a parser of products sees of a page."""

from dataclasses import dataclass, field
from functools import cached_property

import turbohtml

from forager.fetch.models import Fetched
from forager.parsing.charset import to_text
from forager.parsing.head import Head
from forager.parsing.products.currency import PageLocale, get_locale
from forager.parsing.products.detect import body_of
from forager.parsing.products.money import Money
from forager.parsing.products.words import is_non_product, is_old_price, names_of, visible_text
from forager.parsing.structured import Item, StructuredData
from forager.parsing.tree import bounded
from forager.parsing.tree_types import Tree


@dataclass(eq=False)
class View:
    tree: Tree
    fetched: Fetched
    head: Head
    structured: StructuredData
    base_url: str
    canonical: str | None
    language: str | None

    heading: int = -1
    """The element that names what the page is about."""
    prices: dict[int, Money | None] = field(default_factory=dict)
    """What elements were found to show."""
    struck: dict[int, bool] = field(default_factory=dict)
    surrounding: dict[int, bool] = field(default_factory=dict)
    """What elements are called: the same ones are above many."""
    looks_left: int = 400
    text_left: int = 400_000
    """How much may still be read of what a person sees: the same text lies in many elements around it."""

    @property
    def url(self) -> str:
        return self.fetched.url

    @property
    def items(self) -> list[Item]:
        """The page's markup."""
        return self.structured.items

    @property
    def body(self) -> bytes:
        """As it came; only asked whether it holds some ASCII word."""
        return self.fetched.body

    @cached_property
    def document(self) -> turbohtml.Document:
        """For parsers of single sites, which know the page's elements by CSS selectors. Parsed anew: only they ask."""
        text, _ = to_text(self.body, self.fetched.content_type)
        return turbohtml.parse(bounded(text, self.tree.reopened()))

    @cached_property
    def body_element(self) -> int | None:
        """The element `body`."""
        return body_of(self.tree)

    def read_text(self, number: int) -> str:
        """What an element shows; nothing once a page has made us read too much."""
        if self.looks_left <= 0 or self.text_left <= 0:
            return ""
        text = visible_text(self.tree, number, is_struck=lambda _tree, inner: self.is_old_price(inner))
        self.looks_left -= 1
        self.text_left -= len(text) + 1
        return text

    def is_old_price(self, number: int) -> bool:
        """Whether an element is an old price."""
        if (known := self.struck.get(number)) is None:
            known = self.struck[number] = is_old_price(self.tree, number)
        return known

    def is_non_product(self, number: int) -> bool:
        """Whether an element is called as what is beside a product."""
        if (known := self.surrounding.get(number)) is None:
            known = self.surrounding[number] = is_non_product(names_of(self.tree, number))
        return known

    @cached_property
    def place(self) -> PageLocale:
        return get_locale(self.url, self.language)

    @property
    def has_query(self) -> bool:
        return "?" in self.url

    def is_page_url(self, address: str | None) -> bool:
        """Whether an address is this page's own, with or without query."""
        if not address:
            return False
        given = _path(address)
        return bool(given) and given in {_path(self.url), _path(self.canonical or self.url)}


def _path(address: str) -> str:
    """Without scheme, host, query and fragment: shops write them in many ways."""
    rest = address.partition("#")[0].partition("?")[0]
    _, mark, place = rest.partition("://")
    path = place.partition("/")[2] if mark else rest.lstrip("/")
    return path.strip("/").lower()
