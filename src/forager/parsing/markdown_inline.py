"""Writes the inside of one block as Markdown: text, emphasis, code, links, images, line breaks.

What a page says stays text: each character that Markdown would take for markup is escaped. Blocks inside a link or an
emphasis end it and begin it again, because Markdown's cannot span them.
"""

import re
from collections.abc import Callable

EMPHASIS = {"strong": "**", "em": "*", "del": "~~"}
KINDS = {
    **dict.fromkeys(("strong", "b"), "strong"),
    **dict.fromkeys(("em", "i"), "em"),
    **dict.fromkeys(("del", "s", "strike"), "del"),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), "code"),
    "a": "a",
}
MARKUP = re.compile(r"[\\`*\[\]]|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?]|$)|(?<![^\W_])~|~(?![^\W_])|&(?=#?\w{1,32};)")
"""What has to be escaped wherever it stands. An underscore or tilde inside a word is none."""
MAYBE_MARKUP = re.compile(r"[\\`*\[\]_<~&]")
"""A text without any of these has none, which a set of characters tells four times as fast."""
BEGINNING = re.compile(r"(?:#{1,6}|[-+])(?= |$)|>|=+$|[-_][-_ ]{2,}$|[|:-][-:| ]*$")
"""What would begin another block at the start of a line."""
NUMBER = re.compile(r"(\d{1,9})([.)])(?= |$)")
GAPS_IN_LINE = re.compile(" {2,}")
BREAKS = re.compile(r"\n *(?:\n *)+")
LINES = re.compile(r" *\n[ \n]*")
BACKTICKS = re.compile("`+")
PERMALINKS = frozenset("#¶§🔗")
LONGEST_MERGED = 500
"""Of emphasis in pieces, of which the same is written again with each."""


def escape(text: str) -> str:
    return MARKUP.sub(r"\\\g<0>", text) if MAYBE_MARKUP.search(text) else text


def collapse(text: str) -> str:
    """Returns a text with single spaces. Most have no others, which quick checks tell."""
    if "\n" not in text and "  " not in text and "\u00a0" not in text and "\t" not in text and "\r" not in text:
        return text
    words = " ".join(text.split())
    if not words:
        return " "
    return f"{' ' if text[0].isspace() else ''}{words}{' ' if text[-1].isspace() else ''}"


def escape_line(line: str) -> str:
    """Returns a line that begins no other block."""
    if line[:1].isalpha():
        return line
    if BEGINNING.match(line):
        return "\\" + line
    return NUMBER.sub(r"\1\\\2", line, count=1) if line[:1].isdigit() and NUMBER.match(line) else line


def link_target(url: str) -> str:
    """Returns a URL as the target of a link. Parentheses that are not in pairs would end it early."""
    if any(char in url for char in " \n<>"):
        url = url.replace(" ", "%20").replace("\n", "").replace("<", "%3C").replace(">", "%3E")
    if "\\" in url:
        url = url.replace("\\", "%5C")
    return url if ("(" not in url and ")" not in url) or _is_balanced(url) else f"<{url}>"


def _is_balanced(url: str) -> bool:
    depth = 0
    for char in url:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
    return depth == 0


def code_span(text: str) -> str:
    fence = "`" * (max((len(run) for run in BACKTICKS.findall(text)), default=0) + 1)
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{pad}{text}{pad}{fence}"


class _Span:
    """An open emphasis, code or link; the innermost receives the text."""

    __slots__ = ("kind", "parts", "url")

    def __init__(self, kind: str, url: str) -> None:
        self.kind, self.url = kind, url
        self.parts: list[str] = []


