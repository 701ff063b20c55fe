"""Read: what a page says, from its bytes. Pure; no network, no database, and no page can make it hang."""

from forager.extract.keywords import CONFIGS, keywords_of, search_config
from forager.extract.language import LanguageMemory, keep_detector
from forager.extract.memory import keep_freed_memory
from forager.extract.page import read, warm_up
from forager.extract.words import to_query

__all__ = [
    "CONFIGS",
    "LanguageMemory",
    "keep_detector",
    "keep_freed_memory",
    "keywords_of",
    "read",
    "search_config",
    "to_query",
    "warm_up",
]
