"""Converts microdata and RDFa to items: the same traversal with different attribute names."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from forager.parsing.products.words import visible_text
from forager.parsing.structured.items import Item, Value, plain_name, short_name
from forager.parsing.tree_types import Tree

MOST_ELEMENTS = 3000
LONGEST_TEXT = 5000
LONGEST_PRICE = 200
LONGEST_NAME = 200
LONGEST_NAMES = 1000
MOST_LENDERS = 20
ADDRESSES = {
    "a": "href",
    "area": "href",
    "link": "href",
    "img": "src",
    "object": "data",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
}
READ_AS_TEXT = frozenset({"name", "brand", "category", "price", "description", "author", "manufacturer", "ratingvalue"})
VALUED = ("value", "datetime", "resource")
HAVE_VALUES = frozenset({"data", "meter", "time", "input", "span", "div"})
PRICES = frozenset({"price", "lowprice", "highprice"})


class Dialect(NamedTuple):
    source: str
    types: str
    properties: str
    scope: str


MICRODATA = Dialect("microdata", "itemtype", "itemprop", "itemscope")
RDFA = Dialect("rdfa", "typeof", "property", "typeof")
OTHER_VOCABULARIES = ("og:", "fb:", "article:", "twitter:", "product:")
"""Prefixes of metas that use `property` for another vocabulary."""


def read_attributes(tree: Tree, dialect: Dialect, said: dict[str, None]) -> list[Item]:
    """Returns the top-level items in page order. Adds all names as written in the page to `said`."""
    if dialect is RDFA and not tree.having("typeof"):  # `property` alone occurs on every other meta
        return []
    elements = tree.having(dialect.scope, dialect.properties)
    return _Reader(tree, dialect, elements[:MOST_ELEMENTS], said).read() if elements else []


class _Reader:
    def __init__(self, tree: Tree, dialect: Dialect, elements: list[int], said: dict[str, None]) -> None:
        self.tree, self.dialect, self.elements, self.said = tree, dialect, elements, said
        self.lenders: dict[int, Item] = {}
        self.top: list[Item] = []
        self.unread: list[tuple[Item, str, int, int]] = []
        """Item, property, index among its values, element: texts are read in one batch."""

    def read(self) -> list[Item]:
        tree, dialect, said = self.tree, self.dialect, self.said
        lent = self._itemref_owners() if dialect is MICRODATA else {}
        open_items: list[tuple[int, Item]] = []
        waiting = sorted(lent, reverse=True)
        rows = tree.rows(self.elements, (dialect.scope, dialect.properties, dialect.types, "content"))
        for number, (scope, properties, types, content) in zip(self.elements, rows, strict=True):
            said[properties or ""] = said[types or ""] = None
            while waiting and waiting[-1] <= number:
                start = waiting.pop()
                _close(open_items, start)
                open_items.append((tree.end(start), lent[start]))
            while open_items and open_items[-1][0] <= number:
                open_items.pop()
            owner = open_items[-1][1] if open_items else None
            names = _names(properties) if properties else ()
            if scope is not None:
                item = self.lenders.get(number) or self._item(number, types or "")
                self._take_item(item, number, names, owner)
                open_items.append((tree.end(number), item))
            elif owner is not None:
                for name in names:
                    self._take_value(owner, name, number, content)
        self._read_texts()
        return self.top

    def _itemref_owners(self) -> dict[int, Item]:
        """Returns elements outside an item that belong to it by `itemref`."""
        borrowers = self.tree.having("itemref")[:MOST_LENDERS]
        if not borrowers:
            return {}
        wanted: dict[str, Item] = {}
        for number in borrowers:
            item = self.lenders[number] = self._item(number, self.tree.get(number, self.dialect.types) or "")
            for identity in (self.tree.get(number, "itemref") or "").split()[:20]:
                wanted[identity] = item
        named = self.tree.having("id")
        identities = self.tree.column(named, "id")
        return {number: wanted[each] for number, each in zip(named, identities, strict=True) if each in wanted}

    def _item(self, number: int, types: str) -> Item:
        path = f"{self.tree.tag(number)}[{types.rpartition('/')[2][:40] or 'item'}]"
        return Item(self.dialect.source, path, _types(types), {})

    def _take_item(self, item: Item, number: int, names: Sequence[str], owner: Item | None) -> None:
        if not names or owner is None:
            self.top.append(item)
            return
        item.role = names[0]
        if not item.types:
            self._put_off(item, "name", number)
        for name in names:
            _say(owner, name, item)

    def _take_value(self, owner: Item, name: str, number: int, content: str | None) -> None:
        tree = self.tree
        if content is not None and content.strip():
            _say(owner, name, content[:LONGEST_TEXT])
            return
        tag = tree.tag(number)
        if tag in ADDRESSES and not (name in READ_AS_TEXT and tag in {"a", "area"}):
            lazily = (tree.get(number, "data-src") or tree.get(number, "data-lazy-src")) if tag == "img" else None
            _say(owner, name, lazily or tree.get(number, ADDRESSES[tag]) or "")
            return
        if tag in HAVE_VALUES:
            for attribute in VALUED:
                if value := tree.get(number, attribute):
                    _say(owner, name, value)
                    return
        self._put_off(owner, name, number)

    def _put_off(self, owner: Item, name: str, number: int) -> None:
        values = owner.properties.setdefault(name, [])
        self.unread.append((owner, name, len(values), number))
        values.append("")

    def _read_texts(self) -> None:
        texts = self.tree.texts([number for *_, number in self.unread], LONGEST_TEXT)
        for (owner, name, at, number), text in zip(self.unread, texts, strict=True):
            owner.properties[name][at] = self._price(number, text) if name in PRICES else text
        for owner, name, *_ in self.unread:
            if "" in (values := owner.properties.get(name, [])):
                owner.properties[name] = [value for value in values if value != ""]

    def _price(self, number: int, text: str) -> str:
        """Returns the price text without struck-through parts."""
        return visible_text(self.tree, number, LONGEST_PRICE) if len(text) <= LONGEST_PRICE else text


@lru_cache(4096)
def _names(properties: str) -> tuple[str, ...]:
    """Returns the property names; none for metas that use `property` for another vocabulary."""
    given = (name[:LONGEST_NAME] for name in properties[:LONGEST_NAMES].split()[:5])
    return tuple(plain_name(name) for name in given if not name.startswith(OTHER_VOCABULARIES))


def map_names(said: Iterable[str]) -> dict[str, str]:
    """Maps lower-case names to their spelling in the page: `datePublished`."""
    return {
        plain_name(name[:LONGEST_NAME]): short_name(name[:LONGEST_NAME]) for names in said for name in names.split()
    }


@lru_cache(4096)
def _types(types: str) -> tuple[str, ...]:
    return tuple(plain_name(kind[:LONGEST_NAME]) for kind in types[:LONGEST_NAMES].split()[:10])


def _close(open_items: list[tuple[int, Item]], number: int) -> None:
    while open_items and open_items[-1][0] <= number:
        open_items.pop()


def _say(owner: Item, name: str, value: Value) -> None:
    if value != "":
        owner.properties.setdefault(name, []).append(value)
