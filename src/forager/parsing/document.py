"""Parses web documents other than HTML: feeds and sitemaps, as pages that consist of links. Also gzipped ones."""

import re
import zlib
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from forager.errors import BadListError
from forager.parsing.clean import collapse
from forager.parsing.dates import parse_date
from forager.parsing.feed import Feed, read_json_feed, read_xml_feed, texts_of
from forager.parsing.images import LONGEST_ALT
from forager.parsing.links import LONGEST_ANCHOR, MOST_LINKS, clean_href
from forager.parsing.models import FoundImage, FoundLink
from forager.urls.sitemap import Entry, read_entries

GZIP = b"\x1f\x8b"
MOST_UNPACKED = 50 * 1024 * 1024
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
    """Whether parsing stopped before the end."""
    images: Sequence[FoundImage] = ()


def unpack(body: bytes) -> bytes | None:
    """Returns a gzipped XML document, as sitemaps are served; None for any other archive, a damaged one, or a bomb."""
    try:
        stream = zlib.decompressobj(wbits=31)
        head = stream.decompress(body, LONGEST_PROLOG)
        if kind_of(head) not in {"sitemap", "feed"}:
            return None
        page = head + stream.decompress(stream.unconsumed_tail, MOST_UNPACKED)
    except zlib.error:
        return None
    return None if stream.unconsumed_tail else page


def kind_of(page: bytes) -> str | None:
    """Returns `sitemap`, `feed`, `html`, or None for everything else."""
    match = ROOT.match(page[:LONGEST_PROLOG])
    root = match[1].lower() if match else b""
    if root in SITEMAPS:
        return "sitemap"
    if root in FEEDS:
        return "feed"
    return "html" if root == b"html" else None


def read_document(page: bytes, kind: str) -> Document:
    """Parses `page`, which is UTF-8 and of one of the kinds that `kind_of` returns."""
    return _of_sitemap(page) if kind == "sitemap" else _of_feed(read_xml_feed(page))


def read_json(text: str) -> Document | None:
    feed = read_json_feed(text)
    return _of_feed(feed) if feed is not None else None


def read_list(text: str) -> list[FoundLink]:
    """Returns the links of a plain-text sitemap, a text of nothing but URLs; any other text has no links."""
    lines = text.split(None, LISTED)[:LISTED]
    if not lines or not all(line.startswith(("http://", "https://")) for line in lines):
        return []
    hrefs = (clean_href(line) for line in islice(text.split(), MOST_LINKS))
    return [FoundLink(href, "", "sitemap") for href in hrefs if href.startswith(("http://", "https://"))]


def _of_sitemap(page: bytes) -> Document:
    """Parses a sitemap; link anchors are the dates of last change."""
    links: list[FoundLink] = []
    images: dict[str, FoundImage] = {}
    newest = None
    is_broken = False
    try:
        for entry in islice(read_entries((page,), "utf-8"), MOST_LINKS):
            if href := clean_href(entry.loc):
                links.append(FoundLink(href, entry.lastmod[:40], "sitemap"))
            if entry.pictures and len(images) < MOST_PICTURES:
                images |= _images_of(entry)
            date = parse_date(entry.lastmod) if entry.lastmod else None
            newest = max(filter(None, (newest, date)), default=None)
    except BadListError:
        is_broken = True
    return Document(links, newest=newest, is_broken=is_broken, images=list(images.values())[:MOST_PICTURES])


def _images_of(entry: Entry) -> dict[str, FoundImage]:
    """Returns the images that an image or video sitemap lists for the entry's page."""
    named = ((clean_href(picture.loc), picture.words) for picture in entry.pictures)
    return {
        src: FoundImage(src, "sitemap", "gallery", collapse(words, LONGEST_ALT) or "") for src, words in named if src
    }


def _of_feed(feed: Feed) -> Document:
    about = feed.about
    links = [FoundLink(clean_href(about.link), "", "alternate")]
    links += [FoundLink(clean_href(entry.link), entry.title[:LONGEST_ANCHOR], "feed") for entry in feed.entries]
    return Document(
        [link for link in links if link.href][:MOST_LINKS],
        collapse(about.title, LONGEST_TITLE),
        collapse(about.summary, LONGEST_DESCRIPTION),
        about.language or None,
        about.author or None,
        "\n".join(texts_of(feed)),
        feed.newest,
        feed.is_broken,
    )
