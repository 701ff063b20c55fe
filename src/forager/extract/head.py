"""What a page says about itself: title, description, canonical, base, robots, declared language."""

from dataclasses import dataclass, field
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from forager.extract.clean import collapse

LONGEST_TITLE = 1000
LONGEST_DESCRIPTION = 2000
MOST_BODY_CHILDREN = 64
"""An unexpected tag ends the head early; what was meant for it then comes among the first children of the body."""
MOST_TITLES = 20
"""Looked at outside of the head: to see that one belongs to a drawing costs a walk to the root."""
HEAD_TAGS = frozenset({"title", "meta", "link", "base"})


@dataclass(slots=True)
class Head:
    title: str | None = None
    base: str | None = None
    language: str | None = None
    links: list[dict[str, str | None]] = field(default_factory=list)
    refreshes: list[str] = field(default_factory=list)
    metas: dict[str, list[str]] = field(default_factory=dict)
    """Contents by `name` or `property`, in lower case."""

    def meta(self, *names: str) -> str | None:
        """The first non-empty one, by the order of the names."""
        return next((content for name in names for content in self.metas.get(name, ()) if content), None)


def read_head(tree: LexborHTMLParser) -> Head:
    head = Head()
    if tree.root is not None:
        attributes = tree.root.attributes
        head.language = attributes.get("lang") or attributes.get("xml:lang")
    for node in _nodes(tree):
        match node.tag:
            case "title" if head.title is None:
                head.title = collapse(node.text(), LONGEST_TITLE)
            case "meta":
                _take_meta(head, node.attributes)
            case "link":
                head.links.append(node.attributes)
            case "base" if head.base is None:
                head.base = node.attributes.get("href")
    if head.title is None:
        head.title = _title_elsewhere(tree) or _title_otherwise(tree, head)
    return head


def _nodes(tree: LexborHTMLParser) -> list[LexborNode]:
    nodes = list(tree.head.iter()) if tree.head is not None else []
    if tree.body is not None:
        nodes += [node for node in islice(tree.body.iter(), MOST_BODY_CHILDREN) if node.tag in HEAD_TAGS]
    return nodes


def _take_meta(head: Head, attributes: dict[str, str | None]) -> None:
    content = attributes.get("content")
    if content is None:
        return
    equivalent = (attributes.get("http-equiv") or "").strip().lower()
    if equivalent == "refresh":
        head.refreshes.append(content)
    name = attributes.get("name") or attributes.get("property") or equivalent
    if name:
        head.metas.setdefault(name.strip().lower(), []).append(content)


def _title_elsewhere(tree: LexborHTMLParser) -> str | None:
    """Deep in a broken body; that of a drawing is none of the page's."""
    for node in islice(tree.tags("title"), MOST_TITLES):
        if not _is_in_svg(node):
            return collapse(node.text(), LONGEST_TITLE)
    return None


def _title_otherwise(tree: LexborHTMLParser, head: Head) -> str | None:
    """What the page calls itself elsewhere, where its `<title>` is empty or missing."""
    if given := collapse(head.meta("og:title", "twitter:title", "dc.title"), LONGEST_TITLE):
        return given
    headings = (collapse(node.text_lexbor(), LONGEST_TITLE) for node in islice(tree.tags("h1"), MOST_TITLES))
    return next(filter(None, headings), None)


def _is_in_svg(node: LexborNode) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.tag == "svg":
            return True
        parent = parent.parent
    return False
