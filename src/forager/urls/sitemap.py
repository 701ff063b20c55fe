"""Parses XML sitemaps (sitemaps.org), `urlset` and `sitemapindex`, entry by entry, streamed through expat.

The file is untrusted: DTDs, and therefore entities, are rejected, and nesting, size and number of entries are limited.
`read_loosely` reads the entries of a file that is not well-formed, by its tags alone.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple
from xml.parsers import expat

from forager.errors import BadListError

MOST_ENTRIES = 50_000
MOST_BYTES = 50 * 1024 * 1024
"""The limits of the protocol."""
DEEPEST = 16
LONGEST_TEXT = 8192
MOST_PICTURES = 1000
"""Per entry."""
MOST_ALTERNATES = 200
"""Per entry."""
MOST_IMAGES = 20_000
"""Per sitemap."""
MOST_TAGS = 20 * MOST_ENTRIES
"""Tags of a file that is not well-formed which are looked at."""
ENTRY_OF = {"urlset": "url", "sitemapindex": "sitemap"}
PICTURES = {"image": "loc", "video": "thumbnail_loc"}
"""Extensions nested in a page's entry, and the element that holds the image URL."""
WORDS = frozenset({"title", "caption"})
FREQUENCIES = {
    "always": 3600.0,
    "hourly": 3600.0,
    "daily": 86_400.0,
    "weekly": 7 * 86_400.0,
    "monthly": 30 * 86_400.0,
    "yearly": 365 * 86_400.0,
}
"""`changefreq` in seconds; `never` says nothing about the sitemap."""
LOOSE = re.compile(
    rb"<(/?)(?:([\w.-]{1,40}):)?(url|sitemap|loc|lastmod|changefreq)\b[^<>]{0,2000}>(?:\s*<!\[CDATA\[)?([^<\]]{0,8192})",
    re.IGNORECASE,
)
EXTENSIONS = frozenset({b"image", b"video", b"news", b"xhtml", b"mobile"})
"""Prefixes of elements whose `loc` is not that of a page."""
ABSOLUTE = ("http://", "https://", "/")
ENTITY = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9a-fA-F]{1,6}));")
ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class SitemapImage(NamedTuple):
    """An image of an entry's page, or the thumbnail of one of its videos."""

    loc: str
    words: str
    """Its title, or its caption; empty if it has neither."""


class Entry(NamedTuple):
    """An entry as written in the sitemap."""

    loc: str
    lastmod: str
    """Empty if missing. The publication date of news does not count: the page may have changed since."""
    is_index: bool
    """Whether the entry is another sitemap."""
    pictures: tuple[SitemapImage, ...] = ()
    alternates: tuple[str, ...] = ()
    """The same page in other languages (`xhtml:link`)."""
    changefreq: str = ""


def read_entries(pieces: Iterable[bytes], encoding: str | None = None) -> Iterator[Entry]:
    """Yields the entries. Raises BadListError with the reason where parsing cannot continue; entries yielded before
    remain valid. `encoding` is for bytes that were already converted to it, whatever they declare."""
    reader = _Reader(encoding)
    size = 0
    try:
        for piece in pieces:
            size += len(piece)
            if size > MOST_BYTES:
                raise BadListError(
                    f"it is larger than {MOST_BYTES:,} bytes, the protocol's limit; the rest is not read"
                )
            reader.feed(piece)
            yield from reader.drain()
        reader.feed(b"", is_last=True)
    except BadListError:
        yield from reader.drain()
        raise


