"""Microdata and RDFa → items: the same walk with other names for the attributes."""

from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from forager.extract.products.items import Item, Value, plain_name
from forager.extract.products.words import unique, visible_text

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
    nodes: str
    """A selector for all that is said."""
    types: str
    properties: str
    scope: str


MICRODATA = Dialect("microdata", "[itemscope],[itemprop]", "itemtype", "itemprop", "itemscope")
RDFA = Dialect("rdfa", "[typeof],[property]", "typeof", "property", "typeof")


def read_attributes(tree: LexborHTMLParser, dialect: Dialect) -> list[Item]:
    """The items that stand for themselves, in the page's order."""
    return _Reader(tree, dialect).read() if tree.root is not None else []


class _Reader:
    def __init__(self, tree: LexborHTMLParser, dialect: Dialect) -> None:
        self.dialect = dialect
        self.nodes = unique(tree.css(dialect.nodes)[: 2 * MOST_NODES])
        self.items: dict[int, Item] = {}
        """Node → the item it opens."""
        self.lenders: dict[str, Item] = {}
        """Identity of an element → the item that says `itemref` to it."""
        self.text_left = MOST_TEXT
        if dialect is MICRODATA:
            self._find_lenders(tree)

    def _find_lenders(self, tree: LexborHTMLParser) -> None:
        for node in tree.css("[itemref]")[:MOST_LENDERS]:
            attributes = node.attributes
            item = self.items[node.mem_id] = self._item(node, attributes)
            for identity in (attributes.get("itemref") or "").split()[:20]:
                self.lenders[identity] = item

    def read(self) -> list[Item]:
        top: list[Item] = []
        for node in self.nodes:
            attributes = node.attributes
            names = [plain_name(name) for name in (attributes.get(self.dialect.properties) or "").split()[:5]]
            owner = self._owner(node)
            if self.dialect.scope in attributes:
                item = self.items.get(node.mem_id) or self._item(node, attributes)
                self.items[node.mem_id] = item
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

    def _item(self, node: LexborNode, attributes: dict[str, str | None]) -> Item:
        return Item(self.dialect.source, _path(node, attributes), _types(attributes, self.dialect))

    def _owner(self, node: LexborNode) -> Item | None:
        """The item around a node, or the one that refers to where it stands."""
        place: LexborNode | None = node
        for _ in range(HIGHEST_CLIMB):
            if place is None:
                return None
            if place.mem_id in self.items and place.mem_id != node.mem_id:
                return self.items[place.mem_id]
            if self.lenders and (identity := place.attributes.get("id")) is not None and identity in self.lenders:
                return self.lenders[identity]
            place = place.parent
        return None

    def _value(self, node: LexborNode, attributes: dict[str, str | None], name: str) -> str:
        content = attributes.get("content")
        if content is not None and content.strip():
            return content[:LONGEST_TEXT]
        tag = node.tag or ""
        if tag in ADDRESSES and not (name in READ_AS_TEXT and tag in {"a", "area"}):
            lazily = (attributes.get("data-src") or attributes.get("data-lazy-src")) if tag == "img" else None
            return lazily or attributes.get(ADDRESSES[tag]) or ""
        for attribute in ("value", "datetime", "resource"):
            if tag in {"data", "meter", "time", "input", "span", "div"} and attributes.get(attribute):
                return attributes[attribute] or ""
        return self._text(node)

    def _text(self, node: LexborNode) -> str:
        """Without prices that are struck through; nothing once a page has made us read too much."""
        if self.text_left <= 0:
            return ""
        text = visible_text(node)
        self.text_left -= len(text)
        return text[:LONGEST_TEXT]


def _say(owner: Item, name: str, value: Value) -> None:
    if value != "":
        owner.properties.setdefault(name, []).append(value)


def _types(attributes: dict[str, str | None], dialect: Dialect) -> tuple[str, ...]:
    return tuple(plain_name(each) for each in (attributes.get(dialect.types) or "").split()[:10])


def _path(node: LexborNode, attributes: dict[str, str | None]) -> str:
    kind = attributes.get("itemtype") or attributes.get("typeof") or ""
    return f"{node.tag}[{kind.rpartition('/')[2][:40] or 'item'}]"
