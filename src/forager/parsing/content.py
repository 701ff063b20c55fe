"""Finds the content of a page: the narrowest element that holds nearly all paragraphs."""

from bisect import bisect_left
from collections.abc import Collection
from itertools import accumulate

from forager.parsing.boilerplate import Marks
from forager.parsing.tree_types import Tree

MOST_REGIONS = 30
LONG_CONTENT = 1500
"""Bytes of paragraphs below a headline that are certainly the content, whatever else the page has."""
MOST_OF_NAMED = 0.6
"""Share of a region's paragraphs and non-link text that a block named as content must hold."""
NEARLY_ALL = 0.9
NEARLY_ALL_PROSE = 0.95
"""Share that a block without such a name must hold."""
MOST_BELOW_HEADLINE = 0.7
CONTAINERS = frozenset({"div", "section", "article", "main", "form", "table", "tbody", "tr", "td", "center"})
SOME = 0.05
LINKED = 0.7
"""Link share of a list of links; ingredients of a recipe have links too."""
SHORTEST_LIST = 80


class Weights:
    """Weights of elements without the cut parts: bytes of text, of non-link text, of paragraphs."""

    def __init__(self, tree: Tree, marks: Marks) -> None:
        self._tree, self._cut = tree, marks.cut
        weights = [marked[5:] for marked in marks.cut_marks]
        self._sums = [[0, *accumulate(column)] for column in zip(*weights, strict=True)]

    def of(self, number: int) -> tuple[int, int, int]:
        return self.left(number, self._tree.end(number), *self._tree.weights(number))

    def left(self, number: int, end: int, text: int, links: int, prose: int) -> tuple[int, int, int]:
        """Returns the remaining weights of an element whose full weights are known."""
        first = bisect_left(self._cut, number)
        last = bisect_left(self._cut, end, first)
        if first != last:
            texts, in_links, in_prose = self._sums
            text -= texts[last] - texts[first]
            links -= in_links[last] - in_links[first]
            prose -= in_prose[last] - in_prose[first]
        return text, text - links, prose


def find_content(tree: Tree, root: int, marks: Marks, weights: Weights) -> int:
    region = _find_region(tree, root, marks, weights)
    region = _find_named_block(tree, region, marks.content, weights)
    return _find_inner_block(tree, region, marks.frames, weights)


def find_link_lists(tree: Tree, region: int, marks: Marks, weights: Weights) -> list[int]:
    """Returns blocks of links among the paragraphs of a region; none if the region itself consists of links."""
    whole_text, whole_own, whole_prose = weights.of(region)
    if whole_own * 2 <= whole_text:
        return []
    end = tree.end(region)
    blocks = tree.linked(region, SHORTEST_LIST, LINKED)
    shown = [number for number in marks.shown if region < number < end]
    found = []
    passed = 0
    for number in sorted({*blocks, *shown}) if shown else blocks:
        text, links, prose = tree.weights(number)
        is_list = text >= SHORTEST_LIST and links >= text * LINKED
        if number >= passed and is_list and prose * 5 < text and prose * 5 <= whole_prose:
            found.append(number)
            passed = tree.end(number)
    return found


def _find_region(tree: Tree, root: int, marks: Marks, weights: Weights) -> int:
    """Returns the article, else the main element, else the root: the narrowest that holds most of the wider ones'
    text."""
    region, (_, whole, whole_prose) = root, weights.of(root)
    if mains := tree.tags("main")[:MOST_REGIONS]:
        (_, own, prose), main = max(((weights.of(number), number) for number in mains), key=lambda each: each[0][1])
        if own * 3 >= whole and prose * 2 >= whole_prose:
            region, whole, whole_prose = main, own, prose
    article = _find_main(tree, tree.tags("article")[:MOST_REGIONS], weights)
    if article is None:
        return region
    _, own, prose = weights.of(article)
    # Without the headline it may be a review of the page's subject: then it must hold most of the text.
    has_headline = article in marks.frames
    is_most = own * (3 if has_headline else 2) >= whole and prose * 2 >= whole_prose
    return article if is_most or (has_headline and prose >= LONG_CONTENT) else region


def _find_main(tree: Tree, numbers: list[int], weights: Weights) -> int | None:
    """Returns the element that holds the content, if one does: an article beside teasers, the innermost of several
    frames."""
    if len(numbers) < 2:
        return numbers[0] if numbers else None
    own = {number: weights.of(number)[1] for number in numbers}
    best, *others = sorted(own, key=lambda number: own[number], reverse=True)
    for other in others:
        if best < other < tree.end(best):
            if own[other] * 5 >= own[best] * 3:
                best = other
        elif not other < best < tree.end(other) and own[other] * 3 >= own[best]:
            return None
    return best


def _find_named_block(tree: Tree, region: int, named: list[int], weights: Weights) -> int:
    """Returns the innermost block named as content that holds most of a region."""
    (_, whole, whole_prose), end = weights.of(region), tree.end(region)
    for number in reversed(named):
        if region < number < end:
            _, own, prose = weights.of(number)
            if prose >= whole_prose * MOST_OF_NAMED and own >= whole * MOST_OF_NAMED:
                return _find_common_ancestor(tree, number, region, named, weights)
    return region


def _find_common_ancestor(tree: Tree, number: int, region: int, named: list[int], weights: Weights) -> int:
    """Returns the element that contains all blocks of one name, if the content is spread over several."""
    name, least = _first_name(tree, number), weights.of(number)[2] * SOME
    for other in named:
        if name and region < other < tree.end(region) and _first_name(tree, other) == name:
            while not number <= other < tree.end(number) and weights.of(other)[2] >= least:
                number = tree.parent(number)
    return number


def _first_name(tree: Tree, number: int) -> str:
    return (tree.get(number, "class") or "").partition(" ")[0]


def _find_inner_block(tree: Tree, region: int, frames: Collection[int], weights: Weights) -> int:
    """Returns the innermost block that holds nearly all of a region; if it contains the headline, most of it is
    enough."""
    _, whole, whole_prose = weights.of(region)
    least = whole * NEARLY_ALL, max(whole_prose * NEARLY_ALL_PROSE, 1)
    least_framed = whole * MOST_BELOW_HEADLINE, max(whole_prose * MOST_BELOW_HEADLINE, 1)
    while (found := _find_child(tree, region, weights, whole - least_framed[0], least_framed[1])) is not None:
        child, inside, inside_prose = found
        own, prose = least_framed if child in frames else least
        if inside < own or inside_prose < prose or tree.tag(child) not in CONTAINERS:
            break
        region = child
    return region


def _find_child(
    tree: Tree, region: int, weights: Weights, rest: float, least_prose: float
) -> tuple[int, int, int] | None:
    """Returns the child with the paragraphs, and its non-link text. Stops when the children skipped exceed what may be
    left out."""
    for child in tree.children(region):
        if rest < 0:
            break
        _, own, prose = weights.left(*child)
        if prose >= least_prose:
            return child[0], own, prose
        rest -= own
    return None
