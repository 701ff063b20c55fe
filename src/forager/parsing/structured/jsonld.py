"""Converts JSON-LD to items. Bytes, objects and nesting levels are limited, whatever a script contains."""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from math import isfinite
from typing import Any

from forager.parsing.structured.items import Item, Value, plain_name
from forager.parsing.structured.repair import read_json

MOST_SCRIPTS = 40
LONGEST_SCRIPT = 2_000_000
LONGEST_PLUCKED = 100_000
MOST_ITEMS = 3000
MOST_WALKED = 20_000
"""Objects and lists searched for an `@id`."""
DEEPEST = 14
MOST_VALUES = 200
"""Per property."""
LONGEST_ID = 2000
LONGEST_KNOWN = 1000
"""Characters of all keys of an object; longer ones are not cached."""
PAGES = ("webpage", "itempage", "productpage", "aboutpage", "collectionpage", "qapage", "faqpage", "medicalwebpage")
PLUCKED = re.compile(
    # Gaps are bounded and possessive: otherwise a page of spaces would cause backtracking.
    r'"(name|sku|price|lowPrice|priceCurrency|availability|description|gtin\d{0,2}|mpn)"\s{0,20}+:\s{0,20}+'
    r'"?+((?:[^"\\\s]|\\.|(?<!\s)\s){1,500}?)"?\s{0,20}[,}\n]'
)
PRODUCT_TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"(?:https?://schema\.org/)?Product"')

Script = tuple[str, Any]
"""The text of a script, and its decoded content: None if it cannot be decoded."""


def decode_scripts(texts: Iterable[str]) -> list[Script]:
    scripts: list[Script] = []
    for text in texts:
        if len(scripts) >= MOST_SCRIPTS:
            break
        scripts.append((text, read_json(text) if len(text) <= LONGEST_SCRIPT else None))
    return scripts


def read_jsonld(scripts: Iterable[Script]) -> list[Item]:
    """Returns the top-level items in page order, then the items a page declares as its subject."""
    reader = _Reader()
    for number, (text, content) in enumerate(scripts):
        root = "$" if number == 0 else f"[{number}] $"
        if content is not None:
            reader.read(content, root)
        elif len(text) <= LONGEST_SCRIPT:
            reader.extract_values(text[:LONGEST_PLUCKED], root)
    return reader.finish()


