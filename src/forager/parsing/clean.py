"""Normalises text for display and search: collapses white space, removes invisible characters."""

import re
import unicodedata
from functools import lru_cache

# Soft hyphens, zero-width spaces and direction marks. Joiners are kept: Persian and emoji need them.
UNSEEN = re.compile("[\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]")


def collapse(text: str | None, longest: int) -> str | None:
    """Collapses white space to single spaces and truncates; None if nothing remains."""
    if not text:
        return None
    text = text[: 4 * longest]
    return " ".join(strip_hidden(text).split())[:longest] or None


def strip_hidden(text: str) -> str:
    if text.isascii():
        return text
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return UNSEEN.sub("", text)
    return text.replace("\u00ad", "")  # the only invisible character in Latin-1


@lru_cache(1024)
def fold_text(text: str) -> str:
    """Returns text for comparison: without spaces, punctuation, accents and capitals."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
    return "".join(filter(str.isalnum, text.lower()))
