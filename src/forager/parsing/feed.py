"""Parses feeds as pages: the entries of RSS 2.0, RSS 1.0 (RDF), Atom and JSON Feed become links with title and date.

XML is parsed by expat without internal or external entities; number, depth and length are limited. A feed that breaks
in the middle keeps its earlier entries.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from html import unescape
from typing import Any
from xml.parsers import expat

from forager.parsing.clean import collapse
from forager.parsing.dates import parse_date

MOST_ENTRIES = 50_000
"""As many as a sitemap may have: feeds serve as sitemaps."""
DEEPEST = 64
LONGEST_TEXT = 16 * 1024
LONGEST_SUMMARY = 500
LONGEST_TITLE = 200
TAG = re.compile(r"<[^<>]{0,2000}>")
ENTRIES = frozenset({"item", "entry"})
FEEDS = frozenset({"channel", "feed", "RDF", "rss"})
STRAY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)|[\x00-\x08\x0b\x0c\x0e-\x1f]")
PERIODS = {
    "hourly": 3600.0,
    "daily": 86_400.0,
    "weekly": 7 * 86_400.0,
    "monthly": 30 * 86_400.0,
    "yearly": 365 * 86_400.0,
}
TITLES, SUMMARIES = frozenset({"title"}), frozenset({"description", "summary", "content", "encoded", "subtitle"})
DATES = frozenset({"pubDate", "date", "published", "updated", "modified", "issued", "lastBuildDate"})


@dataclass(slots=True)
class Entry:
    """An entry of a feed, or the feed itself."""

    link: str = ""
    title: str = ""
    summary: str = ""
    author: str = ""
    language: str = ""
    date: datetime | None = None

    def take_date(self, text: str) -> None:
        """Keeps the newest date."""
        date = parse_date(text)
        if date and (self.date is None or date > self.date):
            self.date = date


@dataclass(slots=True)
class Feed:
    about: Entry = field(default_factory=Entry)
    entries: list[Entry] = field(default_factory=list)
    is_broken: bool = False
    """Whether the feed is not well-formed."""
    update_s: float | None = None
    """How often it is updated, as it says (`ttl`, `sy:updatePeriod`)."""

    @property
    def newest(self) -> datetime | None:
        return max((entry.date for entry in [self.about, *self.entries] if entry.date), default=None)


def read_xml_feed(page: bytes) -> Feed:
    """Parses `page`, which is UTF-8, whatever it declares. A feed that is not well-formed is parsed again, with stray
    `&`, such as those of HTML's entities, escaped and control characters removed."""
    reader = _Reader()
    try:
        reader.parse(page)
    except (expat.ExpatError, ValueError):
        first, reader = reader, _Reader()
        with suppress(expat.ExpatError, ValueError):
            reader.parse(STRAY.sub(lambda match: b"&amp;" if match[0] == b"&" else b"", page))
        if len(first.feed.entries) > len(reader.feed.entries):
            reader = first
        reader.feed.is_broken = True
    return reader.feed


