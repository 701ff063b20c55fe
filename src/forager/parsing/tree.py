"""A parsed page as tables: its elements by number, in document order.

A parser in C (`c/tokenizer.h`, `c/builder.h`) fills the tables. Where it was not compiled, turbohtml parses and
`python_tree.py` builds the tables from the markup it writes. Every query is a table lookup, for many elements at once
where possible, and no object is created for an element that is not queried.

An element contains those from its own number up to `end`: whether one is inside another is a comparison of numbers.
"""

import re
from itertools import islice

import turbohtml

from forager.errors import DecodeError
from forager.parsing import compiled
from forager.parsing.formatting_limit import BODY, exceeds_format_limit
from forager.parsing.python_tree import PythonTree
from forager.parsing.tree_types import Tree

MOST_TAGS = 250_000
"""Per page; later tags are dropped. The largest known real page has an eighth of it."""
MOST_REOPENED = 200_000
"""Formatting elements that blocks may reopen; the real page with the most has 1,100."""
MOST_BODIES = 100
CERTAINLY_FEW = 2_000
"""If our own parser reopened at most this many, turbohtml reopens few too, although it tracks more of them at a
time."""
FORMATTING = re.compile(r"</?(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/>])", re.IGNORECASE)


def parse(page: bytes | str) -> Tree:
    """Parses UTF-8. Raises DecodeError when the parser fails."""
    if isinstance(page, str):
        page = page.encode("utf-8", "replace")
    if compiled.native is not None:
        return compiled.native.Tree(page)
    try:
        return PythonTree(_write_tree(page.decode("utf-8", "replace")))
    except (ValueError, RuntimeError, RecursionError) as error:
        raise DecodeError(f"the page cannot be parsed: {error}") from error


def _write_tree(text: str) -> bytes:
    """Returns the tree as parsed by turbohtml, as well-formed markup."""
    return turbohtml.parse(bounded(text), positions=False, allow_declarative_shadow_roots=False).encode()


# turbohtml is linear in its input, except for three things that no page meant for readers contains:
# too many elements for the memory, blocks that reopen hundreds of formatting elements, a hundred bodies.
# The parser in C has these limits built in (`c/nodes.h`).


def bounded(text: str, reopened: int | None = None) -> str:
    """Returns the page without parts that would make its tree much larger than itself. Ordinary pages are unchanged.

    `reopened` is the value of `Tree.reopened` for the page: counting it here takes ten times as long as parsing.
    """
    if text.count("<") > MOST_TAGS:
        text = _truncate(text)
    if (reopened is None or reopened > CERTAINLY_FEW) and exceeds_format_limit(text, MOST_REOPENED):
        text = FORMATTING.sub("<!", text)
    if (further := next(islice(BODY.finditer(text), MOST_BODIES, None), None)) is not None:
        start = further.start()
        text = text[:start] + BODY.sub("<!", text[start:])
    return text


def _truncate(text: str) -> str:
    place = -1
    for _ in range(MOST_TAGS):
        place = text.find("<", place + 1)
    return text[:place]
