"""A page as Firecrawl returns it. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from forager.fetch.models import Fetched
from forager.parsing.charset import to_text
from forager.parsing.markdown_formats import TextFormat, convert
from forager.parsing.models import Reading
from forager.urls.resolve import resolve_links

LETTERS: Mapping[str, str] = {"markdown": "m", "html": "h", "rawHtml": "r", "links": "l"}
"""Format → its letter in the id of a crawl, which says what its pages are returned as."""
LINKS = frozenset({"a", "area", "a nofollow", "area nofollow"})
MOST_LINKS = 5000
NEEDS_BODY = frozenset({"rawHtml", "links"})
TEXT_ONLY = "Only the text of this page is stored: rawHtml and links are missing."


@dataclass(frozen=True, slots=True)
class Source:
    """Where a document comes from."""

    asked: str
    url: str
    markdown: str
    fetched: Fetched | None
    """None: only the text is stored."""
    reading: Reading | None
    stored_at: datetime | None = None
    """When a stored page was fetched; None: just now."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Metadata of a page of which only the text is stored."""


def build_document(source: Source, formats: Collection[str], warnings: Collection[str] = ()) -> dict[str, Any]:
    fetched, found, warnings = source.fetched, dict[str, Any](), list(warnings)
    if "markdown" in formats:
        found["markdown"] = source.markdown
    if "html" in formats:
        found["html"] = convert(source.markdown, TextFormat.HTML)
    if fetched is None and NEEDS_BODY & set(formats):
        warnings.append(TEXT_ONLY)
    if "rawHtml" in formats and fetched is not None:
        found["rawHtml"] = to_text(fetched.body, fetched.content_type)[0] if fetched.body else ""
    if "links" in formats and fetched is not None:
        found["links"] = list_links(source.reading) if source.reading else []
    found["metadata"] = describe(source)
    if warnings:
        found["warning"] = " ".join(warnings)
    return found


def list_links(reading: Reading) -> list[str]:
    """Returns the absolute URLs that a page links to, each once, in its order."""
    hrefs = [link.href for link in reading.links if link.rel in LINKS]
    resolved = resolve_links(reading.base_url, hrefs)
    return list(dict.fromkeys(url for url in resolved if url is not None))[:MOST_LINKS]


def describe(source: Source) -> dict[str, Any]:
    fetched, reading = source.fetched, source.reading
    found: dict[str, Any] = {
        "sourceURL": source.asked,
        "url": source.url,
        "statusCode": fetched.status_code if fetched else 200,
        "contentType": fetched.content_type or None if fetched else None,
        "cacheState": "miss" if source.stored_at is None else "hit",
        "cachedAt": None if source.stored_at is None else source.stored_at.isoformat(),
    }
    if fetched is not None and fetched.status_code >= 400:
        found["error"] = f"The server answered {fetched.status_code}."
    if reading is not None:
        found |= {
            "title": reading.title,
            "description": reading.description,
            "language": reading.language,
            "author": reading.author,
            "keywords": ", ".join(reading.tags) or None,
            "canonical": reading.canonical,
            "publishedTime": reading.published_at.isoformat() if reading.published_at else None,
            "modifiedTime": reading.modified_at.isoformat() if reading.modified_at else None,
            "robots": "noindex" if reading.is_noindex else None,
        }
    return {name: value for name, value in {**source.facts, **found}.items() if value is not None}
