"""Builds the searchable keywords of a page, and selects the PostgreSQL text-search configuration for its language: one
that every server since 15 ships, else `simple`."""

from forager.parsing.models import Keywords, Reading
from forager.parsing.words import to_words

CONFIGS = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}


def search_config(language: str | None) -> str:
    """Returns the configuration for a BCP-47 tag such as `pt-BR`."""
    return CONFIGS.get(language.partition("-")[0].lower(), "simple") if language else "simple"


MOST_BYTES = 400_000
"""Limit of a text in UTF-8: a tsvector holds a megabyte of lexemes, and an address is there with its parts."""


def keywords_of(reading: Reading) -> Keywords | None:
    """Returns the keywords by weight; None for a page that declares noindex."""
    if reading.is_noindex:
        return None
    return Keywords(
        _plain(to_words(reading.title or "")),
        _plain(to_words(reading.headings)),
        _plain(to_words(reading.description or "")),
        _plain(to_words(reading.text)),
    )


def _plain(words: str) -> str:
    """Returns words as the lexeme cache can take them: without tags, which PostgreSQL would parse over spaces, so that
    a word in `<pre>` that shows one is found too, and without a sign at the beginning, which would be parsed
    differently there."""
    if "<" in words:
        words = words.replace("<", " ")
    if words and not words[0].isalnum():
        words = f" {words}"
    return words if len(words) * 4 <= MOST_BYTES else _truncate(words)


def _truncate(words: str) -> str:
    encoded = words.encode(errors="replace")
    return words if len(encoded) <= MOST_BYTES else encoded[:MOST_BYTES].decode(errors="ignore")
