"""Read: what a page says, from its bytes. Pure; no network, no database, and no page can make it hang."""

from forager.extract.keywords import search_config
from forager.extract.language import LanguageMemory
from forager.extract.page import read, warm_up

__all__ = ["LanguageMemory", "read", "search_config", "warm_up"]
