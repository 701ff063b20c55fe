"""Could this page stall the parser? Decided from the bytes alone, before Lexbor sees them: its calls know no timeout.

Measured: attributes of one tag and open elements cost the square of their number (20,000 take about a second), and
every block opens again what formatting was left open before it (50 KB of `<b a=1>` and `<p>x` became 5 GB of nodes).
The bounds below prove that a page stays under some two seconds and 100 MB. One that fails them need not be guilty;
it is read the careful way (`flatten`).
"""

import re

from forager.extract import compiled
from forager.extract.tree import Tree

HARMLESS_BYTES = 4096
"""Too short for any of it to matter."""
QUADRATIC_BYTES = 96 * 1024
"""Up to here attributes and depth need no look: even all of it in one tag, or all tags nested, is bearable."""
MOST_TAGS = 20_000
MOST_CLONES = 300_000
"""Formatting elements times tags; one node costs some 320 bytes."""
TAG_WORK = 7_000_000_000
"""Bytes of the page times bytes of its longest tag that take the parser about a second."""

# b i u s em tt big code font small strike strong nobr, and some words that are no tags: half the cost of an exact list.
# `a` is no danger: a new one closes the last.
FORMATTING = re.compile(rb"<[biusetcfnBIUSETCFN](?:[\s/>]|(?i:m|t|ig|ode|ont|mall|trike|trong|obr)[\s/>])")
# A pair with nothing but text inside leaves nothing open. Quotes count only after "=", as in the tokenizer; else a ">"
# hidden in an attribute could make two halves look like a pair.
PAIRED = re.compile(
    rb"<(b|i|u|s|em|tt|big|code|font|small|strike|strong|nobr)(?=[\s/>])"
    rb"""(?:[^<>"'=]|=\s*+(?:"[^"<>]*"|'[^'<>]*'|(?=[^\s"'<>])))*+>[^<]*</\1>""",
    re.IGNORECASE,
)
HIDDEN_END = re.compile(rb"""=\s*+(?:"[^">]*+>|'[^'>]*+>)""")
"""A ">" inside a quoted value: the tag goes on behind it."""


FEW_LINKS = 300
"""Nested or not, so many are read soon."""


def may_stall(page: bytes) -> bool:
    if len(page) <= HARMLESS_BYTES:
        return False
    tags = _count_tags(page)
    if _leaves_much_open(page, tags):
        return True
    return len(page) > QUADRATIC_BYTES and (tags > MOST_TAGS or _has_long_tag(page))


def nests_links(tree: Tree) -> bool:
    """Many links inside of links: in drawings, formulas, objects and cells of tables nothing closes the outer one, and
    each is read with all that is inside it. 220 KB of them took 17 s, with some text in each several minutes. The tree
    is asked: to count "<a" in the bytes takes ten times as long."""
    return tree.count("a") > FEW_LINKS and tree.css_first("a a") is not None


def _count_tags(page: bytes) -> int:
    return page.count(b"<") if compiled.texts is None else compiled.texts.count_byte(page, ord("<"))


def _leaves_much_open(page: bytes, tags: int) -> bool:
    if tags * tags <= MOST_CLONES:
        return False
    formatting = len(FORMATTING.findall(page))
    return formatting * tags > MOST_CLONES and (formatting - len(PAIRED.findall(page))) * tags > MOST_CLONES


def _has_long_tag(page: bytes) -> bool:
    hidden = len(HIDDEN_END.findall(page))
    longest = TAG_WORK // len(page) // (hidden + 1)
    # As a power of two, so that the few patterns stay compiled.
    longest = min(1 << max(longest, 1).bit_length() - 1, 1 << 15)
    return longest < 64 or re.search(rb"<[a-zA-Z][^>]{%d}" % longest, page) is not None
