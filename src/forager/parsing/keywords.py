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


def keywords_of(reading: Reading) -> Keywords | None:
    """Returns the keywords by weight; None for a page that declares noindex."""
    if reading.is_noindex:
        return None
    return Keywords(
        to_words(reading.title or ""),
        to_words(reading.headings),
        to_words(reading.description or ""),
        to_words(reading.text),
    )
