"""Extracts the metadata in a page's head: title, description, canonical, base, robots, declared language."""

from bisect import bisect_left
from dataclasses import dataclass, field

from forager.parsing.clean import collapse
from forager.parsing.tree_types import Tree

LONGEST_TITLE = 1000
LONGEST_DESCRIPTION = 2000
MOST_BESIDE = 64
"""An unexpected tag ends the head early; the rest of the head is then among the first children of the body."""
MOST_TITLES = 20
"""Checked outside the head: detecting that a title belongs to an SVG requires a walk to the root."""
META_ATTRIBUTES = ("content", "name", "property", "http-equiv", "itemprop")
LINK_ATTRIBUTES = ("rel", "href", "hreflang", "type")
FOR_BROWSERS = frozenset(
    (
        *("stylesheet", "preload", "prefetch", "dns-prefetch", "preconnect", "modulepreload", "icon", "shortcut icon"),
        *("apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon", "manifest", "apple-touch-startup-image"),
    )
)


@dataclass(slots=True)
class Head:
    title: str | None = None
    base: str | None = None
    language: str | None = None
    links: list[dict[str, str]] = field(default_factory=list)
    refreshes: list[str] = field(default_factory=list)
    metas: dict[str, list[str]] = field(default_factory=dict)
    """Contents by `name` and `property` in lower case; each word of these is a key."""

    def meta(self, *names: str) -> str | None:
        """Returns the first non-empty value, in the order of the names."""
        return next((content for name in names for content in self.metas.get(name, ()) if content), None)


def read_head(tree: Tree) -> Head:
    head = Head()
    if not len(tree):
        return head
    head.language = tree.get(0, "lang") or tree.get(0, "xml:lang")
    heads, bodies = tree.tags("head")[:1], tree.tags("body")[:1]
    end, body = tree.end(heads[0]) if heads else 0, bodies[0] if bodies else -1
    _take_metas(head, tree, _find_in_head(tree, "meta", end, body))
    head.links = _links(tree, _find_in_head(tree, "link", end, body))
    for number in _find_in_head(tree, "base", end, body)[:1]:
        head.base = tree.get(number, "href")
    for number in _find_in_head(tree, "title", end, body):
        head.title = head.title or collapse(tree.raw(number), LONGEST_TITLE)
    if head.title is None:
        head.title = _find_body_title(tree) or _title_otherwise(tree, head)
    return head


def _find_in_head(tree: Tree, tag: str, end: int, body: int) -> list[int]:
    """Returns elements in the head, and those meant for it at the start of the body."""
    numbers = tree.tags(tag)
    if not numbers or numbers[-1] < end:
        return numbers
    inside = bisect_left(numbers, end)
    beside = [number for number in numbers[inside : inside + MOST_BESIDE] if tree.parent(number) == body]
    return numbers[:inside] + beside


def _links(tree: Tree, numbers: list[int]) -> list[dict[str, str]]:
    """Returns the `<link>` attributes, without links that only browsers use, which are the majority."""
    rels = zip(numbers, tree.column(numbers, "rel"), strict=True)
    meant = [number for number, rel in rels if rel and rel not in FOR_BROWSERS and rel.lower() not in FOR_BROWSERS]
    return [
        {name: value for name, value in zip(LINK_ATTRIBUTES, row, strict=True) if value is not None}
        for row in tree.rows(meant, LINK_ATTRIBUTES)
    ]


def _take_metas(head: Head, tree: Tree, numbers: list[int]) -> None:
    metas = head.metas
    for content, name, prop, equivalent, item_prop in tree.rows(numbers, META_ATTRIBUTES):
        if content is None:
            continue
        if equivalent and equivalent.strip().lower() == "refresh":
            head.refreshes.append(content)
        names = f"{name} {prop}" if name and prop else name or prop or equivalent or item_prop
        for each in names.lower().split() if names else ():
            if each in metas:
                metas[each].append(content)
            else:
                metas[each] = [content]


def _find_body_title(tree: Tree) -> str | None:
    """Finds a title deep in a broken body; the title of an SVG is not the page's."""
    drawings = [(number, tree.end(number)) for number in tree.tags("svg")]
    for number in tree.tags("title")[:MOST_TITLES]:
        if not any(start < number < end for start, end in drawings):
            return collapse(tree.raw(number), LONGEST_TITLE)
    return None


def _title_otherwise(tree: Tree, head: Head) -> str | None:
    """Returns the title the page gives elsewhere, if its `<title>` is empty or missing."""
    if given := collapse(head.meta("og:title", "twitter:title", "dc.title"), LONGEST_TITLE):
        return given
    return next(filter(None, tree.texts(tree.tags("h1")[:MOST_TITLES], LONGEST_TITLE)), None)
