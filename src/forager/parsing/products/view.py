"""The view of a page that product parsers receive."""

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
    """The element that names the page's subject."""
    prices: dict[int, Money | None] = field(default_factory=dict)
    """Parsed prices by element."""
    struck: dict[int, bool] = field(default_factory=dict)
    surrounding: dict[int, bool] = field(default_factory=dict)
    """Cached results of `is_non_product`: many elements share the same ancestors."""
    looks_left: int = 400
    text_left: int = 400_000
    """Characters of visible text that may still be read: nested elements contain the same text."""

    @property
    def url(self) -> str:
        return self.fetched.url

    @property
    def items(self) -> list[Item]:
        """The items in the page's markup."""
        return self.structured.items

    @property
    def body(self) -> bytes:
        """The original bytes; used only to search for ASCII words."""
        return self.fetched.body

    @cached_property
    def document(self) -> turbohtml.Document:
        """For site-specific parsers, which use CSS selectors. Parsed a second time, because only they need it."""
        text, _ = to_text(self.body, self.fetched.content_type)
        return turbohtml.parse(bounded(text, self.tree.reopened()))

    @cached_property
    def body_element(self) -> int | None:
        """The element `body`."""
        return body_of(self.tree)

    def read_text(self, number: int) -> str:
        """Returns the visible text of an element; empty once the page's limit is used up."""
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
        """Whether an element is named as something other than the page's product."""
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
        """Whether a URL is this page's own, with or without query."""
        if not address:
            return False
        given = _path(address)
        return bool(given) and given in {_path(self.url), _path(self.canonical or self.url)}


def _path(address: str) -> str:
    """Returns the path without scheme, host, query and fragment, which shops write in many ways."""
    rest = address.partition("#")[0].partition("?")[0]
    _, mark, place = rest.partition("://")
    path = place.partition("/")[2] if mark else rest.lstrip("/")
    return path.strip("/").lower()
