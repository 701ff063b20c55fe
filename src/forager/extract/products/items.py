"""Structured data in one shape, whoever wrote it: JSON-LD, microdata and RDFa all become `Item`s."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from html import unescape
from typing import Union

LONGEST_VALUE = 20_000

Value = Union[str, int, Decimal, bool, "Item"]


@dataclass(slots=True, eq=False)
class Item:
    """A thing with types and properties; names of both are in small letters, without the vocabulary's address."""

    source: str
    path: str
    """Where it is, as evidence says it: `$.offers[0]`, `div[itemprop=offers]`."""
    types: tuple[str, ...] = ()
    properties: dict[str, list[Value]] = field(default_factory=dict)
    id: str | None = None
    role: str = ""
    """The property of the item around it that holds it; empty: it stands for itself."""

    def is_a(self, *types: str) -> bool:
        return any(each in types for each in self.types)

    def values(self, *names: str) -> Iterator[tuple[Value, str]]:
        """Values with their places, by the order of the names."""
        for name in names:
            found = self.properties.get(name, ())
            for at, value in enumerate(found):
                yield value, self._place(name, at, len(found))

    def items(self, *names: str) -> Iterator["Item"]:
        for name in names:
            for value in self.properties.get(name, ()):
                if isinstance(value, Item):
                    yield value

    def texts(self, *names: str) -> Iterator[tuple[str, str]]:
        """Values that are text or have a name, with their places; no empty ones."""
        for name in names:
            if found := self.properties.get(name):
                for at, value in enumerate(found):
                    if text := text_of(value):
                        yield text, self._place(name, at, len(found))

    def text(self, *names: str) -> str | None:
        for name in names:
            for value in self.properties.get(name, ()):
                if text := text_of(value):
                    return text
        return None

    def _place(self, name: str, at: int, count: int) -> str:
        index = f"[{at}]" if count > 1 else ""
        if self.source == "jsonld":
            return f"jsonld {self.path}.{name}{index}"
        return f"{self.source} {self.path} {name}{index}"


def text_of(value: Value) -> str | None:
    """As one line. Of an item its name, of a place of the web the address."""
    if isinstance(value, Item):
        inner = next((each for name in ("name", "value", "url") for each in value.properties.get(name, ())), None)
        return text_of(inner) if inner is not None and not isinstance(inner, Item) else None
    if isinstance(value, bool):
        return None
    text = str(value)[:LONGEST_VALUE]
    if "&" in text:
        text = unescape(text)
    return " ".join(storable(text).split()) or None


def storable(text: str) -> str:
    """Without what no database takes: NUL, and halves of characters."""
    if not text.isascii():
        text = text.encode("utf-8", "ignore").decode()
    return text.replace("\0", "") if "\0" in text else text


@lru_cache(4096)
def plain_name(name: str) -> str:
    """`https://schema.org/Product`, `schema:Product` and `Product` are one."""
    return name.rpartition("/")[2].rpartition("#")[2].rpartition(":")[2].strip().lower()[:60]
