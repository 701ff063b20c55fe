"""Detects empty shells: pages whose content is written by scripts. Pure and cheap: text length decides for most pages.

A page that is short on purpose has no mount point for scripts and does not mention JavaScript: it is not a shell.
"""

import re
from itertools import islice

from forager.fetch.models import Fetched
from forager.parsing.models import Reading

MUCH_TEXT = 200
"""Characters of main text from which on a page has its content."""
SOME_TEXT = 80
"""A greeting or `Loading…` around the mount point."""
MANY_LINKS = 5
LOOKED_AT = 64 * 1024
PLACES = 4
"""Checked per kind: limits the work on a page that repeats them a thousand times."""
HTML = frozenset({"text/html", "application/xhtml+xml", ""})
ROOT = re.compile(
    rb"\bid=[\"']?(?:root|app|__next|__nuxt|__layout|___gatsby|q-app|svelte|react-root|app-root|main-app|ember-app|spa)"
    rb"(?=[\"'\s>])",
    re.IGNORECASE,
)
ELEMENT = re.compile(rb"<[a-z]{1,20}-(?:root|app|shell|main)(?=[\s>])", re.IGNORECASE)
"""Such as Angular's <app-root>."""
EMPTY = re.compile(rb"[^<>]{0,200}>\s{0,80}(?:<!--[^<>]{0,80}-->\s{0,80})?</")
"""The rest of a tag with no content after it."""
NOSCRIPT = re.compile(rb"<noscript\b", re.IGNORECASE)
SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)
ASKS_FOR_SCRIPT = re.compile(rb"java\s?script", re.IGNORECASE)


def is_html(fetched: Fetched) -> bool:
    return fetched.content_type.partition(";")[0].strip().lower() in HTML


def waits_for_scripts(fetched: Fetched, reading: Reading) -> bool:
    """Whether the page has little text and few links, a script, and a sign that the script writes the content."""
    words = len(reading.text.strip())
    if words >= MUCH_TEXT or not is_html(fetched):
        return False
    if sum(link.rel in {"a", "a nofollow"} for link in reading.links) > MANY_LINKS or reading.has_password_form:
        return False
    body = fetched.body[:LOOKED_AT]
    if not SCRIPT.search(body):
        return False
    if not words and not reading.headings.strip():
        return True
    roots = _first(ROOT, body)
    if any(EMPTY.match(body, end) for _, end in [*roots, *_first(ELEMENT, body)]):
        return True
    return words < SOME_TEXT and (bool(roots) or _requires_script(body))


def _requires_script(body: bytes) -> bool:
    """Whether the page says `You need to enable JavaScript`, for browsers without it."""
    return any(ASKS_FOR_SCRIPT.search(body, start, start + 600) for start, _ in _first(NOSCRIPT, body))


def _first(pattern: re.Pattern[bytes], body: bytes) -> list[tuple[int, int]]:
    return [found.span() for found in islice(pattern.finditer(body), PLACES)]
