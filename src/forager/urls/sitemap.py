"""Parses XML sitemaps (sitemaps.org), `urlset` and `sitemapindex`, entry by entry, streamed through expat.

The file is untrusted: DTDs, and therefore entities, are rejected, and nesting, size and number of entries are limited.
"""

from collections.abc import Iterable, Iterator
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
ENTRY_OF = {"urlset": "url", "sitemapindex": "sitemap"}
PICTURES = {"image": "loc", "video": "thumbnail_loc"}
"""Extensions nested in a page's entry, and the element that holds the image URL."""
WORDS = frozenset({"title", "caption"})


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
        self._entries = 0
        self._found: list[Entry] = []
        self._path: list[str] = []
        self._text: list[str] = []
        self._length = 0
        self._loc: str | None = None
        self._lastmod = ""
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

    def _start(self, name: str, _attributes: object) -> None:
        tag = name.rpartition(" ")[2]
        if not self._path and tag not in ENTRY_OF:
            raise BadListError(f"it begins with <{tag[:40]}>, and a sitemap with <urlset> or <sitemapindex>")
        if len(self._path) >= DEEPEST:
            raise BadListError(f"its elements lie more than {DEEPEST} deep in each other")
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
            self._loc = self._get_text()
        elif tag == "lastmod":
            self._lastmod = self._get_text()
        elif tag in PICTURES:
            if self._picture.loc and len(self._pictures) < MOST_PICTURES:
                self._pictures.append(self._picture)
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
        if self._loc is not None:
            if self._entries >= MOST_ENTRIES:
                raise BadListError(
                    f"it has more than {MOST_ENTRIES:,} entries, the protocol's limit; the rest is not read"
                )
            self._entries += 1
            is_index = self._path[0] == "sitemapindex"
            self._found.append(Entry(self._loc, self._lastmod, is_index, tuple(self._pictures)))
        self._loc, self._lastmod = None, ""
        self._pictures.clear()

    def _reject_doctype(self, *_declaration: object) -> None:
        raise BadListError("it declares a document type, which a sitemap has none of; it is not read")
