"""Reads sitemaps as seed lists: `urlset`, `sitemapindex`, and the plain text form."""

import itertools
from collections.abc import Iterable, Iterator

from forager.errors import BadListError, BadUrlError
from forager.seeds.found import BadLine, Found, Nested, Seed, to_url
from forager.seeds.lines import UTF8_MARK, UTF16_MARKS
from forager.seeds.table import read_list
from forager.urls.sitemap import Entry, read_entries

FEWEST_BYTES = 4
"""Needed to detect the format: a byte order mark and one character. The first chunk of a gzip file may be shorter."""


def read_sitemap(pieces: Iterable[bytes]) -> Iterator[Found]:
    """Yields pages and, from an index, sitemaps, numbered by entry. An unreadable sitemap ends with a bad entry."""
    source = iter(pieces)
    head = b""
    try:
        while len(head.strip()) < FEWEST_BYTES and (piece := next(source, None)) is not None:
            head += piece
    except BadListError as error:
        yield BadLine(1, f"{error}.")
        return
    is_xml = head.startswith(UTF16_MARKS) or head.removeprefix(UTF8_MARK).lstrip().startswith(b"<")
    whole = itertools.chain((head,), source)
    yield from _read_xml(whole) if is_xml else read_list(whole, "lines")


def _read_xml(pieces: Iterable[bytes]) -> Iterator[Found]:
    number = 0
    try:
        for number, entry in enumerate(read_entries(pieces), start=1):
            yield _found(entry, number)
    except BadListError as error:
        yield BadLine(number + 1, f"{error}.")


def _found(entry: Entry, number: int) -> Found:
    try:
        url = to_url(entry.loc)
    except BadUrlError as error:
        return BadLine(number, str(error))
    return Nested(url, number) if entry.is_index else Seed(url, None, number)
