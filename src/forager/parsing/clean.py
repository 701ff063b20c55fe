"""Text for people and for search: white space to single spaces, characters that nobody sees left out."""

import re
import unicodedata
from functools import lru_cache

# Soft hyphens, spaces of no width and marks of direction. Joiners stay: Persian and emoji are written with them.
UNSEEN = re.compile("[\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]")


def collapse(text: str | None, longest: int) -> str | None:
    """White space to single spaces, cut, None when nothing is left."""
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
    return text.replace("\u00ad", "")  # the only one there


@lru_cache(1024)
def fold_text(text: str) -> str:
    """For comparing: without spaces, signs, accents and capitals."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
    return "".join(filter(str.isalnum, text.lower()))
