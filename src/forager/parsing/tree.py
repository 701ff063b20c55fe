"""A parsed page as tables: its elements by number, in the order of the page.

A parser in C (`c/tokenizer.h`, `c/builder.h`) fills the tables. Where nothing was compiled, turbohtml parses and
`python_tree.py` makes them of the markup that it writes. So whatever a rule asks for is a look into a table, for many
elements at once where it can be, and no object is made for an element that nobody asks for.

An element holds those from its own number up to `end`: whether one lies in another is a comparison of numbers.
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
"""Of a page; what comes after them is left out. The largest real page we know has an eighth of it."""
MOST_REOPENED = 200_000
"""Formatting elements that blocks may open anew; the real page with the most has 1,100."""
MOST_BODIES = 100
CERTAINLY_FEW = 2_000
"""So few that our own parser opened again are few to turbohtml too, which remembers more of them at a time."""
FORMATTING = re.compile(r"</?(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/>])", re.IGNORECASE)


def parse(page: bytes | str) -> Tree:
    """Of UTF-8. Raises DecodeError when the parser gives up."""
    if isinstance(page, str):
        page = page.encode("utf-8", "replace")
    if compiled.native is not None:
        return compiled.native.Tree(page)
    try:
        return PythonTree(_write_tree(page.decode("utf-8", "replace")))
    except (ValueError, RuntimeError, RecursionError) as error:
        raise DecodeError(f"the page cannot be parsed: {error}") from error


def _write_tree(text: str) -> bytes:
    """The tree as turbohtml parses it, as well-formed markup."""
    return turbohtml.parse(bounded(text), positions=False, allow_declarative_shadow_roots=False).encode()


# turbohtml takes time in proportion to what it is given, except for three things that no page has which is meant to be
# read: too many elements for the memory, blocks that open hundreds of formatting elements again, a hundred bodies.
# The parser in C has these bounds built in (`c/nodes.h`).


def bounded(text: str, reopened: int | None = None) -> str:
    """The page without what would make its tree much larger than itself. Nothing is changed in an ordinary page.

    `reopened` is what `Tree.reopened` says of the page: to count it here takes ten times as long as to parse.
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
