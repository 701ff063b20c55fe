"""What a page says about itself: title, description, canonical, base, robots, declared language."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from forager.extract.clean import collapse
from forager.extract.tree import Tree

LONGEST_TITLE = 1000
LONGEST_DESCRIPTION = 2000
MOST_BESIDE = 64
"""An unexpected tag ends the head early; what was meant for it then comes among the first children of the body."""
MOST_TITLES = 20
"""Looked at outside of the head: to see that one belongs to a drawing costs a walk to the root."""
HEAD_TAGS = ("title", "meta", "link", "base")


@dataclass(slots=True)
class Head:
    title: str | None = None
    base: str | None = None
    language: str | None = None
    links: list[dict[str, str]] = field(default_factory=list)
    refreshes: list[str] = field(default_factory=list)
    metas: dict[str, list[str]] = field(default_factory=dict)
    """Contents by `name` or `property`, in lower case."""

    def meta(self, *names: str) -> str | None:
        """The first non-empty one, by the order of the names."""
        return next((content for name in names for content in self.metas.get(name, ()) if content), None)


def read_head(tree: Tree) -> Head:
    head = Head()
    if not len(tree):
        return head
    head.language = tree.get(0, "lang") or tree.get(0, "xml:lang")
    for number, tag in _elements(tree):
        match tag:
            case "title" if head.title is None:
                head.title = collapse(tree.raw(number), LONGEST_TITLE)
            case "meta":
                _take_meta(head, tree.attributes(number))
            case "link":
                head.links.append(tree.attributes(number))
            case "base" if head.base is None:
                head.base = tree.get(number, "href")
    if head.title is None:
        head.title = _title_elsewhere(tree) or _title_otherwise(tree, head)
    return head


def _elements(tree: Tree) -> Iterator[tuple[int, str]]:
    heads, bodies = tree.tags("head")[:1], tree.tags("body")[:1]
    end, body = tree.end(heads[0]) if heads else 0, bodies[0] if bodies else -1
    beside = 0
    for number in tree.tags(*HEAD_TAGS):
        if number >= end:
            if tree.parent(number) != body:
                continue
            beside += 1
            if beside > MOST_BESIDE:
                return
        yield number, tree.tag(number)


def _take_meta(head: Head, attributes: dict[str, str]) -> None:
    content = attributes.get("content")
    if content is None:
        return
    equivalent = (attributes.get("http-equiv") or "").strip().lower()
    if equivalent == "refresh":
        head.refreshes.append(content)
    name = attributes.get("name") or attributes.get("property") or equivalent
    if name:
        head.metas.setdefault(name.strip().lower(), []).append(content)


def _title_elsewhere(tree: Tree) -> str | None:
    """Deep in a broken body; that of a drawing is none of the page's."""
    drawings = [(number, tree.end(number)) for number in tree.tags("svg")]
    for number in tree.tags("title")[:MOST_TITLES]:
        if not any(start < number < end for start, end in drawings):
            return collapse(tree.raw(number), LONGEST_TITLE)
    return None


def _title_otherwise(tree: Tree, head: Head) -> str | None:
    """What the page calls itself elsewhere, where its `<title>` is empty or missing."""
    if given := collapse(head.meta("og:title", "twitter:title", "dc.title"), LONGEST_TITLE):
        return given
    return next(filter(None, tree.texts(tree.tags("h1")[:MOST_TITLES], LONGEST_TITLE)), None)