class Inline:
    """The inside of a block while it is written. `resolve` returns the absolute URL of a link, or an empty text."""

    def __init__(self, resolve: Callable[[str], str]) -> None:
        self.is_heading = False
        self._resolve = resolve
        self._spans = [_Span("", "")]
        self._opened: list[bool] = []
        """For each open element, whether it opened a span."""
        self._last: tuple[list[str], str, str] | None = None
        """The emphasis that was written last: where, its kind, its text without marks."""

    @property
    def is_empty(self) -> bool:
        return len(self._spans) == 1 and not self._spans[0].parts

    def add_text(self, text: str) -> None:
        """Adds text of the page."""
        text = collapse(text)
        self.add(text if self._spans[-1].kind == "code" else escape(text))

    def add(self, text: str) -> None:
        """Adds Markdown."""
        parts = self._spans[-1].parts
        if self._last is not None and self._last[0] is parts and text:
            self._part_from_emphasis(text)
        parts.append(text)

    def break_line(self) -> None:
        self.add(" " if self._spans[-1].kind == "code" else "\n")

    def add_image(self, alt: str, url: str) -> None:
        if self._spans[-1].kind == "code":
            self.add_text(alt)
        else:
            self.add(f"![{escape(collapse(alt).strip())}]({link_target(url)})")

    def open(self, name: str, href: str | None) -> None:
        kind = KINDS[name]
        is_new = all(span.kind not in (kind, "code") for span in self._spans) and not (
            self.is_heading and kind == "strong"
        )
        url = ""
        if kind == "a" and is_new:
            url = self._resolve(href) if href else ""
            is_new = bool(url)
        self._opened.append(is_new)
        if is_new:
            self._spans.append(_Span(kind, url))

    def close(self) -> None:
        if self._opened and self._opened.pop():
            self._close_span()

    def take(self) -> list[str]:
        """Returns what was written as paragraphs, and begins anew; open spans are continued."""
        if self.is_empty:
            return []
        again = [(span.kind, span.url) for span in self._spans[1:]]
        while len(self._spans) > 1:
            self._close_span()
        text = "".join(self._spans[0].parts)
        text = GAPS_IN_LINE.sub(" ", text) if "  " in text else text
        self._spans = [_Span("", ""), *(_Span(kind, url) for kind, url in again)]
        self._last = None
        if "\n" not in text:
            line = text.strip(" ")
            return [escape_line(line)] if line else []
        found = ["\\\n".join(map(escape_line, _lines(part))) for part in BREAKS.split(text)]
        return [part for part in found if part]

    def take_line(self) -> str:
        """Returns what was written on one line."""
        return " ".join(self.take()).replace("\\\n", " ")

    def _close_span(self) -> None:
        span = self._spans.pop()
        content = "".join(span.parts)
        content = GAPS_IN_LINE.sub(" ", content) if "  " in content else content
        body = content.strip(" \n")
        if not body:
            if content:
                self.add("\n" if "\n" in content else " ")
            return
        lead = content[: len(content) - len(content.lstrip(" \n"))]
        tail = content[len(content.rstrip(" \n")) :]
        if lead:
            self.add(lead)
        match span.kind:
            case "code":
                self.add(code_span(body))
            case "a":
                self._add_link(body, span.url)
            case kind:
                self._add_emphasis(LINES.sub("\n", body), kind, is_last=not tail)
        if tail:
            self.add(tail)

    def _add_link(self, body: str, url: str) -> None:
        if self.is_heading and body in PERMALINKS:
            return
        parts = self._spans[-1].parts
        if parts and parts[-1].endswith("!"):
            parts[-1] = parts[-1][:-1] + "\\!"
        self.add(f"[{LINES.sub(' ', body)}]({link_target(url)})")

    def _add_emphasis(self, body: str, kind: str, *, is_last: bool) -> None:
        """Writes an emphasis, or the bare text where its marks would not be taken for such: between a letter and a
        punctuation mark."""
        mark, parts = EMPHASIS[kind], self._spans[-1].parts
        before = parts[-1][-1:] if parts else ""
        if self._last is not None and self._last[0] is parts and self._last[1] == kind:
            whole = self._last[2] + body
            if len(whole) > LONGEST_MERGED:
                self.add(body)
                return
            parts[-1] = f"{mark}{whole}{mark}"
            self._last = (parts, kind, whole)
            return
        if before.isalnum() and not body.lstrip("*~")[:1].isalnum():
            self.add(body)
            return
        self.add(f"{mark}{body}{mark}")
        self._last = (parts, kind, body) if is_last else None

    def _part_from_emphasis(self, text: str) -> None:
        """Takes the marks of the last emphasis away if they would not end it before this text."""
        assert self._last is not None
        parts, _, body = self._last
        if text[0].isalnum() and not body.rstrip("*~")[-1:].isalnum():
            parts[-1] = body
        self._last = None


def _lines(part: str) -> list[str]:
    return [line for each in part.split("\n") if (line := each.strip(" "))]
