"""Where on a page its content is: in the narrowest element that holds nearly all paragraphs."""

from bisect import bisect_left
from collections.abc import Collection
from itertools import accumulate
from typing import NamedTuple

from forager.extract.boilerplate import Marks
from forager.extract.tree import Tree

MOST_REGIONS = 30
LONG_CONTENT = 1500
"""Bytes of paragraphs below a headline that are the content for sure, whatever else there is."""
MOST_OF_NAMED = 0.6
"""Of the paragraphs and of the text that is no link: so much of a region holds the block that is named as content."""
NEARLY_ALL = 0.9
NEARLY_ALL_PROSE = 0.95
"""So much holds a block without such a name."""
MOST_BELOW_HEADLINE = 0.7
CONTAINERS = frozenset({"div", "section", "article", "main", "form", "table", "tbody", "tr", "td", "center"})
SOME = 0.05
LINKED = 0.7
"""Of a list of links; ingredients of a recipe have links too."""
SHORTEST_LIST = 80


class Weight(NamedTuple):
    """Bytes of an element."""

    text: int
    links: int
    prose: int

    @property
    def own(self) -> int:
        return self.text - self.links


class Weights:
    """Of elements without what is cut."""

    def __init__(self, tree: Tree, cut: list[int]) -> None:
        self._tree, self._cut = tree, cut
        columns = zip(*map(tree.weights, cut), strict=True)
        self._sums = [[0, *accumulate(column)] for column in columns]

    def of(self, number: int) -> Weight:
        text, links, prose = self._tree.weights(number)
        if self._cut:
            first = bisect_left(self._cut, number)
            last = bisect_left(self._cut, self._tree.end(number), first)
            if first != last:
                texts, in_links, in_prose = self._sums
                text -= texts[last] - texts[first]
                links -= in_links[last] - in_links[first]
                prose -= in_prose[last] - in_prose[first]
        return Weight(text, links, prose)


def find_content(tree: Tree, root: int, marks: Marks, weights: Weights) -> int:
    region = _find_region(tree, root, marks, weights)
    region = _narrow_by_name(tree, region, marks.content, weights)
    return _narrow(tree, region, marks.frames, weights)


def find_link_lists(tree: Tree, region: int, marks: Marks, weights: Weights) -> list[int]:
    """Blocks of links among the paragraphs of a region. Not where the region is made of links itself."""
    whole = weights.of(region)
    if whole.links * 2 >= whole.text:
        return []
    found = []
    first, last = bisect_left(marks.blocks, region + 1), bisect_left(marks.blocks, tree.end(region))
    passed = 0
    for number in marks.blocks[first:last]:
        if number < passed:
            continue
        text, links, prose = tree.weights(number)
        if text >= SHORTEST_LIST and links >= text * LINKED and prose * 5 < text and prose * 5 <= whole.prose:
            found.append(number)
            passed = tree.end(number)
    return found


def _find_region(tree: Tree, root: int, marks: Marks, weights: Weights) -> int:
    """The article, else the main element, else all: the narrowest that holds most of what the wider ones do."""
    region, whole = root, weights.of(root)
    if mains := tree.tags("main")[:MOST_REGIONS]:
        main = max(mains, key=lambda number: weights.of(number).own)
        inside = weights.of(main)
        if inside.own * 3 >= whole.own and inside.prose * 2 >= whole.prose:
            region, whole = main, inside
    article = _find_dominant(tree, tree.tags("article")[:MOST_REGIONS], weights)
    if article is None:
        return region
    inside = weights.of(article)
    # Without the headline it may be a review of what the page is about: then it has to be most of it.
    has_headline = article in marks.frames
    is_most = inside.own * (3 if has_headline else 2) >= whole.own and inside.prose * 2 >= whole.prose
    return article if is_most or (has_headline and inside.prose >= LONG_CONTENT) else region


def _find_dominant(tree: Tree, numbers: list[int], weights: Weights) -> int | None:
    """The one that holds the content, where one does: an article beside teasers, the innermost of several frames."""
    if len(numbers) < 2:
        return numbers[0] if numbers else None
    own = {number: weights.of(number).own for number in numbers}
    best, *others = sorted(own, key=lambda number: own[number], reverse=True)
    for other in others:
        if best < other < tree.end(best):
            if own[other] * 5 >= own[best] * 3:
                best = other
        elif not other < best < tree.end(other) and own[other] * 3 >= own[best]:
            return None
    return best


def _narrow_by_name(tree: Tree, region: int, named: list[int], weights: Weights) -> int:
    """The innermost block named as content that holds most of a region."""
    whole, end = weights.of(region), tree.end(region)
    for number in reversed(named):
        if region < number < end:
            inside = weights.of(number)
            if inside.prose >= whole.prose * MOST_OF_NAMED and inside.own >= whole.own * MOST_OF_NAMED:
                return _with_namesakes(tree, number, region, named, weights)
    return region


def _with_namesakes(tree: Tree, number: int, region: int, named: list[int], weights: Weights) -> int:
    """What holds all of them, where the content is in several blocks of one name."""
    name, least = _first_name(tree, number), weights.of(number).prose * SOME
    for other in named:
        if name and region < other < tree.end(region) and _first_name(tree, other) == name:
            while not number <= other < tree.end(number) and weights.of(other).prose >= least:
                number = tree.parent(number)
    return number


def _first_name(tree: Tree, number: int) -> str:
    return (tree.get(number, "class") or "").partition(" ")[0]


def _narrow(tree: Tree, region: int, frames: Collection[int], weights: Weights) -> int:
    """The innermost block that holds nearly all of a region; with the headline in it, most of it is enough."""
    whole = weights.of(region)
    least = whole.own * NEARLY_ALL, max(whole.prose * NEARLY_ALL_PROSE, 1)
    least_framed = whole.own * MOST_BELOW_HEADLINE, max(whole.prose * MOST_BELOW_HEADLINE, 1)
    while (child := _find_child(tree, region, weights, whole.own - least_framed[0], least_framed[1])) is not None:
        inside, (own, prose) = weights.of(child), least_framed if child in frames else least
        if inside.own < own or inside.prose < prose or tree.tag(child) not in CONTAINERS:
            break
        region = child
    return region


def _find_child(tree: Tree, region: int, weights: Weights, rest: float, least_prose: float) -> int | None:
    """The child with the paragraphs. No look at those behind more than may be left out."""
    child, end = region + 1, tree.end(region)
    while child < end and rest >= 0:
        inside = weights.of(child)
        if inside.prose >= least_prose:
            return child
        rest -= inside.own
        child = tree.end(child)
    return None
