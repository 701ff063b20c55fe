"""A parsed page whose elements are sorted by name once, instead of searched for by each who asks.

To search for one name is a walk of the whole tree, and reading asks for twenty-five names: as long as parsing. One walk
that sorts takes as long as eight that search; one in C that counts takes half of a search, and hardly any of the names
is there. Only for as long as nothing is cut.
"""

from collections.abc import Sequence
from itertools import islice

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode, SelectolaxError

from forager.errors import DecodeError
from forager.extract import compiled

# Lexbor's mutation events look at every option for each new one: 100,000 of them took half a minute.
OPTIONS = LexborDocumentOptions.WO_EVENTS.value
SORTED = (
    *("a", "area", "article", "aside", "button", "dialog", "div", "footer", "form", "h1", "h2", "h3", "header"),
    *("iframe", "img", "input", "main", "math", "nav", "noscript", "script", "section", "select", "source", "style"),
    *("svg", "time", "ul"),
)
"""What reading asks for."""
MOST_SORTED = 20_000
"""Elements; a page that has more is searched."""
RAW_TEXT = frozenset({"script", "style"})
"""Whose content is text and no elements, except in drawings and formulas."""


def _number_names() -> dict[str, int]:
    document = LexborHTMLParser("", options=OPTIONS)
    return {name: document.create_node(name).tag_id for name in SORTED}


NUMBERS = _number_names()
"""Names as the parser numbers them: the same in every page, since they are names of HTML."""


IDS = tuple(NUMBERS.values())
PLACES = {name: place for place, name in enumerate(NUMBERS)}
NOWHERE: list[LexborNode] = []


class Tree(LexborHTMLParser):
    __slots__ = ("_counts", "_sorted")
    _sorted: dict[str, list[LexborNode]]
    """Empty where the tree has to be searched. Nodes hold their tree, so it is never left full: as a circle the tree
    would stay until somebody collects garbage."""
    _counts: tuple[int, ...]
    """Of each name; empty where they were sorted instead, or something was cut since."""

    def __init__(self, page: bytes) -> None:
        super().__init__(page, options=OPTIONS)
        self._sorted, self._counts = {}, ()

    def sort(self) -> None:
        """From now on `tags` answers from what is found here. So what is cut is cut by the tree, never by a node."""
        self._sorted, self._counts = {}, ()
        root = self.root
        if root is None:
            return
        if compiled.trees is not None:
            self._counts = compiled.trees.count(root, IDS)
            return
        nodes = root.traverse()
        groups: list[list[LexborNode]] = [[] for _ in NUMBERS]
        place_in = dict(zip(NUMBERS.values(), groups, strict=True)).get
        for node in islice(nodes, MOST_SORTED):
            if (group := place_in(node.tag_id)) is not None:
                group.append(node)
        if next(nodes, None) is None:
            self._sorted = dict(zip(NUMBERS, groups, strict=True))

    def forget(self) -> None:
        self._sorted, self._counts = {}, ()

    def tags(self, name: str) -> list[LexborNode]:
        """In the order of the page. The list is not the caller's: it is not to be changed."""
        found = self._sorted.get(name)
        if found is not None:
            return found
        if self._counts and name in PLACES:
            found = self._sorted[name] = super().tags(name) if self._counts[PLACES[name]] else NOWHERE
            return found
        return super().tags(name)

    def count(self, name: str) -> int:
        """How many elements there are of a name in `SORTED`."""
        return self._counts[PLACES[name]] if self._counts and name not in self._sorted else len(self.tags(name))

    def first_has(self, name: str, attribute: str) -> bool:
        """Whether the first element of a name in `SORTED` has an attribute."""
        if not self.count(name):
            return False
        if compiled.trees is not None and self._counts and name in compiled.NAMES and (root := self.root) is not None:
            return compiled.trees.first_has(root, name, attribute)
        return attribute in self.tags(name)[0].attributes

    def cut(self, nodes: Sequence[LexborNode], *, spares: Sequence[str] = ()) -> None:
        """Out of the tree, with all that is inside: nothing by one of the names in `spares`."""
        if nodes:
            self._sorted = {name: self._sorted[name] for name in spares if name in self._sorted}
            self._counts = ()
        for node in nodes:
            node.decompose(recursive=False)

    def strip_tags(self, tags: list[str], recursive: bool = False) -> None:
        """Those that are there; what is sorted stays right."""
        if len(self._sorted) < len(NUMBERS) and not self._counts:
            self._sorted = {}
            super().strip_tags(tags, recursive)
            return
        there = [name for name in tags if self.count(name)]
        if RAW_TEXT.issuperset(there) and not self.count("svg") and not self.count("math"):
            for name in there:
                for node in self.tags(name):
                    node.decompose(recursive)
                self._sorted[name] = NOWHERE
        else:
            super().strip_tags(there, recursive)
            self.sort()


def parse(page: bytes) -> Tree:
    """Raises DecodeError when the parser gives up."""
    try:
        return Tree(page)
    except (SelectolaxError, RuntimeError) as error:
        raise DecodeError(f"the page cannot be parsed: {error}") from error
