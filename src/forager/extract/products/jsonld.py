"""JSON-LD → items. Whatever a script holds, it is read within bounds: so many bytes, things and levels."""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from forager.extract.products.items import Item, Value, plain_name
from forager.extract.products.mend import read_json

MOST_SCRIPTS = 40
LONGEST_SCRIPT = 2_000_000
LONGEST_PLUCKED = 100_000
MOST_ITEMS = 3000
DEEPEST = 14
MOST_VALUES = 200
"""Of one property."""
WORTH_READING = (
    "roduct",
    "Offer",
    "Breadcrumb",
    "Vehicle",
    "Book",
    "Article",
    "ItemList",
    "Posting",
    "CollectionPage",
    "Car",
)
PLUCKED = re.compile(
    r'"(name|sku|price|lowPrice|priceCurrency|availability|description|gtin\d*|mpn)"\s*:\s*"?((?:[^"\\]|\\.){1,500}?)"?\s*[,}\n]'
)
PRODUCT_TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"(?:https?://schema\.org/)?Product"')


def read_jsonld(scripts: Iterable[str]) -> list[Item]:
    """The items that stand for themselves, in the page's order."""
    reader = _Reader()
    for number, script in enumerate(scripts):
        if number >= MOST_SCRIPTS:
            break
        if len(script) > LONGEST_SCRIPT or not any(word in script for word in WORTH_READING):
            continue
        root = "$" if number == 0 else f"[{number}] $"
        content = read_json(script)
        if content is None:
            reader.pluck(script, root)
        else:
            reader.read(content, root)
    return reader.finish()


class _Reader:
    def __init__(self) -> None:
        self.items: list[Item] = []
        """All, also those inside of others."""
        self.top: list[Item] = []
        self.by_id: dict[str, Item] = {}

    def read(self, content: Any, path: str) -> None:
        """Documents, lists of them, and what a graph lists."""
        waiting = [(content, path, 0)]
        while waiting:
            node, where, depth = waiting.pop()
            if isinstance(node, list) and depth < DEEPEST:
                inner = [(each, f"{where}[{at}]", depth + 1) for at, each in enumerate(node[:MOST_ITEMS])]
                waiting.extend(reversed(inner))
            elif isinstance(node, dict) and "@graph" in node and depth < DEEPEST:
                waiting.append((node["@graph"], f"{where}.@graph", depth + 1))
            elif isinstance(node, dict):
                item = self._item(node, where, "", 0)
                if item is not None:
                    self.top.append(item)

    def _item(self, node: dict[str, Any], path: str, role: str, depth: int) -> Item | None:
        if len(self.items) >= MOST_ITEMS or depth > DEEPEST:
            return None
        item = Item("jsonld", path, _types(node), role=role)
        self.items.append(item)
        identity = node.get("@id")
        if isinstance(identity, str):
            item.id = identity[:2000]
        for key, value in list(node.items())[:MOST_VALUES]:
            if not key.startswith("@"):
                name = plain_name(key)
                item.properties.setdefault(name, []).extend(self._values(value, f"{path}.{key[:60]}", name, depth + 1))
        if item.id and item.types:
            known = self.by_id.get(item.id)
            if known is None or len(known.properties) < len(item.properties):
                self.by_id[item.id] = item
        return item

    def _values(self, value: Any, path: str, name: str, depth: int) -> list[Value]:
        found: list[Value] = []
        for at, each in enumerate(value[:MOST_VALUES] if isinstance(value, list) else [value]):
            where = f"{path}[{at}]" if isinstance(value, list) and len(value) > 1 else path
            if isinstance(each, dict):
                if "@value" in each and isinstance(each["@value"], str | int | Decimal):
                    found.append(each["@value"])
                elif (inner := self._item(each, where, name, depth)) is not None:
                    found.append(inner)
            elif isinstance(each, list) and depth < DEEPEST:
                found.extend(self._values(each, where, name, depth + 1))
            elif isinstance(each, str | int | Decimal):
                found.append(each)
        return found

    def pluck(self, script: str, path: str) -> None:
        """JSON that cannot be mended and speaks of one product: its plain values, each by its first mention."""
        script = script[:LONGEST_PLUCKED]
        if len(PRODUCT_TYPE.findall(script)) != 1:
            return
        item = Item("plucked", f"jsonld {path}", ("product",))
        begin = PRODUCT_TYPE.search(script)
        for name, value in PLUCKED.findall(script, begin.start() if begin else 0)[:MOST_VALUES]:
            item.properties.setdefault(name.lower(), [value.replace("\\/", "/").replace('\\"', '"')])
        self.top.append(item)

    def finish(self) -> list[Item]:
        """References resolved; what a page says it is about stands for itself."""
        for item in self.items:
            for name, values in item.properties.items():
                item.properties[name] = [self._resolve(value) for value in values]
        promoted = [
            inner
            for item in self.top
            if item.is_a("webpage", "itempage", "productpage", "aboutpage", "collectionpage")
            for inner in item.items("mainentity", "mainentityofpage", "about")
            if inner.types
        ]
        seen: set[int] = set()
        return [item for item in (*self.top, *promoted) if not (id(item) in seen or seen.add(id(item)))]  # type: ignore[func-returns-value]

    def _resolve(self, value: Value) -> Value:
        if isinstance(value, Item) and value.id and not value.properties:
            return self.by_id.get(value.id, value)
        return value


def _types(node: dict[str, Any]) -> tuple[str, ...]:
    given = node.get("@type", ())
    return tuple(
        plain_name(each) for each in (given if isinstance(given, list) else [given])[:10] if isinstance(each, str)
    )
