"""The sanitising way to read a page that may stall the parser: tags are written anew, well nested and few.

Safe by construction: what comes out is ours, nested at most `DEEPEST` deep, each tag with a few known attributes, every
element closed inside its parent, no formatting but links, and every "<" of the page's own text is escaped. It takes one
linear pass; a page that fools the tokenizer loses text. What products, images and forms are read from is kept.
"""

import re
from collections import Counter
from collections.abc import Iterator

MOST_TOKENS = 200_000
DEEPEST = 64
"""Elements that are written; those without attributes of interest are not."""
MOST_OPEN = 1000
MOST_ATTRIBUTES = 24
LONGEST_VALUE = 100_000

SECTIONS = frozenset(b"main article nav header footer aside".split())
HEADINGS = frozenset({b"h1", b"h2", b"h3"})
VOID = frozenset(b"meta link base area img source input".split())
OTHER_VOID = frozenset(b"basefont bgsound br col embed hr image keygen param track wbr".split())
INLINE = frozenset(
    b"abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark meter nobr picture q s samp small "
    b"span strike strong sub sup time tt u var wbr".split()
)
SAME = frozenset(b"button data del dialog div figure form ins label meter picture section span time ul".split())
"""Written under their own names; others that have attributes of interest are written as `div`, or inline as `span`."""
STRUCK = frozenset({b"s", b"strike"})
ALWAYS = SECTIONS | HEADINGS | frozenset({b"a", b"form", b"button", b"del"}) | STRUCK
"""Written without attributes, too."""
ONE_AT_A_TIME = HEADINGS | frozenset({b"a", b"button"})
"""Which one ends the open one of its kind."""
ENDED_BY_LIKE = frozenset(b"p li dd dt tr td th option".split())
ATTRIBUTES = frozenset(
    b"href src rel name content property http-equiv lang hreflang type class id role hidden style alt title srcset "
    b"sizes media width height itemprop itemscope itemtype itemid itemref typeof vocab prefix resource about datetime "
    b"value action method autocomplete aria-label aria-hidden".split()
)

REST_OF_TAG = rb"""(?:[^>"']++|"[^"]*+"|'[^']*+')*+>?"""
TOKEN = re.compile(
    rb"<!--(?:-?>|.*?(?:--!?>|\Z))"
    rb"|<(style|svg|math|template|noscript|textarea|select|xmp|noembed|noframes)(?=[\s/>])"
    rb"%(rest)b.*?(?:</\1(?=[\s/>])[^>]*+>?|\Z)"
    rb"|<(?P<whole>title|iframe|script)(?=[\s/>])(?P<of>%(rest)b)(?P<inside>.*?)(?:</(?P=whole)(?=[\s/>])[^>]*+>?|\Z)"
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
        self._open: list[tuple[bytes, bytes]] = []
        """Names as the page has them, and as they were written; nothing where they were not."""
        self._written = 0
        self._names: Counter[bytes] = Counter()
        self._left_out: Counter[bytes] = Counter()
        """Too deep to be remembered; so many of their end tags are passed over."""

    def write(self, page: bytes) -> Iterator[bytes]:
        end = 0
        for count, token in enumerate(TOKEN.finditer(page)):
            if count > MOST_TOKENS:
                return
            yield _escape(page[end : token.start()])
            end = token.end()
            if name := token["whole"]:
                yield _whole(name.lower(), token["of"], token["inside"])
            elif name := token["name"]:
                yield from self._tag(name.lower(), bool(token["end"]), token["attributes"])
        yield _escape(page[end:])

    def _tag(self, name: bytes, is_end: bool, attributes: bytes) -> Iterator[bytes]:
        if name in VOID or name == b"html":
            yield b"" if is_end else b"<%b%b>" % (name, _keep(attributes))
        elif name == b"frame":
            yield b"<iframe%b></iframe>" % _keep(attributes)
        elif is_end:
            yield from self._end(name)
        else:
            yield from self._start(name, attributes)
        if name not in INLINE and name not in ALWAYS and name not in VOID:
            yield b"\n"

    def _start(self, name: bytes, attributes: bytes) -> Iterator[bytes]:
        if name in OTHER_VOID or name in {b"head", b"body"}:
            return
        if name in ONE_AT_A_TIME:
            for other in HEADINGS if name in HEADINGS else (name,):
                yield from self._end(other)
        elif name in ENDED_BY_LIKE and self._open and self._open[-1][0] == name:
            yield from self._end(name)
        if len(self._open) >= MOST_OPEN:
            self._left_out[name] += 1
            return
        kept = _keep(attributes) if self._written < DEEPEST else b""
        written = self._name(name, kept)
        self._open.append((name, written))
        self._names[name] += 1
        if written:
            self._written += 1
            yield b"<%b%b>" % (written, kept)

    def _name(self, name: bytes, kept: bytes) -> bytes:
        """Returns what the element is written as, or nothing."""
        if self._written >= DEEPEST or (name == b"form" and self._names[name]) or not (kept or name in ALWAYS):
            return b""
        if name in SAME or name in ALWAYS - STRUCK:
            return name
        if name in STRUCK:
            return b"del"
        return b"span" if name in INLINE else b"div"

    def _end(self, name: bytes) -> Iterator[bytes]:
        if self._left_out[name]:
            self._left_out[name] -= 1
            return
        if not self._names[name]:
            return
        while self._open:
            closed, written = self._open.pop()
            self._names[closed] -= 1
            if written:
                self._written -= 1
                yield b"</%b>" % written
            if closed == name:
                return


def _whole(name: bytes, attributes: bytes, inside: bytes) -> bytes:
    kept = _keep(attributes)
    if name == b"script":
        is_data = b"json" in kept.lower() and b"<!--" not in inside
        return b"<script%b>%b</script>" % (kept, inside) if is_data else b""
    text = _escape(inside) if name == b"title" else b""
    return b"<%b%b>%b</%b>" % (name, kept, text, name)


def _keep(attributes: bytes) -> bytes:
    kept: dict[bytes, bytes] = {}
    for match in ATTRIBUTE.finditer(attributes):
        name = match[1].lower()
        if (name in ATTRIBUTES or name.startswith(b"data-")) and name not in kept:
            value: bytes = match[2] or match[3] or match[4] or b""
            kept[name] = value[:LONGEST_VALUE].replace(b'"', b"&quot;")
            if len(kept) == MOST_ATTRIBUTES:
                break
    return b"".join(b' %b="%b"' % pair for pair in kept.items())


def _escape(text: bytes) -> bytes:
    return text.replace(b"<", b"&lt;")
