"""The visible text of a page, the part that is the page's own, and a fingerprint. Cuts nodes out of the tree."""

import hashlib
from collections.abc import Iterable, Iterator

from selectolax.lexbor import LexborNode

from forager.extract import compiled
from forager.extract.boilerplate import JUDGES, Marks, cut_boilerplate, find_dominant
from forager.extract.clean import drop_unseen
from forager.extract.tree import Tree
from forager.extract.words import count_unspaced

LONGEST_HEADING = 200
LONGEST_HEADINGS = 2000
MOST_HEADINGS = 20
WHITE_SPACE = b" \t\n\r\f\v"
INVISIBLE = ["script", "style", "noscript", "button", "select", "svg"]
LATIN_MARK, UTF8_MARK = b"\0L", b"\0U"
"""Between title and text, which is hashed as Latin-1 where it can be: that is how it lies in memory, at a tenth of the
cost of UTF-8. Without the mark a "€" and the three characters it is garbled to would be the same."""
SLACK = 1000
LONGEST_WORD = 40
"""Characters, on the average; a page of longer words has some left out."""
LIKELY_WORD = 12
"""Characters, with the gap after it: twice the average of English, so one look is nearly always enough."""
SHORTEST_MAIN = 200
"""Less is no content."""
MOST_OF_IT = 0.7
FARTHEST_BLOCK = 8
LONG_MAIN = 1500
"""Bytes that are the content for sure, whatever else there is."""


def take_content(tree: Tree) -> tuple[str, str]:
    """The text and the headings in it. The tree is of no use for anything else afterwards."""
    if compiled.trees is not None and (root := tree.root) is not None:
        taken = compiled.trees.content(root, tree.body, JUDGES)
        if taken is not None:
            return taken[0], _join_headings(taken[1])
    return take_text(tree), find_headings(tree)


def find_headings(tree: Tree) -> str:
    nodes: list[LexborNode] = []
    for tag in ("h1", "h2", "h3"):
        if len(nodes) < MOST_HEADINGS:
            nodes += tree.tags(tag)
    found = [" ".join(node.text_lexbor().split())[:LONGEST_HEADING] for node in nodes[:MOST_HEADINGS]]
    return _join_headings(filter(None, found))


def _join_headings(headings: Iterable[str]) -> str:
    return drop_unseen(" ".join(headings)[:LONGEST_HEADINGS])


def take_text(tree: Tree) -> str:
    """The visible text without what surrounds it on every page of the site, one run of text per line."""
    tree.strip_tags(INVISIBLE, recursive=True)
    marks = cut_boilerplate(tree)
    text = _text_of_content(tree, marks)
    if not marks.around or is_enough(text):
        return text
    # Nothing but menus and forms: then these are what the page is about.
    return "\n".join([text, *(node.text(separator="\n") for node in marks.around)])


def _text_of_content(tree: Tree, marks: Marks) -> str:
    """Of the narrowest region that holds most of what the wider ones do."""
    text, enough = "", 0
    for region in _regions(tree, marks.content):
        wider = region.text(separator="\n")
        if text and enough >= weigh(wider):
            return text
        # Without the headline it may be somebody's review of what the page is about: then it has to be most of it.
        has_headline = region.mem_id in marks.frames
        if has_headline and weighs(wider, LONG_MAIN):
            return wider
        text, enough = wider, weigh(wider) * (3 if has_headline else 2)
    return text


def _regions(tree: Tree, named: list[LexborNode]) -> Iterator[LexborNode]:
    mains = tree.tags("main")
    article = find_dominant(tree.tags("article"))
    if article is not None:
        yield article
    if mains:
        yield mains[0]
    elif article is None and (content := find_dominant(named) or _block_of_headline(tree)) is not None:
        yield content
    if tree.body is not None:
        yield tree.body


def _block_of_headline(tree: Tree) -> LexborNode | None:
    """The narrowest block around the only `<h1>` that has most of the page's text."""
    headlines = tree.tags("h1")
    if len(headlines) != 1 or tree.body is None:
        return None
    most = len(tree.body.text_lexbor()) * MOST_OF_IT
    block = headlines[0].parent
    for _ in range(FARTHEST_BLOCK):
        if block is None or block.tag in {"body", "html"}:
            return None
        if len(block.text_lexbor()) >= most:
            return block
        block = block.parent
    return None


def is_enough(text: str) -> bool:
    return weighs(text, SHORTEST_MAIN)


def weighs(text: str, least: int) -> bool:
    """The beginning nearly always says it, at a tenth of the cost."""
    return weigh(text[: least * 3]) >= least or weigh(text) >= least


def weigh(text: str) -> int:
    """In bytes: a script that writes a word in one or two characters takes three for each. Without white space: how a
    page is indented, and which way it was read, decides nothing."""
    return weigh_in_python(text) if compiled.native is None else compiled.native.weigh(text)


def weigh_in_python(text: str) -> int:
    return len(text.encode().translate(None, WHITE_SPACE))


def first_words(text: str, count: int) -> str:
    if (
        compiled.native is not None
        and (found := compiled.native.first_words(text, count, count * LIKELY_WORD)) is not None
    ):
        return found
    return first_words_in_python(text, count)


def first_words_in_python(text: str, count: int) -> str:
    """A split of the whole text would cost twenty times as much as one that stops; a copy of its rest, a third more."""
    words = text[: count * LIKELY_WORD].split(None, count)
    if len(words) > count:
        return " ".join(words[:count])
    first = " ".join(text[: SLACK + count * LONGEST_WORD].split(None, count)[:count])
    return first if first.isascii() else _shorten(first, count)


def _shorten(first: str, count: int) -> str:
    """Where nothing stands between words, two characters are one; else a page would be a handful of words."""
    unspaced = count_unspaced(first[: SLACK + count * 2])
    return first[: SLACK + count * 2].rstrip() if unspaced > count else first


def fingerprint(title: str | None, text: str) -> bytes:
    """Without white space, so that neither indentation nor a new `<b>` is a change."""
    digest = hashlib.sha256((title or "").encode())
    squeezed = squeeze(text) if compiled.native is None else compiled.native.squeeze(text)
    digest.update(UTF8_MARK if squeezed is None else LATIN_MARK)
    digest.update(text.encode().translate(None, WHITE_SPACE) if squeezed is None else squeezed)
    return digest.digest()[:16]


def squeeze(text: str) -> bytes | None:
    """Without white space, where Latin-1 can write it."""
    try:
        return text.encode("latin-1").translate(None, WHITE_SPACE)
    except UnicodeEncodeError:
        return None
