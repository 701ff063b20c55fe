"""Counts the formatting elements that a page makes its parser reopen: each block reopens those open before it.

50 KB of `<b a=1>` and `<p>x` can become gigabytes of elements. One linear pass over the tags tracks which formatting
elements stay open, roughly as a tree builder does, and sums their number at each other tag. It overestimates: an end
tag that may not close its element closes nothing.
"""

import re
from dataclasses import dataclass, field

MOST_OPEN = 1000
"""Formatting elements open at once; no real page means more."""
DEEPEST = 500
"""Limit on nested `LEVELS` elements, see below."""
MANY = 1 << 60
CLOSED_FOR_CERTAIN = 8
"""Blocks inside a formatting element from which on its end tag may not close it."""
ALIKE = 3
"""Formatting elements with equal tags that stay open; the parser drops older ones."""
FORMATTING = frozenset(("b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"))
BLOCKS = frozenset(
    (
        "address", "applet", "article", "aside", "blockquote", "button", "caption", "center", "dd", "details",
        "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3",
        "h4", "h5", "h6", "header", "hgroup", "li", "listing", "main", "marquee", "menu", "nav", "object", "ol",
        "p", "pre", "search", "section", "select", "summary", "table", "tbody", "td", "template", "tfoot", "th",
        "thead", "tr", "ul",
    )
)  # fmt: skip
LEVELS = frozenset(("applet", "caption", "marquee", "math", "object", "select", "svg", "table", "td", "template", "th"))
"""An end tag inside one of these closes no formatting element outside it."""
CELLS = frozenset({"td", "th"})
FOREIGN = frozenset({"svg", "math"})
"""Elements in which a raw-text tag may not start raw text, and an end tag may be text."""
RAW = frozenset(("iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp"))
LONGEST_NAME = 12
TAG = re.compile(r"<(/?)([a-zA-Z][^\t\n\f\r />]*+)")
ATTRIBUTES = re.compile(
    r"(?:[\t\n\f\r /]++|[^\t\n\f\r />][^\t\n\f\r />=]*+"
    r"""(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r >]*+))?+)*+"""
)
FORMATTING_START = re.compile(rf"<(?:{'|'.join(sorted(FORMATTING))})(?=[\t\n\f\r />])", re.IGNORECASE)
BODY = re.compile(r"<(?:body|html)(?=[\t\n\f\r />])", re.IGNORECASE)
SCRIPT_PART = re.compile(r"<!(?=--)|-->|<(/?)script(?=[\t\n\f\r />])", re.IGNORECASE)


@dataclass(slots=True)
class _Open:
    name: str
    tag: str
    blocks: int
    level: int


@dataclass(slots=True)
class _Pass:
    text: str
    open: list[_Open] = field(default_factory=list)
    levels: list[str] = field(default_factory=list)
    foreign: int = 0
    blocks: int = 0
    reopened: int = 0

    def run(self) -> int:
        text, at = self.text, 0
        while (at := text.find("<", at)) >= 0:
            tag = TAG.match(text, at)
            if tag is None:
                at = _skip(text, at)
                continue
            attributes = ATTRIBUTES.match(text, tag.end())
            assert attributes is not None
            end, name = attributes.end(), tag[2].lower()
            at = end + 1
            if name == "plaintext" and not tag[1]:
                break
            if len(name) > LONGEST_NAME:
                name = ""
            if name in FORMATTING:
                self._end(name) if tag[1] else self._start(name, text[tag.start() : end])
            else:
                self.reopened += len(self.open)
                at = self._pass(name, at, is_end=bool(tag[1]))
            if len(self.open) > MOST_OPEN or len(self.levels) > DEEPEST:
                return MANY
        return self.reopened

    def _pass(self, name: str, at: int, *, is_end: bool) -> int:
        if name in LEVELS:
            self._leave(name) if is_end else self._enter(name)
        if is_end:
            return at
        self.blocks += name in BLOCKS
        if name in RAW and not self.foreign:
            return _skip_script(self.text, at) if name == "script" else _skip_raw(self.text, at, name)
        return at

    def _start(self, name: str, tag: str) -> None:
        alike = [place for place, each in enumerate(self.open) if each.tag == tag]
        if len(alike) >= ALIKE:
            del self.open[alike[0]]
        self.open.append(_Open(name, tag, self.blocks, len(self.levels)))

    def _end(self, name: str) -> None:
        if self.foreign:
            return
        level = len(self.levels)
        for place in range(len(self.open) - 1, -1, -1):
            each = self.open[place]
            if each.name == name and each.level == level:
                if self.blocks - each.blocks < CLOSED_FOR_CERTAIN:
                    del self.open[place]
                return

    def _enter(self, name: str) -> None:
        if name in CELLS and self.levels and self.levels[-1] in CELLS:
            self._leave(self.levels[-1])
        self.levels.append(name)
        self.foreign += name in FOREIGN

    def _leave(self, name: str) -> None:
        for place in range(len(self.levels) - 1, -1, -1):
            if self.levels[place] == name:
                break
            if self.levels[place] == "template":
                return
        else:
            return
        self.foreign -= sum(each in FOREIGN for each in self.levels[place:])
        del self.levels[place:]
        for each in self.open:
            each.level = min(each.level, place)


def _skip(text: str, at: int) -> int:
    """Skips a comment, a declaration, or a "<" that is text."""
    if text.startswith("<!--", at):
        end = at + 4
        while (end := text.find(">", end)) >= 0:
            if text.endswith("--", at + 2, end) or text.endswith("--!", at + 4, end):  # `<!-->` is a complete comment
                return end + 1
            end += 1
        return len(text)
    if text.startswith(("<!", "<?", "</"), at):
        end = text.find(">", at + 2)
        return end + 1 if end >= 0 else len(text)
    return at + 1


def _skip_raw(text: str, at: int, name: str) -> int:
    end = re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE).search(text, at)
    return end.start() if end else len(text)


def _skip_script(text: str, at: int) -> int:
    """Skips a script. In a comment inside a script, `<script>` starts a text that only its end tag ends."""
    is_comment = is_inner = False
    for part in SCRIPT_PART.finditer(text, at):
        if part[0] == "<!":
            is_comment = True
        elif part[0] == "-->":
            is_comment = is_inner = False
        elif part[1]:
            if not is_inner:
                return part.start()
            is_inner = False
        elif is_comment:
            is_inner = True
    return len(text)


def exceeds_format_limit(text: str, most: int) -> bool:
    """Whether a page may make its parser reopen more than `most` formatting elements. Most pages have too few tags for
    that."""
    formatting = len(FORMATTING_START.findall(text))
    return formatting * text.count("<") > most and count_reopened(text) > most


def count_reopened(text: str) -> int:
    return _Pass(text).run()
