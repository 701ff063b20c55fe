"""Structured data in one shape, whoever wrote it: JSON-LD, microdata and RDFa all become `Item`s."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from html import unescape
from typing import Union

LONGEST_VALUE = 20_000
LONGEST_NAME = 60

Value = Union[str, int, Decimal, bool, "Item"]


class Item:
    """A thing with types and properties; names of both are in small letters, without the vocabulary's address."""

    __slots__ = ("_properties", "id", "path", "role", "source", "types")

    def __init__(  # noqa: PLR0917
        self,
        source: str,
        path: str,
        types: tuple[str, ...] = (),
        properties: dict[str, list[Value]] | None = None,
        id: str | None = None,  # noqa: A002 (what JSON-LD calls it)
        role: str = "",
    ) -> None:
        self.source = source
        self.path = path
        """Where it is, as evidence says it: `$.offers[0]`, `div[itemprop=offers]`."""
        self.types = types
        self.id = id
        self.role = role
        """The property of the item around it that holds it; empty: it stands for itself."""
        self._properties = properties

    @property
    def properties(self) -> dict[str, list[Value]]:
        if self._properties is None:
            self._properties = self._read()
        return self._properties

    def _read(self) -> dict[str, list[Value]]:
        """The properties, the first time somebody asks: of most items of a page nobody does."""
        return {}

    def get(self, name: str) -> Sequence[Value]:
        """The values of one property, without reading the others."""
        return self.properties.get(name, ())

    def is_a(self, *types: str) -> bool:
        for each in self.types:  # noqa: SIM110 (asked of every item many times, and a generator doubles the time)
            if each in types:
                return True
        return False

    def values(self, *names: str) -> Iterator[tuple[Value, str]]:
        """Values with their places, by the order of the names."""
        for name in names:
            found = self.get(name)
            for at, value in enumerate(found):
                yield value, self._format_path(name, at, len(found))

    def items(self, *names: str) -> Iterator["Item"]:
        for name in names:
            for value in self.get(name):
                if isinstance(value, Item):
                    yield value

    def texts(self, *names: str) -> Iterator[tuple[str, str]]:
        """Values that are text or have a name, with their places; no empty ones."""
        for name in names:
            if found := self.get(name):
                for at, value in enumerate(found):
                    if text := text_of(value):
                        yield text, self._format_path(name, at, len(found))

    def text(self, *names: str) -> str | None:
        for name in names:
            for value in self.get(name):
                if text := text_of(value):
                    return text
        return None

    def _format_path(self, name: str, at: int, count: int) -> str:
        index = f"[{at}]" if count > 1 else ""
        if self.source == "jsonld":
            return f"jsonld {self.path}.{name}{index}"
        return f"{self.source} {self.path} {name}{index}"


def text_of(value: Value) -> str | None:
    """As one line. Of an item its name, of a place of the web the address."""
    if isinstance(value, Item):
        inner = next((each for name in ("name", "value", "url") for each in value.get(name)), None)
        return text_of(inner) if inner is not None and not isinstance(inner, Item) else None
    if isinstance(value, bool):
        return None
    text = str(value)[:LONGEST_VALUE]
    if "&" in text:
        text = unescape(text)
    return " ".join(sanitize_text(text).split()) or None


def sanitize_text(text: str) -> str:
    """Without what no database takes: NUL, and halves of characters."""
    if not text.isascii():
        text = text.encode("utf-8", "ignore").decode()
    return text.replace("\0", "") if "\0" in text else text


@lru_cache(4096)
def short_name(name: str) -> str:
    """`https://schema.org/Product` and `schema:Product` are `Product`."""
    return name.rpartition("/")[2].rpartition("#")[2].rpartition(":")[2].strip()[:LONGEST_NAME]


@lru_cache(4096)
def plain_name(name: str) -> str:
    """The same in small letters: pages spell them as they like."""
    return short_name(name).lower()
