"""Where on a page its content is: the narrowest element that holds nearly all paragraphs, without what is around them."""

from bisect import bisect_left
from itertools import accumulate
from typing import NamedTuple

from forager.extract.boilerplate import Marks
from forager.extract.tree import Tree

MOST_REGIONS = 30
LONG_CONTENT = 1500
"""Bytes that are the content for sure, whatever else there is."""


NARROW_OWN, NARROW_PROSE, NAMED_OWN, NAMED_PROSE = 0.9, 0.95, 0.6, 0.6


class Weight(NamedTuple):
    """Bytes of an element without what is cut."""

    text: int
    links: int
    prose: int

    @property
    def own(self) -> int:
        return self.text - self.links


class Weights:
    """Of elements without what is cut, in logarithmic time."""

    def __init__(self, tree: Tree, cut: list[int]) -> None:
        self._tree, self._cut = tree, cut
        weights = [tree.weights(number) for number in cut]
        self._sums = [[0, *accumulate(column)] for column in zip(*weights, strict=True)] if cut else []

    def of(self, number: int) -> Weight:
        tree = self._tree
        weights = tree.weights(number)
        if not self._cut:
            return Weight(*weights)
        first, last = bisect_left(self._cut, number), bisect_left(self._cut, tree.end(number))
        if first == last:
            return Weight(*weights)
        return Weight(*(whole - sums[last] + sums[first] for whole, sums in zip(weights, self._sums, strict=True)))


def find_content(tree: Tree, root: int, marks: Marks, weights: Weights) -> int:
    region = _find_region(tree, root, marks, weights)
    region = _narrow_by_name(tree, region, marks, weights)
    return _narrow(tree, region, weights)


def _find_region(tree: Tree, root: int, marks: Marks, weights: Weights) -> int:
    whole = weights.of(root)
    mains = tree.tags("main")
    main = max(mains[:MOST_REGIONS], key=lambda number: weights.of(number).own) if mains else root
    around = weights.of(main) if main != root else whole
    if around.own * 3 < whole.own or around.prose * 2 < whole.prose:
        main, around = root, whole
    article = find_dominant(tree, tree.tags("article"), weights)
    if article is not None:
        inside = weights.of(article)
        has_headline = article in marks.frames
        if (
            inside.own * (3 if has_headline else 2) >= around.own and inside.prose * 2 >= around.prose
        ) or (has_headline and inside.prose >= LONG_CONTENT):
            return article
    return main


def find_dominant(tree: Tree, numbers: list[int], weights: Weights) -> int | None:
    """The one that holds the content, where one does: an article beside teasers, the innermost of several frames."""
    if len(numbers) < 2:
        return numbers[0] if numbers else None
    own = {number: weights.of(number).own for number in numbers[:MOST_REGIONS]}
    best, *others = sorted(own, key=lambda number: own[number], reverse=True)
    for other in others:
        if best < other < tree.end(best):
            if own[other] * 5 >= own[best] * 3:
                best = other
        elif not other < best < tree.end(other) and own[other] * 3 >= own[best]:
            return None
    return best


def _narrow_by_name(tree: Tree, region: int, marks: Marks, weights: Weights) -> int:
    """The innermost block named as content with most of the paragraphs."""
    whole = weights.of(region)
    end = tree.end(region)
    for number in reversed(marks.content):
        if region < number < end:
            inside = weights.of(number)
            if inside.prose >= whole.prose * NAMED_PROSE and inside.own >= whole.own * NAMED_OWN:
                return _with_siblings(tree, number, region, marks, weights, inside)
    return region


def _with_siblings(tree: Tree, number: int, region: int, marks: Marks, weights: Weights, inside: Weight) -> int:
    """Where the content is in several blocks of one name, what holds them."""
    name = (tree.get(number, "class") or "").partition(" ")[0]
    if not name:
        return number
    for other in marks.content:
        if (
            (region < other < number or tree.end(number) <= other < tree.end(region))
            and tree.end(other) <= number or other >= tree.end(number)
        ) and (tree.get(other, "class") or "").partition(" ")[0] == name and weights.of(other).prose * SIB >= inside.prose:
            while not (number <= other < tree.end(number)):
                number = tree.parent(number)
    return max(number, region)


SIB = 20
DENSE = 0.7
SHORT_DENSE = 80
DENSE_TAGS = ("ul", "ol", "div", "section", "table", "dl")


def find_link_lists(tree: Tree, region: int, weights: Weights) -> list[int]:
    whole = weights.of(region)
    if whole.links * 2 >= whole.text:
        return []
    found = []
    passed, end = region + 1, tree.end(region)
    numbers = tree.tags(*DENSE_TAGS)
    for number in numbers[bisect_left(numbers, passed) : bisect_left(numbers, end)]:
        if number < passed:
            continue
        text, links, prose = tree.weights(number)
        if links >= text * DENSE and text >= SHORT_DENSE and prose * 5 < text:
            found.append(number)
            passed = tree.end(number)
    return found


def _narrow(tree: Tree, region: int, weights: Weights) -> int:
    """Into the block that holds nearly all there is, again and again."""
    whole = weights.of(region)
    while True:
        passed = 0
        child, end = region + 1, tree.end(region)
        while child < end:
            inside = weights.of(child)
            if inside.prose >= max(whole.prose * NARROW_PROSE, 1) and inside.own >= whole.own * NARROW_OWN:
                break
            passed += inside.own
            if passed > whole.own * (1 - NARROW_OWN):
                return region
            child = tree.end(child)
        else:
            return region
        if tree.block(child) != child:
            return region
        region = child
