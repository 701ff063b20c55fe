"""Parses web documents other than HTML: feeds and sitemaps, as pages that consist of links. Also gzipped ones."""

import re
import zlib
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from forager.errors import BadListError
from forager.parsing.clean import collapse
from forager.parsing.dates import parse_lastmod
from forager.parsing.feed import Feed, read_json_feed, read_xml_feed, texts_of
from forager.parsing.images import LONGEST_ALT
from forager.parsing.links import LONGEST_ANCHOR, clean_href
from forager.parsing.models import FoundImage, FoundLink, Listing
from forager.urls.sitemap import FREQUENCIES, MOST_ENTRIES, Entry, read_entries, read_loosely

GZIP = b"\x1f\x8b"
UTF8_MARK = b"\xef\xbb\xbf"
MOST_UNPACKED = 50 * 1024 * 1024
UNPACK_STEP = 1024 * 1024
MOST_URLS = 2 * MOST_ENTRIES
"""Links of one sitemap, its entries and their pages in other languages."""
LONGEST_PROLOG = 4096
ROOT = re.compile(rb"(?:\s++|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*+>)*+<(?:\w+:)?(\w+)", re.DOTALL | re.IGNORECASE)
SITEMAPS = frozenset({b"urlset", b"sitemapindex"})
FEEDS = frozenset({b"rss", b"feed", b"rdf"})
LISTED = 20
"""Lines of a plain text that are checked to detect a list of URLs."""
MOST_PICTURES = 1000
"""Per sitemap; which page shows an image is known after that page was parsed."""
LONGEST_TITLE, LONGEST_DESCRIPTION = 1000, 2000


class Document(NamedTuple):
    """The content of a feed or sitemap. All fields may be empty."""

    links: list[FoundLink]
    title: str | None = None
    description: str | None = None
    language: str | None = None
    author: str | None = None
    text: str = ""
    newest: datetime | None = None
    """The latest of its dates."""
    is_broken: bool = False
    """Whether it is not well-formed; what could be read was read."""
    images: Sequence[FoundImage] = ()
    listing: Listing | None = None


def unpack(body: bytes) -> tuple[bytes, bool] | None:
    """Returns a gzipped sitemap or feed, and whether it was cut: at the size limit, or where it is damaged. None for
    any other archive."""
    pieces: list[bytes] = []
    size, is_cut = 0, False
    try:
        while body.startswith(GZIP):
            stream = zlib.decompressobj(wbits=31)
            while body and not stream.eof:
                piece = stream.decompress(body, UNPACK_STEP)
                if not pieces and not is_listing(piece[:LONGEST_PROLOG]):
                    return None
                pieces.append(piece[: MOST_UNPACKED - size])
                size += len(piece)
                if size > MOST_UNPACKED:
                    return b"".join(pieces), True
                body = stream.unconsumed_tail
                if not piece and not body:
                    break
            is_cut = not stream.eof
            body = stream.unused_data
    except zlib.error:
        is_cut = True
    return (b"".join(pieces), is_cut) if pieces else None


def is_listing(head: bytes) -> bool:
    """Returns whether a document begins as a sitemap or feed does, in XML or as a list of URLs."""
    return kind_of(head) in {"sitemap", "feed"} or strip_mark(head).startswith((b"http://", b"https://"))


def strip_mark(page: bytes) -> bytes:
    """Removes a byte order mark and blank lines before the document; XML allows neither before its declaration."""
    return page.removeprefix(UTF8_MARK).lstrip()


def kind_of(page: bytes) -> str | None:
    """Returns `sitemap`, `feed`, `html`, or None for everything else."""
    root = _root_of(page)
    if root in SITEMAPS:
        return "sitemap"
    if root in FEEDS:
        return "feed"
    return "html" if root == b"html" else None


def _root_of(page: bytes) -> bytes:
    match = ROOT.match(page[:LONGEST_PROLOG].removeprefix(UTF8_MARK))
    return match[1].lower() if match else b""


