"""Microdata and RDFa → items: the same walk with other names for the attributes."""

from typing import NamedTuple

from forager.extract.products.words import visible_text
from forager.extract.structured.items import Item, Value, plain_name, short_name
from forager.extract.tree import Tree

MOST_ELEMENTS = 3000
LONGEST_TEXT = 5000
LONGEST_PRICE = 200
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
"""Of metas that have `property` for another reason."""


def read_attributes(tree: Tree, dialect: Dialect, names: dict[str, str]) -> list[Item]:
    """The items that stand for themselves, in the page's order. `names` learns how the page spells them."""
    if dialect is RDFA and not tree.having("typeof"):  # `property` alone is every other meta
        return []
    elements = tree.having(dialect.scope, dialect.properties)
    return _Reader(tree, dialect, elements[:MOST_ELEMENTS], names).read() if elements else []


class _Reader:
    def __init__(self, tree: Tree, dialect: Dialect, elements: list[int], names: dict[str, str]) -> None:
        self.tree, self.dialect, self.elements, self.names = tree, dialect, elements, names
        self.top: list[Item] = []
        self.unread: list[tuple[Item, str, int, int]] = []
        """Item, property, place among its values, element: texts are read all at once."""

    def read(self) -> list[Item]:
        tree, dialect = self.tree, self.dialect
        scopes = tree.column(self.elements, dialect.scope)
        said = tree.column(self.elements, dialect.properties)
        lent = self._lent() if dialect is MICRODATA else {}
        open_items: list[tuple[int, Item]] = []
        waiting = sorted(lent, reverse=True)
        for number, scope, properties in zip(self.elements, scopes, said, strict=True):
            while waiting and waiting[-1] <= number:
                start = waiting.pop()
                _close(open_items, start)
                open_items.append((tree.end(start), lent[start]))
            _close(open_items, number)
            owner = open_items[-1][1] if open_items else None
            names = self._names(properties) if properties else []
            if scope is not None:
                item = self.lenders.get(number) if lent else None
                item = item or self._item(number)
                self._take_item(item, number, names, owner)
                open_items.append((tree.end(number), item))
            elif owner is not None:
                for name in names:
                    self._take_value(owner, name, number)
        self._read_texts()
        return self.top

    def _lent(self) -> dict[int, Item]:
        """Elements elsewhere that belong to an item, because it says so (`itemref`)."""
        self.lenders: dict[int, Item] = {}
        borrowers = self.tree.having("itemref")[:MOST_LENDERS]
        if not borrowers:
            return {}
        wanted: dict[str, Item] = {}
        for number in borrowers:
            item = self.lenders[number] = self._item(number)
            for identity in (self.tree.get(number, "itemref") or "").split()[:20]:
                wanted[identity] = item
        named = self.tree.having("id")
        identities = self.tree.column(named, "id")
        return {number: wanted[each] for number, each in zip(named, identities, strict=True) if each in wanted}

    def _names(self, properties: str) -> list[str]:
        found = []
        for name in properties.split()[:5]:
            if self.dialect is RDFA and name.startswith(OTHER_VOCABULARIES):
                continue
            plain = plain_name(name[:200])
            self.names.setdefault(plain, short_name(name[:200]))
            found.append(plain)
        return found

    def _item(self, number: int) -> Item:
        given = self.tree.get(number, self.dialect.types) or ""
        kinds = given.split()[:10]
        for kind in kinds:
            self.names.setdefault(plain_name(kind[:200]), short_name(kind[:200]))
        path = f"{self.tree.tag(number)}[{given.rpartition('/')[2][:40] or 'item'}]"
        return Item(self.dialect.source, path, tuple(plain_name(kind[:200]) for kind in kinds), {})

    def _take_item(self, item: Item, number: int, names: list[str], owner: Item | None) -> None:
        if not names or owner is None:
            self.top.append(item)
            return
        item.role = names[0]
        if not item.types:
            self._put_off(item, "name", number)
        for name in names:
            _say(owner, name, item)

    def _take_value(self, owner: Item, name: str, number: int) -> None:
        tree = self.tree
        content = tree.get(number, "content")
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
        """Without those that are struck through."""
        return visible_text(self.tree, number, LONGEST_PRICE) if len(text) <= LONGEST_PRICE else text


def _close(open_items: list[tuple[int, Item]], number: int) -> None:
    while open_items and open_items[-1][0] <= number:
        open_items.pop()


def _say(owner: Item, name: str, value: Value) -> None:
    if value != "":
        owner.properties.setdefault(name, []).append(value)
