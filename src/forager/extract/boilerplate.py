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
SHOWN = frozenset({Verdict.FOLDED, Verdict.CONTENT})
"""What is never hidden for good."""
SHORTEST_PAGE = 200
MOST_NESTED = 4
"""Parts of a spared block are named like it: `comment`, `comment-body`, `comment-text`."""
FEWEST_POSTS = 3
"""Of a forum: below an article, comments are in one block."""
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
    if len(headlines) > 1 and all(is_inside(tree, headline, marks.cut) for headline in headlines):
        marks = page.mark(frames | framed)
    return marks._replace(frames=frames | framed)


def is_inside(tree: Tree, number: int, others: list[int]) -> bool:
    """Of others that do not hold each other, in the order of the page."""
    at = bisect_right(others, number) - 1
    return at >= 0 and number < tree.end(others[at])


class _Page:
    def __init__(self, tree: Tree, root: int) -> None:
        self._tree = tree
        self._hiding = frozenset(tree.hidden())
        self._articles = _outermost(tree, tree.tags("article", "main"))
        self._around = frozenset(tree.tags(*AROUND))
        self._blocks = tree.tags(*AROUND, *NAMED)
        special = self._around | self._hiding
        if others := special.difference(self._blocks):
            self._blocks = sorted([*self._blocks, *others])
        verdicts = tree.judge(self._blocks)
        judged = zip(self._blocks, verdicts, strict=True)
        self._marked = [(number, verdict) for number, verdict in judged if verdict or number in special]
        self._text, _, self._prose = tree.weights(root)
        if Verdict.CONSENT in verdicts:
            self._prose -= self._count_consent()

    def _count_consent(self) -> int:
        """Bytes of paragraphs that ask for consent: more than the page itself has to say, often."""
        prose = passed = 0
        for number, verdict in self._marked:
            if verdict == Verdict.CONSENT and number >= passed and self._is_around(number, verdict):
                prose += self._tree.weights(number)[2]
                passed = self._tree.end(number)
        return prose

    def mark(self, frames: frozenset[int]) -> Marks:
        """Blocks of one name that hold most of the paragraphs together are spared like one block that does."""
        marks = self._mark(frames, frozenset())
        spared: frozenset[int] = frozenset()
        for _ in range(MOST_NESTED):
            if not (more := self._find_most(marks.cut)):
                break
            spared |= more
            marks = self._mark(frames, spared)
        return marks

    def _find_most(self, cut: list[int]) -> frozenset[int]:
        prose = {number: self._tree.weights(number)[2] for number in cut}
        if sum(prose.values()) * 2 <= self._prose:
            return frozenset()
        verdicts = dict(self._marked)
        groups: dict[tuple[str, int], list[int]] = {}
        for number, names in zip(cut, self._tree.column(cut, "class"), strict=True):
            if names and (name := names.partition(" ")[0]):
                groups.setdefault((name, verdicts[number]), []).append(number)
        for (_, verdict), numbers in groups.items():
            is_thread = verdict == Verdict.COMMENTS and len(numbers) >= FEWEST_POSTS
            if (verdict < Verdict.COMMENTS or is_thread) and sum(map(prose.__getitem__, numbers)) * 2 > self._prose:
                return frozenset(numbers)
        return frozenset()

    def _is_too_much(self, prose: int, verdict: int) -> bool:
        """More than half of all paragraphs; of comments, nearly all."""
        return prose * 2 > self._prose and (verdict != Verdict.COMMENTS or self._prose - prose < LONG_PROSE)

    def _mark(self, frames: frozenset[int], spared: frozenset[int]) -> Marks:
        content: list[int] = []
        cut: list[int] = []
        hidden: list[int] = []
        passed = 0
        for number, verdict in self._marked:
            if number < passed:
                continue
            if verdict == Verdict.CONTENT:
                content.append(number)
            if number in frames or number in spared:
                continue
            is_hidden = (
                number in self._hiding
                and verdict not in SHOWN
                and not self._is_too_much(self._tree.weights(number)[2], verdict)
            )
            if is_hidden or self._is_around(number, verdict):
                cut.append(number)
                passed = self._tree.end(number)
                if is_hidden:
                    hidden.append(number)
        return Marks(self._blocks, frames, content, cut, hidden)

    def _is_of_article(self, number: int) -> bool:
        return is_inside(self._tree, number, self._articles)

    def _is_around(self, number: int, verdict: int) -> bool:
        has_tag = number in self._around
        if verdict <= Verdict.CONTENT and not has_tag:
            return False
        text, links, prose = self._tree.weights(number)
        if verdict == Verdict.CONSENT:
            return self._text - text >= SHORTEST_PAGE
        if self._is_too_much(prose, verdict):
            return False
        tag = self._tree.tag(number) if has_tag else ""
        if verdict == Verdict.BESIDE or (tag == "aside" and verdict < Verdict.AROUND):
            return text < SHORT_COLUMN or links * 5 >= text or not self._is_of_article(number)
        if verdict >= Verdict.AROUND:
            return True
        match tag:
            case "nav" | "footer" | "dialog":
                return True
            case "form" if text <= LONGEST_FORM:
                return True
            case "header" if not self._is_of_article(number):
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


def _outermost(tree: Tree, numbers: list[int]) -> list[int]:
    found: list[int] = []
    end = 0
    for number in numbers:
        if number >= end:
            found.append(number)
            end = tree.end(number)
    return found