def read_document(page: bytes, kind: str) -> Document:
    """Parses `page`, which is UTF-8 and of one of the kinds that `kind_of` returns."""
    root, page = _root_of(page), strip_mark(page)
    if kind == "sitemap":
        return _of_sitemap(page, is_index=root == b"sitemapindex")
    return _of_feed(read_xml_feed(page), "atom" if root == b"feed" else "rss")


def read_json(text: str) -> Document | None:
    feed = read_json_feed(text)
    return _of_feed(feed, "json") if feed is not None else None


def read_list(text: str) -> list[FoundLink]:
    """Returns the links of a plain-text sitemap, a text of nothing but URLs; any other text has no links."""
    lines = [line for line in text[: LISTED * LONGEST_PROLOG].split() if not line.startswith("#")][:LISTED]
    if not lines or not all(line.startswith(("http://", "https://")) for line in lines):
        return []
    hrefs = (clean_href(line) for line in islice(text.split(), MOST_ENTRIES))
    return [FoundLink(href, "", "sitemap") for href in hrefs if href.startswith(("http://", "https://"))]


def _of_sitemap(page: bytes, *, is_index: bool) -> Document:
    """Parses a sitemap; link anchors are the dates of last change."""
    entries, problem = _read_entries(page, is_index=is_index)
    rel = "sitemap_file" if is_index else "sitemap"
    links: dict[str, FoundLink] = {}
    images: dict[str, FoundImage] = {}
    for entry in entries:
        if href := clean_href(entry.loc):
            links.setdefault(href, FoundLink(href, entry.lastmod[:40], rel))
        if entry.pictures and len(images) < MOST_PICTURES:
            images |= _images_of(entry)
    hrefs = (clean_href(alternate) for entry in entries for alternate in entry.alternates)
    for href in filter(None, hrefs):
        if len(links) >= MOST_URLS:
            break
        links.setdefault(href, FoundLink(href, "", rel))
    dates = (parse_lastmod(entry.lastmod) for entry in entries if entry.lastmod)
    periods = [FREQUENCIES[word] for entry in entries if (word := entry.changefreq.lower()) in FREQUENCIES]
    listing = Listing("index" if is_index else "sitemap", min(periods, default=None), problem)
    return Document(
        list(links.values()),
        newest=max(filter(None, dates), default=None),
        is_broken=problem is not None,
        images=list(images.values())[:MOST_PICTURES],
        listing=listing,
    )


def _read_entries(page: bytes, *, is_index: bool) -> tuple[list[Entry], str | None]:
    """Returns the entries, and what is wrong with the file. One that is not well-formed is read by its tags alone."""
    entries: list[Entry] = []
    try:
        entries.extend(read_entries((page,), "utf-8"))
    except BadListError as error:
        problem = str(error)
        if len(entries) < MOST_ENTRIES:
            loose = list(read_loosely(page, is_index=is_index))
            entries = loose if len(loose) > len(entries) else entries
            problem = problem.replace("the rest is not read", "the rest was read as far as possible")
        return entries, problem
    return entries, None


def _images_of(entry: Entry) -> dict[str, FoundImage]:
    """Returns the images that an image or video sitemap lists for the entry's page."""
    named = ((clean_href(picture.loc), picture.words) for picture in entry.pictures)
    return {
        src: FoundImage(src, "sitemap", "gallery", collapse(words, LONGEST_ALT) or "") for src, words in named if src
    }


def _of_feed(feed: Feed, kind: str) -> Document:
    about = feed.about
    links = [FoundLink(clean_href(about.link), "", "alternate")]
    links += [FoundLink(clean_href(entry.link), entry.title[:LONGEST_ANCHOR], "feed") for entry in feed.entries]
    return Document(
        [link for link in links if link.href][:MOST_ENTRIES],
        collapse(about.title, LONGEST_TITLE),
        collapse(about.summary, LONGEST_DESCRIPTION),
        about.language or None,
        about.author or None,
        "\n".join(texts_of(feed)),
        feed.newest,
        feed.is_broken,
        listing=Listing(kind, feed.update_s, "it is not well-formed" if feed.is_broken else None),
    )
