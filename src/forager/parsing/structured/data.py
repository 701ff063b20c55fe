"""All structured data of a page, parsed once on first access."""

import re
from functools import cached_property
from typing import Any

import orjson

from forager.parsing.head import Head
from forager.parsing.structured.attributes import MICRODATA, RDFA, map_names, read_attributes
from forager.parsing.structured.items import Item, short_name
from forager.parsing.structured.jsonld import Script, decode_scripts, move_main_items_up, read_jsonld, top_nodes
from forager.parsing.tree_types import Tree

LARGEST_JSON = 256 * 1024
MOST_KEPT = 500
DEEPEST_KEPT = 12
MOST_WRITTEN = 3000
"""Limit on microdata and RDFa items."""
GRAPH_PREFIXES = ("og:", "article:", "product:", "book:", "profile:", "video:", "music:", "twitter:", "fb:", "place:")
NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")


def read_structured(tree: Tree, head: Head) -> "StructuredData":
    return StructuredData(tree, head)


class StructuredData:
    def __init__(self, tree: Tree, head: Head) -> None:
        self._tree, self._head = tree, head
        self._said: dict[str, None] = {}
        """Names in microdata and RDFa as written in the page."""

    @cached_property
    def scripts(self) -> list[Script]:
        """JSON-LD as text and decoded."""
        numbers = self._tree.tags("script")
        kinds = self._tree.column(numbers, "type")
        markup = [number for number, kind in zip(numbers, kinds, strict=True) if kind and "ld+json" in kind.lower()]
        return decode_scripts(map(self._tree.raw, markup)) if markup else []

    @property
    def documents(self) -> list[Any]:
        """JSON-LD, decoded."""
        return [content for _, content in self.scripts if content is not None]

    @cached_property
    def jsonld(self) -> list[Item]:
        return read_jsonld(self.scripts) if self.scripts else []

    @cached_property
    def microdata(self) -> list[Item]:
        return move_main_items_up(read_attributes(self._tree, MICRODATA, self._said))

    @cached_property
    def rdfa(self) -> list[Item]:
        return move_main_items_up(read_attributes(self._tree, RDFA, self._said))

    @cached_property
    def items(self) -> list[Item]:
        """Top-level items, and the items a page declares as its subject."""
        return [*self.jsonld, *self.microdata, *self.rdfa]

    def to_json(self) -> bytes:
        """Returns an array of all items, each with syntax, types and properties; items that do not fit are dropped."""
        entries = self._entries()
        if not entries:
            return b""
        written = _write(entries[:MOST_KEPT])
        return written if written and len(written) <= LARGEST_JSON else _encode_within_limit(entries)

    def _entries(self) -> list[dict[str, Any]]:
        found = [
            _entry("json-ld", _types(node), {key: value for key, value in node.items() if key not in TAKEN})
            for content in self.documents
            for node, _path in top_nodes(content)
        ]
        marked = [item for item in (*self.microdata, *self.rdfa) if not item.role]
        names = map_names(self._said) if marked else {}
        plain = _Plain(names)
        found += [_entry(item.source, **plain.of(item, 0)) for item in marked]
        graph = {name: texts for name, texts in self._head.metas.items() if name.startswith(GRAPH_PREFIXES)}
        if graph:
            found.append(_entry("opengraph", graph.get("og:type", [])[:1], graph))
        return [entry for entry in found if entry["properties"]]


class _Plain:
    """Converts items to types and properties. Drops items nested too deeply or beyond the limit: one item may be the
    value of several properties, and each occurrence is written in full."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        self._left = MOST_WRITTEN

    def of(self, item: Item, depth: int) -> dict[str, Any]:
        self._left -= 1
        properties = item.properties.items() if depth < DEEPEST_KEPT and self._left > 0 else ()
        names = self._names
        return {
            "types": [names.get(kind, kind) for kind in item.types],
            "properties": {
                names.get(name, name): [
                    self.of(value, depth + 1) if isinstance(value, Item) else value for value in values
                ]
                for name, values in properties
            },
        }


TAKEN = frozenset({"@context", "@type"})


def _entry(syntax: str, types: list[str], properties: dict[str, Any]) -> dict[str, Any]:
    return {"syntax": syntax, "types": types, "properties": properties}


def _types(node: dict[str, Any]) -> list[str]:
    given = node.get("@type")
    return [short_name(each[:200]) for each in (given if isinstance(given, list) else [given]) if isinstance(each, str)]


def _write(content: object) -> bytes:
    """Returns JSON that the database accepts; empty if it is nested too deeply."""
    try:
        written = orjson.dumps(content)
    except (TypeError, RecursionError):
        return b""
    return NUL.sub(rb"\1", written) if b"\\u0000" in written else written


def _encode_within_limit(entries: list[dict[str, Any]]) -> bytes:
    kept: list[bytes] = []
    room = LARGEST_JSON - 2
    for entry in entries:
        written = _write(entry)
        if written and len(written) < room and len(kept) < MOST_KEPT:
            kept.append(written)
            room -= len(written) + 1
    return b"[" + b",".join(kept) + b"]" if kept else b""
