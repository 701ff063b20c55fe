"""Finds the parts of a page around its content, by elements, roles and names, never by words of the text.

Navigation, banners, adverts, share buttons and comments repeat on every page of a site, or change while the page does
not; keywords and fingerprint must exclude them. A block that holds most of the page's paragraphs is never boilerplate.
"""

from bisect import bisect_right
from typing import NamedTuple

from forager.parsing.class_names import NameClass
from forager.parsing.tree_types import Marked, Tree

LIKELY_AROUND, CONTENT, BESIDE = int(NameClass.LIKELY_AROUND), int(NameClass.CONTENT), int(NameClass.BESIDE)
AROUND, COMMENTS, CONSENT = int(NameClass.AROUND), int(NameClass.COMMENTS), int(NameClass.CONSENT)
"""Plain integers for comparison: accessing an enum member takes four times as long."""
MOST_FRAMED = 30
"""Headlines and main elements; on a page with more of them, none is significant."""
SHOWN = frozenset({int(NameClass.FOLDED), CONTENT})
"""Classes that are never permanently hidden."""
SHORTEST_PAGE = 200
MOST_NESTED = 4
"""Parts of a kept block have similar names: `comment`, `comment-body`, `comment-text`."""
FEWEST_POSTS = 3
"""Minimum for a forum: below an article, comments are in one block."""
LONG_PROSE = 300
SHORT_COLUMN = 150
LONGEST_FORM = 500
"""Bytes; a longer form is the page itself, as ASP.NET wraps it."""


class Marks(NamedTuple):
    """The marked elements of a page, in document order."""

    frames: frozenset[int]
    """Elements that contain a headline or the main element."""
    content: list[int]
    """Elements whose names mark them as content."""
    cut: list[int]
    """Boilerplate and hidden elements; none contains another."""
    cut_marks: list[Marked]
    """The same elements with their attributes and weights."""
    hidden: list[int]
    """Elements that are cut because they are hidden."""
    shown: list[int]
    """Elements that would count as hidden, but hold too much of the page or are a click away."""


def find_boilerplate(tree: Tree, root: int) -> Marks:
    headlines, mains = tree.tags("h1")[:MOST_FRAMED], tree.tags("main")[:MOST_FRAMED]
    frames, framed = _frames(tree, mains), _frames(tree, headlines)
    page = _Page(tree, root)
    # With several headlines, one may be the logo in a banner. With only one, the element around it is no banner.
    if len(headlines) > 1:
        marks = page.mark(frames)
        if not all(is_inside(tree, headline, marks.cut) for headline in headlines):
            return marks._replace(frames=frames | framed)
    return page.mark(frames | framed)


def is_inside(tree: Tree, number: int, others: list[int]) -> bool:
    """Whether an element is inside one of the others, which are disjoint and in document order."""
    at = bisect_right(others, number) - 1
    return at >= 0 and number < tree.end(others[at])


class _Page:
    def __init__(self, tree: Tree, root: int) -> None:
        self._tree = tree
        self._articles = _drop_nested(tree, tree.tags("article", "main"))
        self._text, _, self._prose = tree.weights(root)
        self._prose -= self._count_cookie_text()

    def _count_cookie_text(self) -> int:
        """Returns the bytes of paragraphs that ask for consent; often more than the page's own text."""
        prose = passed = 0
        for marked in self._tree.saying(CONSENT):
            _, _, number, end, *_, its_prose = marked
            if number >= passed and self._is_boilerplate(marked):
                prose += its_prose
                passed = end
        return prose

    def mark(self, frames: frozenset[int]) -> Marks:
        """Marks boilerplate. Blocks of one name that together hold most of the paragraphs are kept, like a single such
        block."""
        marks = self._mark(frames, frozenset())
        spared: frozenset[int] = frozenset()
        for _ in range(MOST_NESTED):
            if not (more := self._find_most(marks)):
                break
            spared |= more
            marks = self._mark(frames, spared)
        return marks

    def _find_most(self, marks: Marks) -> frozenset[int]:
        if sum([marked[-1] for marked in marks.cut_marks]) * 2 <= self._prose:
            return frozenset()
        groups: dict[tuple[str, int], list[Marked]] = {}
        for marked, names in zip(marks.cut_marks, self._tree.column(marks.cut, "class"), strict=True):
            if names and (name := names.partition(" ")[0]):
                groups.setdefault((name, marked[4]), []).append(marked)
        for (_, verdict), members in groups.items():
            is_thread = verdict == COMMENTS and len(members) >= FEWEST_POSTS
            prose = sum(marked[-1] for marked in members)
            if (verdict < COMMENTS or is_thread) and prose * 2 > self._prose:
                return frozenset(marked[2] for marked in members)
        return frozenset()

    def _exceeds_share(self, prose: int, verdict: int) -> bool:
        """Whether a block holds more than half of all paragraphs; for comments, nearly all."""
        return prose * 2 > self._prose and (verdict != COMMENTS or self._prose - prose < LONG_PROSE)

    def _mark(self, frames: frozenset[int], spared: frozenset[int]) -> Marks:
        marks = Marks(frames, [], [], [], [], [])
        at = 0
        while (marked := self._tree.next_marked(at)) is not None:
            _, is_hiding, number, end, verdict, _, _, prose = marked
            at = number + 1
            if verdict == CONTENT:
                marks.content.append(number)
            is_spared = number in frames or number in spared
            is_hidden = is_hiding and not is_spared and verdict not in SHOWN and not self._exceeds_share(prose, verdict)
            if is_hidden or (not is_spared and self._is_boilerplate(marked)):
                marks.cut.append(number)
                marks.cut_marks.append(marked)
                at = end
                if is_hidden:
                    marks.hidden.append(number)
            elif is_hiding:
                marks.shown.append(number)
        return marks

    def _is_of_article(self, number: int) -> bool:
        return is_inside(self._tree, number, self._articles)

    def _is_boilerplate(self, marked: Marked) -> bool:
        tag, _, number, _, verdict, text, links, prose = marked
        if verdict <= CONTENT and not tag:
            return False
        if verdict == CONSENT:
            return self._text - text >= SHORTEST_PAGE
        if self._exceeds_share(prose, verdict):
            return False
        if verdict == BESIDE or (tag == "aside" and verdict < AROUND):
            return text < SHORT_COLUMN or links * 5 >= text or not self._is_of_article(number)
        if verdict >= AROUND:
            return True
        match tag:
            case "nav" | "footer" | "dialog":
                return True
            case "form" if text <= LONGEST_FORM:
                return True
            case "header" if not self._is_of_article(number):
                return True
        return verdict == LIKELY_AROUND and (text < LONG_PROSE or links * 2 >= text)


def _frames(tree: Tree, numbers: list[int]) -> frozenset[int]:
    """Returns all elements that contain one of these."""
    return frozenset[int]().union(*map(tree.above, numbers))


def _drop_nested(tree: Tree, numbers: list[int]) -> list[int]:
    found: list[int] = []
    end = 0
    for number in numbers:
        if number >= end:
            found.append(number)
            end = tree.end(number)
    return found
