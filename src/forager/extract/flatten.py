"""The careful way to read a page that may stall the parser: keep only the tags we read from, re-written and flat.

Safe by construction: what comes out is ours, nested a few dozen deep at most, with a handful of known attributes, and
every "<" of the page's own text is escaped. It takes one linear pass; a page that fools the tokenizer loses text.
"""

import re
from collections.abc import Iterator

MOST_TOKENS = 200_000
DEEPEST_SECTION = 32

SECTIONS = frozenset({b"main", b"article", b"nav", b"header", b"footer", b"aside"})
HEADINGS = frozenset({b"h1", b"h2", b"h3"})
VOID = frozenset({b"meta", b"link", b"base", b"area"})
INLINE = frozenset(
    b"abbr acronym b bdi bdo big cite code data dfn em font i ins kbd label mark nobr q s samp small span strike "
    b"strong sub sup time tt u var wbr".split()
)
ATTRIBUTES = frozenset(b"href src rel name content property http-equiv lang hreflang type".split())

REST_OF_TAG = rb"""(?:[^>"']++|"[^"]*+"|'[^']*+')*+>?"""
TOKEN = re.compile(
    rb"<!--(?:-?>|.*?(?:--!?>|\Z))"
    rb"|<(script|style|svg|math|template|noscript|textarea|select|xmp|noembed|noframes)(?=[\s/>])"
    rb"%(rest)b.*?(?:</\1(?=[\s/>])[^>]*+>?|\Z)"
    rb"|<(?P<whole>title|iframe)(?=[\s/>])(?P<of>%(rest)b)(?P<inside>.*?)(?:</(?P=whole)(?=[\s/>])[^>]*+>?|\Z)"
    rb"|<(?P<end>/?)(?P<name>[a-z][^\s/>]*+)(?P<attributes>%(rest)b)"
    rb"|<[!?/][^>]*+>?" % {b"rest": REST_OF_TAG},
    re.IGNORECASE | re.DOTALL,
)
# A name without a value is a match too: a pattern that fails is tried again from each of its letters.
ATTRIBUTE = re.compile(rb"""([^\s"'<>/=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>]++)))?+""")


def flatten(page: bytes) -> bytes:
    return b"".join(_Writer().write(page))


class _Writer:
    """Knows what it has opened, so that it always closes it before something may not be inside."""

    def __init__(self) -> None:
        self._open_link = b""
        self._open_heading = b""
        self._sections: list[bytes] = []

    def write(self, page: bytes) -> Iterator[bytes]:
        end = 0
        for count, token in enumerate(TOKEN.finditer(page)):
            if count > MOST_TOKENS:
                return
            yield _escape(page[end : token.start()])
            end = token.end()
            if name := token["whole"]:
                yield from self._whole(name.lower(), token["of"], token["inside"])
            elif name := token["name"]:
                yield from self._tag(name.lower(), bool(token["end"]), token["attributes"])
        yield _escape(page[end:])

    def _whole(self, name: bytes, attributes: bytes, inside: bytes) -> Iterator[bytes]:
        text = _escape(inside) if name == b"title" else b""
        yield b"<%b%b>%b</%b>" % (name, _keep(attributes), text, name)

    def _tag(self, name: bytes, is_end: bool, attributes: bytes) -> Iterator[bytes]:
        if name == b"a":
            yield self._close_link()
            if not is_end:
                self._open_link = b"</a>"
                yield b"<a%b>" % _keep(attributes)
        elif name in HEADINGS:
            yield self._close_link() + self._close_heading()
            if not is_end:
                self._open_heading = b"</%b>" % name
                yield b"<%b>" % name
        elif name in SECTIONS:
            yield self._close_link() + self._close_heading()
            yield self._end_section(name) if is_end else self._start_section(name)
        elif name in VOID or name == b"html":
            yield b"" if is_end else b"<%b%b>" % (name, _keep(attributes))
        elif name == b"frame":
            yield b"<iframe%b></iframe>" % _keep(attributes)
        elif name not in INLINE:
            yield b"\n"

    def _close_link(self) -> bytes:
        tag, self._open_link = self._open_link, b""
        return tag

    def _close_heading(self) -> bytes:
        tag, self._open_heading = self._open_heading, b""
        return tag

    def _start_section(self, name: bytes) -> bytes:
        if len(self._sections) >= DEEPEST_SECTION:
            return b""
        self._sections.append(name)
        return b"<%b>" % name

    def _end_section(self, name: bytes) -> bytes:
        if name not in self._sections:
            return b""
        closed = b""
        while self._sections:
            top = self._sections.pop()
            closed += b"</%b>" % top
            if top == name:
                break
        return closed


def _keep(attributes: bytes) -> bytes:
    kept: dict[bytes, bytes] = {}
    for match in ATTRIBUTE.finditer(attributes):
        name = match[1].lower()
        if name in ATTRIBUTES and name not in kept:
            value: bytes = match[2] or match[3] or match[4] or b""
            kept[name] = value.replace(b'"', b"&quot;")
    return b"".join(b' %b="%b"' % pair for pair in kept.items())


def _escape(text: bytes) -> bytes:
    return text.replace(b"<", b"&lt;")
