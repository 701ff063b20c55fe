"""Extracts the visible text of a page, the part that is its content, and a fingerprint."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from forager.parsing import compiled
from forager.parsing.boilerplate import Marks, find_boilerplate, is_inside
from forager.parsing.clean import strip_hidden
from forager.parsing.content import Weights, find_content, find_link_lists
from forager.parsing.tree_types import Tree
from forager.parsing.words import count_without_spaces

LONGEST_HEADING = 200
LONGEST_HEADINGS = 2000
MOST_HEADINGS = 20
WHITE_SPACE = b" \t\n\r\f\v"
LATIN_MARK, UTF8_MARK = b"\0L", b"\0U"
"""Separator between title and text, which is hashed as Latin-1 if possible: that is its form in memory, at a tenth of
the cost of UTF-8. Without the mark, a "€" and the three characters of its mojibake would be the same."""
SLACK = 1000
LONGEST_WORD = 40
"""Average characters; a page with longer words loses some."""
LIKELY_WORD = 12
"""Characters including the space after it: twice the English average, so one pass is nearly always enough."""
SHORTEST_MAIN = 200
"""Shorter text does not count as content."""
MOST_OF_IT = 0.7
LONG_MAIN = 1500
"""Bytes that are certainly the content, whatever else the page has."""


class Content(NamedTuple):
    """The main text of a page, and where it is."""

    text: str
    """One line for each block."""
    headings: str
    """Those of the page without its boilerplate."""
    region: int | None = None
    """The element that holds the text; None if it comes from no element."""
    cut: Sequence[int] = ()
    """What is left out of it, in document order."""


def take_content(tree: Tree) -> Content:
    if not len(tree):
        return Content("", "")
    root = next(iter(tree.tags("body", "frameset")), 0)
    marks = find_boilerplate(tree, root)
    text, region, cut = _take_text(tree, root, marks)
    return Content(text, _find_headings(tree, marks), region, cut)


def take_text(tree: Tree) -> str:
    return take_content(tree).text


def _find_headings(tree: Tree, marks: Marks) -> str:
    nodes: list[int] = []
    for tag in ("h1", "h2", "h3"):
        if len(nodes) < MOST_HEADINGS:
            nodes += [number for number in tree.tags(tag) if not is_inside(tree, number, marks.cut)]
    found = tree.texts(nodes[:MOST_HEADINGS], LONGEST_HEADING)
    return strip_hidden(" ".join(filter(None, found))[:LONGEST_HEADINGS])


def _take_text(tree: Tree, root: int, marks: Marks) -> tuple[str, int | None, Sequence[int]]:
    """Returns the visible text without the boilerplate that repeats on every page of the site, and where it is."""
    weights = Weights(tree, marks)
    region = find_content(tree, root, marks, weights)
    cut = sorted(marks.cut + find_link_lists(tree, region, marks, weights))
    text = tree.lines(region, cut)
    if is_enough(text):
        return text, region, cut
    # Nothing but menus and forms: then they are the content of the page.
    for hidden in (marks.hidden, []):
        if text := tree.lines(root, hidden):
            return text, root, hidden
    return _text_without_scripts(tree), None, ()


def _text_without_scripts(tree: Tree) -> str:
    """Returns the text for browsers without scripts, if the page shows nothing else."""
    texts = (" ".join(tree.raw(number).split()) for number in tree.tags("noscript"))
    return "\n".join(filter(None, texts))


def is_enough(text: str) -> bool:
    return has_min_length(text, SHORTEST_MAIN)


def has_min_length(text: str, least: int) -> bool:
    """Whether the text has `least` bytes. Its beginning nearly always decides, at a tenth of the cost."""
    return weigh(text[: least * 3]) >= least or weigh(text) >= least


def weigh(text: str) -> int:
    """Returns the length in bytes: a script that writes a word in one or two characters takes three bytes for each.
    White space is ignored, so indentation and the parser used do not affect the result."""
    return text_length_in_python(text) if compiled.native is None else compiled.native.weigh(text)


def text_length_in_python(text: str) -> int:
    return len(text.encode().translate(None, WHITE_SPACE))


def first_words(text: str, count: int) -> str:
    if (
        compiled.native is not None
        and (found := compiled.native.first_words(text, count, count * LIKELY_WORD)) is not None
    ):
        return found
    return first_words_in_python(text, count)


def first_words_in_python(text: str, count: int) -> str:
    """Returns the first words. Splitting the whole text would cost twenty times as much as a split that stops; copying
    the rest, a third more."""
    words = text[: count * LIKELY_WORD].split(None, count)
    if len(words) > count:
        return " ".join(words[:count])
    first = " ".join(text[: SLACK + count * LONGEST_WORD].split(None, count)[:count])
    return first if first.isascii() else _truncate_words(first, count)


def _truncate_words(first: str, count: int) -> str:
    """Truncates to `count` words. In scripts without spaces, two characters count as one word; otherwise a page would
    have a handful of words."""
    beginning = first[: SLACK + count * 2]
    # Each such character takes three bytes: in most texts the byte count rules them out, faster than counting them.
    if len(beginning.encode(errors="replace")) - len(beginning) <= 2 * count:
        return first
    return beginning.rstrip() if count_without_spaces(beginning) > count else first


def is_cut(first: str, text: str) -> bool:
    """Whether the text has more words than its first ones."""
    return len(first) < len(text) and weigh(first) < weigh(text)


def fingerprint(title: str | None, text: str) -> bytes:
    """Hashes title and text without white space, so that neither indentation nor a new `<b>` counts as a change."""
    digest = hashlib.sha256((title or "").encode())
    digest.update(squeeze(text) if compiled.native is None else compiled.native.squeeze(text))
    return digest.digest()[:16]


def squeeze(text: str) -> bytes:
    """Returns the text without white space, in Latin-1 if possible, after a mark for the encoding."""
    try:
        return LATIN_MARK + text.encode("latin-1").translate(None, WHITE_SPACE)
    except UnicodeEncodeError:
        return UTF8_MARK + text.encode().translate(None, WHITE_SPACE)
