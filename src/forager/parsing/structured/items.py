"""A common form for structured data: JSON-LD, microdata and RDFa all become `Item`s."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from html import unescape
from typing import Union

LONGEST_VALUE = 20_000
LONGEST_NAME = 60

Value = Union[str, int, Decimal, bool, "Item"]


class Item:
    """An item with types and properties; names of both are in lower case, without the vocabulary's URL."""

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
        """Its location, as recorded in evidence: `$.offers[0]`, `div[itemprop=offers]`."""
        self.types = types
        self.id = id
        self.role = role
        """The property of the parent item that holds it; empty: top-level."""
        self._properties = properties

    @property
    def properties(self) -> dict[str, list[Value]]:
        if self._properties is None:
            self._properties = self._read()
        return self._properties

    def _read(self) -> dict[str, list[Value]]:
        """Returns the properties, parsed on first access: most items of a page are never accessed."""
        return {}

    def get(self, name: str) -> Sequence[Value]:
        """Returns the values of one property, without parsing the others."""
        return self.properties.get(name, ())

    def is_a(self, *types: str) -> bool:
        for each in self.types:  # noqa: SIM110 (asked of every item many times, and a generator doubles the time)
            if each in types:
                return True
        return False

    def values(self, *names: str) -> Iterator[tuple[Value, str]]:
        """Yields values with their paths, in the order of the names."""
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
        """Yields values that are text or have a name, with their paths; skips empty ones."""
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
    """Returns the value on one line; for an item, its name, value or URL."""
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
    """Removes characters that the database rejects: NUL and lone surrogates."""
    if not text.isascii():
        text = text.encode("utf-8", "ignore").decode()
    return text.replace("\0", "") if "\0" in text else text


@lru_cache(4096)
def short_name(name: str) -> str:
    """Returns the short name: `https://schema.org/Product` and `schema:Product` are `Product`."""
    return name.rpartition("/")[2].rpartition("#")[2].rpartition(":")[2].strip()[:LONGEST_NAME]


@lru_cache(4096)
def plain_name(name: str) -> str:
    """Returns the short name in lower case, because pages vary the spelling."""
    return short_name(name).lower()
