"""The visible text of a page, the part that is the page's own, and a fingerprint. Cuts nodes out of the tree."""

import hashlib
from collections.abc import Iterable

from selectolax.lexbor import LexborHTMLParser, LexborNode

LONGEST_HEADING = 200
LONGEST_HEADINGS = 2000
MOST_HEADINGS = 20
WHITE_SPACE = b" \t\n\r\f\v"
INVISIBLE = ("script", "style", "noscript")
AROUND = ("nav", "header", "footer", "aside")
SHORTEST_MAIN = 200
"""Characters; less in a `<main>` or `<article>` and the page uses it for something else."""


def find_headings(tree: LexborHTMLParser) -> str:
    nodes = [node for tag in ("h1", "h2", "h3") for node in tree.tags(tag)]
    found = (" ".join(node.text().split())[:LONGEST_HEADING] for node in nodes[:MOST_HEADINGS])
    return " ".join(filter(None, found))[:LONGEST_HEADINGS]


def take_text(tree: LexborHTMLParser) -> str:
    """The visible text without what surrounds it on every page of the site, as far as the markup tells.

    One run of text per line, and one pass over the tree where the page has a `<main>`: two cost 40 µs more.
    """
    _cut(tree, INVISIBLE)
    main = _main_node(tree)
    if main is not None and len(text := main.text(separator="\n")) >= SHORTEST_MAIN:
        return text
    if tree.body is None:
        return ""
    visible = tree.body.text(separator="\n")
    if not _cut(tree, AROUND):
        return visible
    text = tree.body.text(separator="\n")
    return text if len(text) >= SHORTEST_MAIN else visible


def _main_node(tree: LexborHTMLParser) -> LexborNode | None:
    if mains := tree.tags("main"):
        return mains[0]
    articles = tree.tags("article")
    return articles[0] if len(articles) == 1 else None


def _cut(tree: LexborHTMLParser, tags: Iterable[str]) -> int:
    nodes: list[LexborNode] = [node for tag in tags for node in tree.tags(tag)]
    for node in nodes:
        node.decompose()
    return len(nodes)


def first_words(text: str, count: int) -> str:
    """A split of the whole text would cost twenty times as much as one that stops."""
    return " ".join(text.split(None, count)[:count])


def fingerprint(title: str | None, text: str) -> bytes:
    """Without white space, so that neither indentation nor a new `<b>` is a change."""
    digest = hashlib.sha256((title or "").encode() + b"\0")
    digest.update(text.encode().translate(None, WHITE_SPACE))
    return digest.digest()[:16]