class _Reader:
    def __init__(self) -> None:
        self.feed = Feed()
        self._entry = self.feed.about
        self._path: list[str] = []
        self._text: list[str] = []
        self._length = 0

    def parse(self, page: bytes) -> None:
        parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._take_text
        parser.EntityDeclHandler = self._reject
        parser.Parse(page, True)

    def _reject(self, *_declaration: object) -> None:
        raise ValueError("it declares entities of its own")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if len(self._path) >= DEEPEST:
            raise ValueError("it is nested too deep")
        if tag in ENTRIES:
            if len(self.feed.entries) >= MOST_ENTRIES:
                raise ValueError("it has too many entries")
            self._entry = Entry(link=attributes.get("http://www.w3.org/1999/02/22-rdf-syntax-ns# about", ""))
            self.feed.entries.append(self._entry)
        elif tag == "link" and attributes.get("href") and self._is_own():
            if attributes.get("rel", "alternate") == "alternate" and not self._entry.link:
                self._entry.link = attributes["href"]
        elif tag == "feed" and not self._path:
            self.feed.about.language = attributes.get("http://www.w3.org/XML/1998/namespace lang", "")
        self._path.append(tag)
        self._text.clear()
        self._length = 0
        if tag == "guid" and attributes.get("isPermaLink") == "false":
            self._path[-1] = "id"

    def _end(self, _name: str) -> None:
        tag = self._path.pop()
        if tag in ENTRIES:
            self._entry = self.feed.about
        elif self._is_own() or (tag == "name" and self._path[-1:] == ["author"]):
            self._take(tag, "".join(self._text).strip())
        self._text.clear()

    def _is_own(self) -> bool:
        """Whether the element is a child of the feed or of an entry: images and sources have their own titles and
        links."""
        return bool(self._path) and (self._path[-1] in ENTRIES or self._path[-1] in FEEDS)

    def _take(self, tag: str, text: str) -> None:
        entry = self._entry
        if tag in TITLES:
            entry.title = entry.title or plain(text, LONGEST_TITLE)
        elif tag in SUMMARIES:
            entry.summary = entry.summary or plain(text, LONGEST_SUMMARY)
        elif tag in DATES:
            entry.take_date(text)
        elif tag == "link":
            entry.link = text or entry.link
        elif tag == "guid" and not entry.link:
            entry.link = text if text.startswith(("http://", "https://")) else ""
        elif tag in {"creator", "author", "name"}:
            entry.author = entry.author or plain(text, LONGEST_TITLE)
        elif tag == "language":
            entry.language = text
        elif tag == "ttl" and text.isdecimal() and len(text) < 8 and entry is self.feed.about:
            self.feed.update_s = 60.0 * int(text) or None
        elif tag == "updatePeriod" and entry is self.feed.about:
            self.feed.update_s = self.feed.update_s or PERIODS.get(text.lower())

    def _take_text(self, text: str) -> None:
        if self._length <= LONGEST_TEXT:
            self._text.append(text)
            self._length += len(text)


def read_json_feed(text: str) -> Feed | None:
    """Parses a JSON feed; None for other or invalid JSON."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    items = data.get("items") if isinstance(data, dict) else None
    if not isinstance(items, list) or "jsonfeed.org" not in str(data.get("version")):
        return None
    feed = Feed(_json_entry(data, link="home_page_url", summary=("description",)))
    for item in items[:MOST_ENTRIES]:
        if isinstance(item, dict):
            feed.entries.append(_json_entry(item, link="url", summary=("summary", "content_text", "content_html")))
    return feed


def _json_entry(item: dict[str, Any], *, link: str, summary: tuple[str, ...]) -> Entry:
    authors = item.get("authors") or [item.get("author")]
    first = authors[0] if isinstance(authors, list) and authors else None
    entry = Entry(
        link=_string(item.get(link)) or _string(item.get("external_url")),
        title=plain(_string(item.get("title")), LONGEST_TITLE),
        summary=plain(next((text for name in summary if (text := _string(item.get(name)))), ""), LONGEST_SUMMARY),
        author=plain(_string(first.get("name")), LONGEST_TITLE) if isinstance(first, dict) else "",
        language=_string(item.get("language")),
    )
    for name in ("date_published", "date_modified"):
        entry.take_date(_string(item.get(name)))
    return entry


def _string(value: object) -> str:
    """Returns a string that the database accepts: JSON can contain NULs and lone surrogates."""
    return value.replace("\0", "").encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def plain(text: str, longest: int) -> str:
    """Returns the text of a feed's markup, which is escaped a second time."""
    if "<" in text or "&" in text:
        text = unescape(TAG.sub(" ", unescape(text[:LONGEST_TEXT]) if "&lt;" in text else text[:LONGEST_TEXT]))
        text = text.replace("\0", "").encode("utf-8", "replace").decode()
    return collapse(text, longest) or ""


def texts_of(feed: Feed) -> Iterator[str]:
    for entry in feed.entries:
        yield from filter(None, (entry.title, entry.summary))
