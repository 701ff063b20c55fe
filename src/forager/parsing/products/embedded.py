"""Extracts the JSON that a shop passes to its own scripts: `__NEXT_DATA__`, states assigned to `window`, product JSON
of themes.

Used only if markup does not give the price. The number of bytes and documents is limited, whatever a script contains.
"""

import json
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from forager.parsing.tree_types import Tree

MOST_SCRIPTS = 120
MOST_DOCUMENTS = 12
LONGEST_DOCUMENT = 2_000_000
MOST_CHARACTERS = 4_000_000
"""For all documents of a page together."""
ASSIGNED = re.compile(r"""=\s{0,4}(?:(?P<parsed>JSON\.parse\(\s{0,4}(?=["']))|(?=[{\[]))""")
"""An assignment to a name; searching for a single character is fast."""
STATE = re.compile(
    r"""(?<![\w$])
    (__[A-Z][A-Z0-9_]{2,40}__ | __[a-z]\w{2,40}(?:State|Data|Props)(?:__)?
     | (?:product|item|pdp|sku|page|initial|preloaded)_?(?:Json|JSON|Data|Info|Detail|Details|State|Props|Page|View)?
     | meta | utag_data | digitalData)
    (?:["']\])?\s{0,4}\Z""",
    re.VERBOSE,
)
"""Names that indicate product data, up to the equals sign: `window.__INITIAL_STATE__ = {`, `window["__APOLLO_STATE__"]
= {`, `var meta = {`, `productJson = JSON.parse("`."""
LONGEST_NAME = 64
NAME_ENDS = frozenset(
    (
        *("__", "te", "ta", "ps", "ct", "em", "dp", "ku", "ge", "al", "ed", "on", "ON", "fo", "il", "ls", "ew"),
        *("t_", "m_", "p_", "u_", "e_", "l_", "d_"),
    )
)
"""The last two letters of these names: minified scripts have thousands of assignments to other names."""
CURRENCY_OF_SHOP = re.compile(r"Shopify\.currency\s{0,4}=\s{0,4}\{\s{0,4}\"active\"\s{0,4}:\s{0,4}\"([A-Z]{3})\"")
DECODER = json.JSONDecoder(strict=False, parse_float=Decimal, parse_constant=lambda _name: None)
PLAIN_SCRIPTS = frozenset({"", "text/javascript", "application/javascript", "module"})


class Document(NamedTuple):
    """One JSON document, with the name its page gives it."""

    name: str
    content: Any


class Embedded(NamedTuple):
    documents: list[Document]
    currency: str | None
    """The currency of the shop as a whole, if its script names it."""


def read_embedded(tree: Tree, scripts: Sequence[int]) -> Embedded:
    """Returns the documents in page order; unparsable ones are skipped. No script given has a `src`."""
    found: list[Document] = []
    currency, left = None, MOST_CHARACTERS
    for number in scripts[:MOST_SCRIPTS]:
        if len(found) >= MOST_DOCUMENTS or left <= 0:
            break
        kind = (tree.get(number, "type") or "").strip().lower()
        if kind not in PLAIN_SCRIPTS and not _is_json(kind):
            continue
        text = tree.raw(number)
        left -= len(text)
        if currency is None and "Shopify.currency" in text and (told := CURRENCY_OF_SHOP.search(text)):
            currency = told[1]
        if len(text) > LONGEST_DOCUMENT or not ("rice" in text or "mount" in text):
            continue
        documents = _parse_json_script(text, tree.attributes(number)) if _is_json(kind) else find_assigned(text)
        found.extend(document for document in documents if isinstance(document.content, dict | list))
    return Embedded(found[:MOST_DOCUMENTS], currency)


def _is_json(kind: str) -> bool:
    return kind.partition(";")[0] in {"application/json", "text/json"}


def _parse_json_script(text: str, attributes: dict[str, str]) -> Iterator[Document]:
    content = _decode(text, len(text) - len(text.lstrip()))
    name = attributes.get("id") or next((key for key in attributes if key.startswith("data-")), None)
    yield Document(f"script#{name[:60]}" if name else "script[json]", content)


def find_assigned(text: str) -> Iterator[Document]:
    """Yields values assigned to names that indicate product data; continues after each, and parses nothing twice."""
    at = found = 0
    while found < MOST_DOCUMENTS and (sign := ASSIGNED.search(text, at)) is not None:
        name = _name_before(text, at, sign.start())
        at = sign.end()
        if name is None:
            continue
        found += 1
        content, end = _decode_at(text, at)
        if sign["parsed"] and isinstance(content, str):
            content = _decode(content, 0)
        at = max(at, end)
        yield Document(name, content)


def _name_before(text: str, first: int, end: int) -> str | None:
    """Returns the name that ends here, if it indicates product data."""
    if text[max(first, end - 8) : end].rstrip().rstrip("]\"'")[-2:] not in NAME_ENDS:
        return None
    match = STATE.search(text, max(first, end - LONGEST_NAME), end)
    return match[1] if match else None


def _decode(text: str, at: int) -> Any:
    return _decode_at(text, at)[0]


def _decode_at(text: str, at: int) -> tuple[Any, int]:
    try:
        return DECODER.raw_decode(text, at)
    except (ValueError, RecursionError, ArithmeticError):
        return None, at
