"""Detects challenge pages: a check of the visitor, a captcha or a consent wall in place of the requested content. Pure.

A captcha or the script of a service alone proves nothing: comment forms have the first, and every page of a protected
site the second. The criteria are marks that only the challenge itself has, and that there is little beside them. In
doubt a page is content: a challenge taken for a page costs one visit, a page taken for a challenge is lost.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from forager.parsing import challenge_words as words_of
from forager.parsing.login import count_words

if TYPE_CHECKING:
    from forager.parsing.tree_types import Tree

CAPTCHA, CONSENT_WALL, UNNAMED = "captcha", "consent_wall", "challenge: unknown"
MOST_WORDS, MOST_LINKS = 180, 25
"""Above these a page has content of its own, whatever else it has."""
CAPTCHA_WORDS = 90
"""Words beside a captcha that asks who the visitor is; a form that people fill in has more, or has fields."""
CONSENT_WORDS, CONSENT_LINKS = 500, 30
CONSENT_SHARE = 0.05
"""Share of words about consent in the text of a consent wall."""
LOOKED_AT = 64 * 1024
"""Bytes of a page in which marks are looked for: challenges are small."""
LONG_TEXT = 5000
"""Characters from which on a page has content of its own, in any script."""
LONGEST_TITLE = 120
BUTTON_TEXT = 60
MOST_BUTTONS = 60

TITLE_PARTS = re.compile(r"\s+[-–—|·•»:]+\s+")
HIDDEN_INPUTS = frozenset({"hidden", "submit", "button", "image", "reset", "checkbox"})


def find_vendor(headers: Mapping[str, str], body: bytes, text: str = "", *, is_refusal: bool = False) -> str | None:
    """Returns the service whose challenge a response is, by its headers or by marks in its body. A mark in the visible
    `text` does not count: the page is about it."""
    for name, pattern, vendor in words_of.HEADERS:
        if (is_refusal or name not in words_of.REFUSALS_ONLY) and pattern.search(headers.get(name, "")):
            return vendor
    head = body[:LOOKED_AT].lower()
    for vendor, texts, confirmation in words_of.MARKS:
        if any(mark in head for mark in texts) and (confirmation is None or confirmation.search(head)):
            return None if text and _is_shown(texts, text) else vendor
    return None


def _is_shown(marks: tuple[bytes, ...], text: str) -> bool:
    shown = text.lower()
    return any(b" " not in mark and mark.decode() in shown for mark in marks)


def may_be_challenge(status_code: int) -> bool:
    """Returns whether a response with this error status may be a challenge, so that its body is worth reading."""
    return status_code in words_of.CHALLENGE_STATUSES


def find_refusal_challenge(headers: Mapping[str, str], body: bytes) -> str | None:
    """Returns the reason where a response with an error status is a challenge, and not a plain refusal."""
    if vendor := find_vendor(headers, body, is_refusal=True):
        return name_reason(vendor)
    is_asking = _has_any(words_of.WIDGETS, body) and words_of.CHECK_TEXT.search(
        body[:LOOKED_AT].decode("utf-8", "replace")
    )
    return CAPTCHA if is_asking else None


def name_reason(vendor: str) -> str:
    return f"challenge: {vendor}"


def find_challenge(
    tree: "Tree",
    *,
    url: str,
    title: str | None,
    text: str,
    links: int,
    headers: Mapping[str, str],
    body: bytes,
    has_password_form: bool,
) -> str | None:
    """Returns the reason why the page is a challenge in place of content; None for a page with content, the usual case,
    for which its number of words decides."""
    for name, pattern, vendor in words_of.HEADERS:
        if name not in words_of.REFUSALS_ONLY and name in headers and pattern.search(headers[name]):
            return name_reason(vendor)
    if links > CONSENT_LINKS or len(text) > LONG_TEXT or has_password_form:
        return None
    words = count_words(text)
    if words > CONSENT_WORDS:
        return None
    if words <= MOST_WORDS and links <= MOST_LINKS:
        if found := find_vendor({}, body, text):
            return name_reason(found)
        if reason := _find_check(tree, title, text, words, body):
            return reason
    return CONSENT_WALL if _is_consent_wall(tree, url, title, text, words) else None


def _find_check(tree: "Tree", title: str | None, text: str, words: int, body: bytes) -> str | None:
    """Returns the reason where title and text ask who the visitor is, and nothing else can be done here."""
    says_so = any(words_of.CHECK_TITLE.fullmatch(part) for part in _title_parts(title))
    asks = bool(words_of.CHECK_TEXT.search(text[: MOST_WORDS * 20]))
    if not (says_so or asks) or words > CAPTCHA_WORDS or _has_fields(tree):
        return None
    if _has_any(words_of.WIDGETS, body):
        return CAPTCHA
    return UNNAMED if says_so and asks and _has_any(words_of.RELOADS, body) else None


def _has_any(texts: tuple[bytes, ...], body: bytes) -> bool:
    head = body[:LOOKED_AT].lower()
    return any(text in head for text in texts)


def _has_fields(tree: "Tree") -> bool:
    """Returns whether a form asks for anything but the answer of a captcha: then it is a form that people fill in."""
    if tree.tags("select"):
        return True
    rows = tree.rows(tree.tags("input", "textarea"), ("type", "name", "id"))
    for kind, name, identity in rows:
        is_shown = (kind or "text").strip().lower() not in HIDDEN_INPUTS
        if is_shown and not words_of.CAPTCHA_FIELD.search(f"{name or ''} {identity or ''}"):
            return True
    return False


def _is_consent_wall(tree: "Tree", url: str, title: str | None, text: str, words: int) -> bool:
    parts = _title_parts(title)
    if not parts or not any(words_of.CONSENT_TITLE.fullmatch(part) for part in parts) or not words:
        return False
    path = "/" + url.partition("://")[2].partition("/")[2]
    if words_of.POLICY.search(path.partition("?")[0]) or any(
        words_of.POLICY.search(part) and len(parts) == 1 for part in parts
    ):
        return False
    if len(words_of.CONSENT_WORD.findall(text)) < CONSENT_SHARE * words:
        return False
    return _has_accept(tree)


def _has_accept(tree: "Tree") -> bool:
    buttons = tree.tags("button", "a")[:MOST_BUTTONS]
    if any(words_of.ACCEPT.fullmatch(text) for text in tree.texts(buttons, BUTTON_TEXT)):
        return True
    values = tree.column(tree.tags("input")[:MOST_BUTTONS], "value")
    return any(value and words_of.ACCEPT.fullmatch(value[:BUTTON_TEXT]) for value in values)


def _title_parts(title: str | None) -> list[str]:
    """Returns the parts of the title, and the whole of it: `Just a moment... | Shop`."""
    whole = " ".join((title or "")[:LONGEST_TITLE].split())
    return [part for part in dict.fromkeys([whole, *TITLE_PARTS.split(whole)]) if part]
