"""What a page shows around its content: told by elements, roles and names, never by words of the text.

Navigation, banners, adverts, share buttons and comments stand on every page of a site, or change while the page does
not; keywords and fingerprint are to be about the rest. Whatever holds most of the page's paragraphs is none of it.
"""

from bisect import bisect_right
from typing import NamedTuple

from forager.extract.names import Verdict
from forager.extract.tree import Tree

AROUND = ("nav", "aside", "footer", "header", "form", "dialog")
NAMED = ("div", "section", "ul", "ol", "table", "article", "main")
"""Elements that are boilerplate where their names say so."""
MOST_FRAMED = 30
"""Headlines and main elements; a page with more of them has none that matters."""
LONG_PROSE = 300
SHORT_COLUMN = 150
LONGEST_FORM = 500
"""Bytes; a longer one is the page itself, as ASP.NET wraps it."""


class Marks(NamedTuple):
    """What stands out in a page. Elements come in the order of the page."""

    blocks: list[int]
    """All elements that were looked at."""
    frames: frozenset[int]
    """Those that hold a headline or the main element."""
    content: list[int]
    """Those whose names say that they hold the content."""
    cut: list[int]
    """Boilerplate and what is hidden; none of them holds another."""
    hidden: list[int]


def find_boilerplate(tree: Tree, root: int) -> Marks:
    headlines, mains = tree.tags("h1")[:MOST_FRAMED], tree.tags("main")[:MOST_FRAMED]
    frames, framed = _frames(tree, mains), _frames(tree, headlines)
    page = _Page(tree, root)
    # With several headlines, one may be the logo in a banner. With one alone, what holds it is no banner.
    marks = page.mark(frames if len(headlines) > 1 else frames | framed)
    if len(headlines) > 1 and all(is_cut(tree, headline, marks.cut) for headline in headlines):
        marks = page.mark(frames | framed)
    return marks._replace(frames=frames | framed)


def is_cut(tree: Tree, number: int, cut: list[int]) -> bool:
    at = bisect_right(cut, number) - 1
    return at >= 0 and number < tree.end(cut[at])


class _Page:
    def __init__(self, tree: Tree, root: int) -> None:
        self._tree = tree
        self._prose = tree.weights(root)[2]
        self._hiding = frozenset(tree.hidden())
        self._around = frozenset(tree.tags(*AROUND))
        self._blocks = tree.tags(*AROUND, *NAMED)
        special = self._around | self._hiding
        if others := special.difference(self._blocks):
            self._blocks = sorted([*self._blocks, *others])
        verdicts = zip(self._blocks, tree.judge(self._blocks), strict=True)
        self._marked = [(number, verdict) for number, verdict in verdicts if verdict or number in special]

    def mark(self, frames: frozenset[int]) -> Marks:
        content: list[int] = []
        cut: list[int] = []
        hidden: list[int] = []
        passed = 0
        for number, verdict in self._marked:
            if number < passed:
                continue
            if verdict == Verdict.CONTENT:
                content.append(number)
            if number in frames:
                continue
            is_hidden = number in self._hiding and not self._is_most(number)
            if is_hidden or self._is_around(number, verdict):
                cut.append(number)
                passed = self._tree.end(number)
                if is_hidden:
                    hidden.append(number)
        return Marks(self._blocks, frames, content, cut, hidden)

    def _is_most(self, number: int) -> bool:
        return self._tree.weights(number)[2] * 2 > self._prose

    def _is_around(self, number: int, verdict: int) -> bool:
        has_tag = number in self._around
        if verdict <= Verdict.CONTENT and not has_tag:
            return False
        text, links, prose = self._tree.weights(number)
        if prose * 2 > self._prose and (verdict != Verdict.COMMENTS or self._prose - prose < LONG_PROSE):
            return False
        tag = self._tree.tag(number) if has_tag else ""
        if verdict == Verdict.BESIDE or (tag == "aside" and verdict < Verdict.AROUND):
            return text < SHORT_COLUMN or links * 5 >= text or not _is_of_article(self._tree, number)
        if verdict >= Verdict.AROUND:
            return True
        match tag:
            case "nav" | "footer" | "dialog":
                return True
            case "form" if text <= LONGEST_FORM:
                return True
            case "header" if not _is_of_article(self._tree, number):
                return True
        return verdict == Verdict.LIKELY_AROUND and (text < LONG_PROSE or links * 2 >= text)


def _frames(tree: Tree, numbers: list[int]) -> frozenset[int]:
    """All that hold one of these."""
    frames: set[int] = set()
    for number in numbers:
        parent = tree.parent(number)
        while parent >= 0 and parent not in frames:
            frames.add(parent)
            parent = tree.parent(parent)
    return frozenset(frames)


def _is_of_article(tree: Tree, number: int) -> bool:
    parent = tree.parent(number)
    while parent >= 0:
        if tree.tag(parent) in {"article", "main"}:
            return True
        parent = tree.parent(parent)
    return False
