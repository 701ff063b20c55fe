"""What a page consists of besides words: headings, items of lists, links, cells of tables, code, quotes, images.

Of HTML and of Markdown alike: the latter is rendered first, by a parser of CommonMark that is not ours. Each kind is a
multiset of texts; spaces, case and marks do not count.
"""

import re
from collections import Counter
from html.parser import HTMLParser

from markdown_it import MarkdownIt

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
NAMES = {
    **dict.fromkeys(HEADINGS, "headings"),
    "li": "items",
    "a": "links",
    "td": "cells",
    "th": "cells",
    "pre": "code",
    "blockquote": "quotes",
}
KINDS = ("headings", "items", "links", "cells", "code", "quotes", "images")
VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
UNSEEN = frozenset({"script", "style", "template", "noscript"})
WORDS = re.compile(r"\w+")
Structure = dict[str, Counter[str]]

_markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: Structure = {kind: Counter() for kind in KINDS}
        self.text: list[str] = []
        self._open: list[tuple[str, int]] = []
        self._unseen = 0
        self._layouts: list[bool] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            source = dict(attrs).get("src") or ""
            if source and not source.startswith("data:"):
                self.found["images"][source.partition("?")[0].rpartition("/")[2].lower()] += 1
        if tag in VOID:
            self.text.append(" ")
            return
        self._unseen += tag in UNSEEN
        self._open.append((tag, len(self.text)))

    def handle_endtag(self, tag: str) -> None:
        if all(tag != name for name, _ in self._open):
            return
        while self._open:
            name, start = self._open.pop()
            self._unseen -= name in UNSEEN
            said = " ".join(WORDS.findall("".join(self.text[start:]).casefold()))
            if name in NAMES and said:
                self.found[NAMES[name]][said] += 1
            if name not in {"a", "b", "i", "em", "strong", "span", "code", "sup", "sub", "u", "s", "del", "small"}:
                self.text.append(" ")
            if name == tag:
                return

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.text.append(data)


def structure_of(html: str) -> Structure:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.found


def to_html(markdown: str) -> str:
    return str(_markdown.render(markdown))


def structure_of_markdown(markdown: str) -> Structure:
    return structure_of(to_html(markdown))
