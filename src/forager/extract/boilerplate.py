"""What a page shows around its content, and where the content is: told by elements, roles and names, never by words.

Navigation, banners, adverts, share buttons and comments stand on every page of a site, or change while the page does
not; keywords and fingerprint are to be about the rest.
"""

import re
from bisect import bisect_right
from typing import NamedTuple

from forager.extract.names import LONGEST_NAME, Verdict, judge_names
from forager.extract.tree import Tree

AROUND = ("nav", "aside", "footer", "header", "form", "dialog")
LOOKED_AT = (*AROUND, "div", "section", "ul")
"""Elements that are boilerplate where their names say so, or that are hidden."""
FRAMED = ("h1", "main")
"""What no banner holds: a heading of the page and its main element."""
HIDING_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
MOST_NAMED = 20_000
LONG_PROSE = 300
SHORT_BESIDE = 150
MOST_REGIONS = 30
LONGEST_FORM = 500
"""Bytes; a longer one is the page itself, as ASP.NET wraps it."""


class Marks(NamedTuple):
    """What stood out in a page."""

    frames: frozenset[int]
    """Elements that hold a headline or the main element."""
    content: list[int]
    """Elements whose names say that they hold the content."""
    cut: list[int]
    """Boilerplate and what is hidden: the outermost elements, in the order of the page."""
    hidden: list[int]


def find_boilerplate(tree: Tree, root: int) -> Marks:
    headlines, mains = tree.tags("h1"), tree.tags("main")
    frames = _frames(tree, mains)
    marks = _mark(tree, root, frames if len(headlines) > 1 else frames | _frames(tree, headlines))
    if len(headlines) > 1 and all(is_cut(tree, headline, marks) for headline in headlines):
        marks = _mark(tree, root, frames | _frames(tree, headlines))
    return marks._replace(frames=frames | _frames(tree, headlines))


def is_cut(tree: Tree, number: int, marks: Marks) -> bool:
    at = bisect_right(marks.cut, number) - 1
    return at >= 0 and number < tree.end(marks.cut[at])


def _mark(tree: Tree, root: int, frames: frozenset[int]) -> Marks:
    hiding = _hidden(tree)
    most = tree.weights(root)[2] // 2
    around_tags = frozenset(tree.tags(*AROUND))
    numbers = sorted(hiding.union(tree.tags(*LOOKED_AT)))[:MOST_NAMED]
    content: list[int] = []
    around: list[int] = []
    cut: list[int] = []
    passed = 0
    columns = (tree.column(numbers, name) for name in ("class", "id", "role"))
    for number, *names in zip(numbers, *columns, strict=True):
        if number < passed:
            continue
        verdict = judge_names(*names)
        if verdict is Verdict.CONTENT:
            content.append(number)
        if number in frames:
            continue
        if number in hiding:
            if tree.weights(number)[2] > most:
                continue
            cut.append(number)
            passed = tree.end(number)
        elif (verdict > Verdict.CONTENT or number in around_tags) and _is_around(tree, number, verdict, most):
            cut.append(number)
            around.append(number)
            passed = tree.end(number)
    return Marks(frames, content, cut, [n for n in cut if n in hiding])


def _is_around(tree: Tree, number: int, verdict: Verdict, most: int) -> bool:
    text, links, prose = tree.weights(number)
    if prose > most and (verdict is not Verdict.COMMENTS or most * 2 - prose < LONG_PROSE):
        return False
    tag = tree.tag(number)
    if verdict is Verdict.BESIDE or (tag == "aside" and verdict <= Verdict.LIKELY_AROUND):
        return text < SHORT_BESIDE or links * 5 >= text or not _is_of_article(tree, number)
    if verdict >= Verdict.AROUND:
        return True
    match tag:
        case "nav" | "footer" | "dialog":
            return True
        case "form" if text <= LONGEST_FORM:
            return True
        case "header" if not _is_of_article(tree, number):
            return True
    return verdict is Verdict.LIKELY_AROUND and (text < LONG_PROSE or links * 2 >= text)


def _frames(tree: Tree, numbers: list[int]) -> frozenset[int]:
    """Whatever holds one of these is no boilerplate."""
    frames: set[int] = set()
    for number in numbers[:MOST_REGIONS]:
        parent = tree.parent(number)
        while parent >= 0 and parent not in frames:
            frames.add(parent)
            parent = tree.parent(parent)
    return frozenset(frames)


def _hidden(tree: Tree) -> frozenset[int]:
    hiding = set(tree.having("hidden"))
    numbers = tree.having("aria-hidden", "style")
    for number, aria, style in zip(
        numbers, tree.column(numbers, "aria-hidden"), tree.column(numbers, "style"), strict=True
    ):
        if aria == "true" or (style and HIDING_STYLE.search(style[:LONGEST_NAME])):
            hiding.add(number)
    return frozenset(hiding)


def _is_of_article(tree: Tree, number: int) -> bool:
    """Then it holds the headline."""
    parent = tree.parent(number)
    while parent >= 0:
        if tree.tag(parent) in {"article", "main"}:
            return True
        parent = tree.parent(parent)
    return False
