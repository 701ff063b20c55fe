"""Splits URLs into searchable parts, and builds the marks by which `url:` finds a page. Pure.

A part is a run of letters and digits: `shop.example/tea/green-tea` has shop, example, tea, green, tea. The index has a
mark for each part and one for each pair of neighbours, so that `url:green-tea` finds parts in a row by the index alone.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from urllib.parse import unquote

PART = re.compile(r"[^\W_]+")
MOST_PARTS = 24
LONGEST_PART = 40
LONGEST_URL = 2000
JOINT = "/"
"""Separates the parts of a pair; no part contains it."""


def url_parts(url: str) -> list[str]:
    """Returns the parts of a URL, or of the piece of one that a user typed, without the scheme. Percent-encoded letters
    are decoded; what is no UTF-8 separates parts."""
    rest = url[url.find("://", 0, 12) + 3 if "://" in url[:12] else 0 : LONGEST_URL]
    text = unquote(rest, errors="replace") if "%" in rest else rest
    return [part[:LONGEST_PART] for part in PART.findall(text.replace("\ufffd", " ").lower())[:MOST_PARTS]]


def url_words(parts: Sequence[str]) -> list[str]:
    """Returns what is indexed of a URL with these parts: each of them, and each pair of neighbours."""
    pairs = [f"{one}{JOINT}{other}" for one, other in pairwise(parts)]
    return list(dict.fromkeys([*parts, *pairs]))


def wanted_words(parts: Sequence[str]) -> list[str]:
    """Returns what a page must have in its index for these parts to occur in a row: the pairs imply the parts."""
    return url_words(parts)[len(set(parts)) :] if len(parts) > 1 else list(parts)