def top_nodes(content: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Yields top-level objects with their paths: documents, lists of them, entries of a graph."""
    waiting = [(content, "", 0)]
    found = 0
    while waiting and found < MOST_ITEMS:
        node, where, depth = waiting.pop()
        if isinstance(node, list) and depth < DEEPEST:
            inner = [(each, f"{where}[{at}]", depth + 1) for at, each in enumerate(node[:MOST_ITEMS])]
            waiting.extend(reversed(inner))
        elif isinstance(node, dict) and "@graph" in node and depth < DEEPEST:
            waiting.append((node["@graph"], f"{where}.@graph", depth + 1))
        elif isinstance(node, dict):
            found += 1
            yield node, where


class _JsonItem(Item):
    __slots__ = ("depth", "keys", "known", "node", "reader")

    def __init__(self, reader: "_Reader", node: dict[str, Any], path: str, role: str, depth: int) -> None:
        identity = node.get("@id")
        super().__init__("jsonld", path, _types(node), None, identity if isinstance(identity, str) else None, role)
        self.reader, self.node, self.depth = reader, node, depth
        self.known: dict[str, list[Value]] = {}
        """Properties parsed so far."""
        self.keys: dict[str, tuple[str, ...]] | None = None

    def _read(self) -> dict[str, list[Value]]:
        return {name: list(self.get(name)) for name in _names_of(self.node)}

    def get(self, name: str) -> Sequence[Value]:
        keys = self.keys
        if keys is None:
            keys = self.keys = _names_of(self.node)
        if name not in keys:
            return ()
        if name not in self.known:
            self.known[name] = self.reader.values(self, keys[name], name)
        return self.known[name]


class _Reader:
    def __init__(self) -> None:
        self.top: list[Item] = []
        self.made: dict[int, Item] = {}
        """Items by the identity of their source object: an object referred to repeatedly is one item."""
        self.contents: list[Any] = []
        self._by_id: dict[str, dict[str, Any]] = {}
        self._is_indexed = False

    def read(self, content: Any, root: str) -> None:
        self.contents.append(content)
        for node, path in top_nodes(content):
            item = self._item(node, root + path, "", 0)
            if item is not None:
                self.top.append(item)

    def _item(self, node: dict[str, Any], path: str, role: str, depth: int) -> Item | None:
        identity = node.get("@id")
        if isinstance(identity, str) and len(node) < 3 and all(key.startswith("@") for key in node):
            node = self._referred(identity, node)
        if (known := self.made.get(id(node))) is not None:
            return known
        if len(self.made) >= MOST_ITEMS or depth > DEEPEST:
            return None
        item = self.made[id(node)] = _JsonItem(self, node, path, role, depth)
        return item

    def values(self, item: _JsonItem, keys: tuple[str, ...], name: str) -> list[Value]:
        found: list[Value] = []
        for key in keys:
            found += self._values(item.node[key], f"{item.path}.{key[:60]}", name, item.depth + 1)
        return found

    def _values(self, value: Any, path: str, name: str, depth: int) -> list[Value]:
        if isinstance(value, str):  # the most common case
            return [value]
        found: list[Value] = []
        is_many = isinstance(value, list)
        for at, each in enumerate(value[:MOST_VALUES] if is_many else [value]):
            where = f"{path}[{at}]" if is_many and len(value) > 1 else path
            if isinstance(each, dict) and "@value" in each:
                each = each["@value"]  # noqa: PLW2901
            if isinstance(each, dict):
                if (inner := self._item(each, where, name, depth)) is not None:
                    found.append(inner)
            elif isinstance(each, list):
                if depth < DEEPEST:
                    found.extend(self._values(each, where, name, depth + 1))
            elif isinstance(each, float):
                if isfinite(each):
                    found.append(Decimal(repr(each)))
            elif each is not None:
                found.append(each)
        return found

    def _referred(self, identity: str, node: dict[str, Any]) -> dict[str, Any]:
        """Resolves a reference: among top-level objects first, then among all."""
        if not self._by_id:
            self._by_id = _index((node for content in self.contents for node, _ in top_nodes(content)), {})
        if identity not in self._by_id and not self._is_indexed:
            self._is_indexed = True
            self._by_id = _index(_objects(self.contents), self._by_id)
        return self._by_id.get(identity, node)

    def extract_values(self, script: str, path: str) -> None:
        """Extracts plain values from JSON that cannot be repaired and is about one product, each by its first
        occurrence."""
        if len(PRODUCT_TYPE.findall(script)) != 1:
            return
        item = Item("plucked", f"jsonld {path}", ("product",))
        begin = PRODUCT_TYPE.search(script)
        for name, value in PLUCKED.findall(script, begin.start() if begin else 0)[:MOST_VALUES]:
            item.properties.setdefault(name.lower(), [value.replace("\\/", "/").replace('\\"', '"')])
        self.top.append(item)

    def finish(self) -> list[Item]:
        """Returns the items, including the page's declared subject as a top-level item."""
        return move_main_items_up(self.top)


def move_main_items_up(top: list[Item]) -> list[Item]:
    if not top:
        return top
    promoted = [
        inner
        for item in top
        if item.is_a(*PAGES)
        for inner in item.items("mainentity", "mainentityofpage", "about")
        if inner.types
    ]
    return list({id(item): item for item in (*top, *promoted)}.values())


def _index(nodes: Iterable[dict[str, Any]], known: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Indexes objects by `@id`; of several, the one with the most content."""
    for node in nodes:
        if isinstance(identity := node.get("@id"), str) and "@type" in node:
            before = known.get(identity)
            if before is None or len(before) < len(node):
                known[identity] = node
    return known


def _objects(contents: list[Any]) -> Iterator[dict[str, Any]]:
    waiting = list(contents)
    for _ in range(MOST_WALKED):
        if not waiting:
            return
        node = waiting.pop()
        if isinstance(node, list):
            waiting += [each for each in node if isinstance(each, dict | list)]
        elif isinstance(node, dict):
            waiting += [each for each in node.values() if isinstance(each, dict | list)]
            yield node


def _names_of(node: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Maps property names to the keys that mean them. Objects of one kind have the same keys on all pages of a site."""
    keys = tuple(node)
    return _names_of_keys(keys) if sum(map(len, keys)) < LONGEST_KNOWN else _names_of_keys.__wrapped__(keys)


@lru_cache(1024)
def _names_of_keys(keys: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for key in keys[:MOST_VALUES]:
        if not key.startswith("@"):
            name = plain_name(key[:LONGEST_ID])
            found[name] = (*found.get(name, ()), key)
    return found


def _types(node: dict[str, Any]) -> tuple[str, ...]:
    given = node.get("@type", ())
    if isinstance(given, str):
        return (plain_name(given[:LONGEST_ID]),)
    if not isinstance(given, list):
        return ()
    return tuple(plain_name(each[:LONGEST_ID]) for each in given[:10] if isinstance(each, str))
