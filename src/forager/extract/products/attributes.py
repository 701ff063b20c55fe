"""Microdata and RDFa → items: the same walk with other names for the attributes."""

from typing import NamedTuple

from forager.extract.products.items import Item, Value, plain_name
from forager.extract.products.words import visible_text
from forager.extract.tree import Tree

MOST_NODES = 1500
HIGHEST_CLIMB = 80
"""Levels between a property and its item: more than any page needs, and a bound for those made to hurt."""
LONGEST_TEXT = 5000
MOST_TEXT = 2_000_000
"""Characters in all: nested properties would have the same text read again and again."""
MOST_LENDERS = 20
ADDRESSES = {
    "a": "href",
    "area": "href",
    "link": "href",
    "img": "src",
    "object": "data",
    "iframe": "src",
    "source": "src",
}
READ_AS_TEXT = frozenset({"name", "brand", "category", "price", "description", "author", "manufacturer", "ratingvalue"})


class Dialect(NamedTuple):
    source: str
    attributes: tuple[str, ...]
    """Of elements that say something."""
    types: str
    properties: str
    scope: str


MICRODATA = Dialect("microdata", ("itemscope", "itemprop"), "itemtype", "itemprop", "itemscope")
RDFA = Dialect("rdfa", ("typeof", "property"), "typeof", "property", "typeof")


def read_attributes(tree: Tree, dialect: Dialect) -> list[Item]:
    """The items that stand for themselves, in the page's order."""
    return _Reader(tree, dialect).read()


class _Reader:
    def __init__(self, tree: Tree, dialect: Dialect) -> None:
        self.dialect = dialect
        self.tree = tree
        self.nodes = tree.having(*dialect.attributes)[:MOST_NODES]
        self.items: dict[int, Item] = {}
        """Node → the item it opens."""
        self.lenders: dict[str, Item] = {}
        """Identity of an element → the item that says `itemref` to it."""
        self.text_left = MOST_TEXT
        if dialect is MICRODATA:
            self._find_lenders(tree)

    def _find_lenders(self, tree: Tree) -> None:
        for node in tree.having("itemref")[:MOST_LENDERS]:
            attributes = self.tree.attributes(node)
            item = self.items[node] = self._item(node, attributes)
            for identity in (attributes.get("itemref") or "").split()[:20]:
                self.lenders[identity] = item

    def read(self) -> list[Item]:
        top: list[Item] = []
        for node in self.nodes:
            attributes = self.tree.attributes(node)
            names = [plain_name(name) for name in (attributes.get(self.dialect.properties) or "").split()[:5]]
            owner = self._owner(node)
            if self.dialect.scope in attributes:
                item = self.items.get(node) or self._item(node, attributes)
                self.items[node] = item
                if not names or owner is None:
                    top.append(item)
                    continue
                item.role = names[0]
                if not item.types:
                    item.properties.setdefault("name", []).append(self._text(node))
                for name in names:
                    _say(owner, name, item)
            elif owner is not None:
                for name in names:
                    _say(owner, name, self._value(node, attributes, name))
        return top

    def _item(self, node: int, attributes: dict[str, str]) -> Item:
        return Item(self.dialect.source, _path(self.tree.tag(node), attributes), _types(attributes, self.dialect))

    def _owner(self, node: int) -> Item | None:
        """The item around a node, or the one that refers to where it stands."""
        place = node
        for _ in range(HIGHEST_CLIMB):
            if place < 0:
                return None
            if place in self.items and place != node:
                return self.items[place]
            if self.lenders and (identity := self.tree.get(place, "id")) is not None and identity in self.lenders:
                return self.lenders[identity]
            place = self.tree.parent(place)
        return None

    def _value(self, node: int, attributes: dict[str, str], name: str) -> str:
        content = attributes.get("content")
        if content is not None and content.strip():
            return content[:LONGEST_TEXT]
        tag = self.tree.tag(node)
        if tag in ADDRESSES and not (name in READ_AS_TEXT and tag in {"a", "area"}):
            lazily = (attributes.get("data-src") or attributes.get("data-lazy-src")) if tag == "img" else None
            return lazily or attributes.get(ADDRESSES[tag]) or ""
        for attribute in ("value", "datetime", "resource"):
            if tag in {"data", "meter", "time", "input", "span", "div"} and attributes.get(attribute):
                return attributes[attribute] or ""
        return self._text(node)

    def _text(self, node: int) -> str:
        """Without prices that are struck through; nothing once a page has made us read too much."""
        if self.text_left <= 0:
            return ""
        text = visible_text(self.tree, node)
        self.text_left -= len(text)
        return text[:LONGEST_TEXT]


def _say(owner: Item, name: str, value: Value) -> None:
    if value != "":
        owner.properties.setdefault(name, []).append(value)


def _types(attributes: dict[str, str], dialect: Dialect) -> tuple[str, ...]:
    return tuple(plain_name(each) for each in (attributes.get(dialect.types) or "").split()[:10])


def _path(tag: str, attributes: dict[str, str]) -> str:
    kind = attributes.get("itemtype") or attributes.get("typeof") or ""
    return f"{tag}[{kind.rpartition('/')[2][:40] or 'item'}]"