class _Reader:
    """Collects the `loc` of each entry, and of its images and videos, which are nested deeper and are not pages."""

    def __init__(self, encoding: str | None) -> None:
        self._entries = self._images = 0
        self._found: list[Entry] = []
        self._path: list[str] = []
        self._text: list[str] = []
        self._length = 0
        self._locs: list[str] = []
        self._alternates: list[str] = []
        self._lastmod = self._changefreq = ""
        self._pictures: list[SitemapImage] = []
        self._picture = SitemapImage("", "")
        self._parser = expat.ParserCreate(encoding, namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._take_text
        self._parser.StartDoctypeDeclHandler = self._reject_doctype

    def feed(self, piece: bytes, *, is_last: bool = False) -> None:
        try:
            self._parser.Parse(piece, is_last)
        except expat.ExpatError as error:
            words = expat.ErrorString(error.code)
            raise BadListError(f"line {error.lineno} is no XML ({words}); the rest is not read") from None

    def drain(self) -> list[Entry]:
        found, self._found = self._found, []
        return found

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if not self._path and tag not in ENTRY_OF:
            raise BadListError(f"it begins with <{tag[:40]}>, and a sitemap with <urlset> or <sitemapindex>")
        if len(self._path) >= DEEPEST:
            raise BadListError(f"its elements lie more than {DEEPEST} deep in each other")
        if tag == "link" and len(self._path) == 2 and len(self._alternates) < MOST_ALTERNATES:
            self._alternates += filter(None, [attributes.get("href", "")[:LONGEST_TEXT]])
        self._path.append(tag)
        self._text.clear()
        self._length = 0

    def _end(self, _name: str) -> None:
        path = self._path
        if len(path) > 1 and path[1] == ENTRY_OF[path[0]]:
            if len(path) == 2:
                self._take_entry()
            elif len(path) == 3:
                self._take_field(path[2])
            elif path[2] in PICTURES and len(path) == 4:
                self._take_detail(path[2], path[3])
        path.pop()
        self._text.clear()

    def _take_field(self, tag: str) -> None:
        if tag == "loc":
            self._locs.append(self._get_text())
        elif tag == "lastmod":
            self._lastmod = self._get_text()
        elif tag == "changefreq":
            self._changefreq = self._get_text()[:20]
        elif tag in PICTURES:
            if self._picture.loc and len(self._pictures) < MOST_PICTURES and self._images < MOST_IMAGES:
                self._pictures.append(self._picture)
                self._images += 1
            self._picture = SitemapImage("", "")

    def _take_detail(self, of: str, tag: str) -> None:
        if tag == PICTURES[of]:
            self._picture = self._picture._replace(loc=self._get_text())
        elif tag in WORDS and not self._picture.words:
            self._picture = self._picture._replace(words=self._get_text())

    def _get_text(self) -> str:
        return "".join(self._text).strip()

    def _take_text(self, text: str) -> None:
        """Collects text only up to the point where it is known to be too long."""
        if self._length <= LONGEST_TEXT:
            self._text.append(text)
            self._length += len(text)

    def _take_entry(self) -> None:
        """Adds the entry; one with several `loc` becomes several, of which the first has the images."""
        is_index = self._path[0] == "sitemapindex"
        pictures, alternates = tuple(self._pictures), tuple(self._alternates)
        for loc in self._locs:
            if self._entries >= MOST_ENTRIES:
                raise BadListError(
                    f"it has more than {MOST_ENTRIES:,} entries, the protocol's limit; the rest is not read"
                )
            self._entries += 1
            self._found.append(Entry(loc, self._lastmod, is_index, pictures, alternates, self._changefreq))
            pictures = alternates = ()
        self._locs, self._alternates, self._pictures = [], [], []
        self._lastmod = self._changefreq = ""

    def _reject_doctype(self, *_declaration: object) -> None:
        raise BadListError("it declares a document type, which a sitemap has none of; it is not read")


def read_loosely(page: bytes, *, is_index: bool) -> Iterator[Entry]:
    """Yields the entries of a file that expat rejects, up to the protocol's limit: only tags, text and the entities of
    XML itself are understood, so that a stray `&`, a missing end tag or a declared entity costs one entry at most."""
    entry = _LooseEntry(is_index)
    number = 0
    for match in islice(LOOSE.finditer(_without_comments(page)), MOST_TAGS):
        is_end, prefix, tag, text = match.groups()
        if prefix and prefix.lower() in EXTENSIONS:
            continue
        tag = tag.lower()
        if tag in {b"url", b"sitemap"}:
            found = entry.take()
            entry.is_open = not is_end
        else:
            if not is_end:
                entry.add(tag, unescape(text.decode("utf-8", "replace")).strip())
            found = [] if entry.is_open else entry.take()
        yield from found
        number += len(found)
        if number >= MOST_ENTRIES:
            return
    yield from entry.take()


class _LooseEntry:
    """The fields of the entry that is being read."""

    def __init__(self, is_index: bool) -> None:
        self.is_open = False
        self._is_index = is_index
        self._locs: list[str] = []
        self._fields: dict[bytes, str] = {}

    def add(self, tag: bytes, text: str) -> None:
        if tag == b"loc":
            self._locs.append(text)
        else:
            self._fields[tag] = text[:40]

    def take(self) -> list[Entry]:
        """Returns the entry, one for each `loc`, and begins the next one."""
        lastmod, changefreq = self._fields.get(b"lastmod", ""), self._fields.get(b"changefreq", "")
        found = [
            Entry(loc, lastmod, self._is_index, changefreq=changefreq) for loc in self._locs if loc.startswith(ABSOLUTE)
        ]
        self._locs, self._fields = [], {}
        return found


def _without_comments(page: bytes) -> bytes:
    """Removes comments in one pass; one that is never closed is no comment."""
    pieces: list[bytes] = []
    at = 0
    while (start := page.find(b"<!--", at)) >= 0 and (end := page.find(b"-->", start + 4)) >= 0:
        pieces.append(page[at:start])
        at = end + 3
    return b"".join((*pieces, page[at:])) if pieces else page


def unescape(text: str) -> str:
    """Resolves the entities of XML; others, such as `&copy` in a query, stay as they are."""
    return ENTITY.sub(_resolve, text) if "&" in text else text


def _resolve(match: re.Match[str]) -> str:
    name, decimal, hexadecimal = match.groups()
    if name:
        return ENTITIES[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    is_character = 0 < code < 0x110000 and not 0xD800 <= code < 0xE000
    return chr(code) if is_character else match[0]
