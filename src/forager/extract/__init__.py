"""Read: what a page says, from its bytes. Pure; no network, no database, and no page can make it hang.

What reads whole pages is loaded when it is first asked for: most processes of Forager need only names from here, and
it is a tenth of a second of processor time and 9 MB.
"""

from typing import TYPE_CHECKING, Any

from forager.extract.keywords import CONFIGS, keywords_of, search_config
from forager.extract.memory import keep_freed_memory
from forager.extract.words import to_query

if TYPE_CHECKING:
    from forager.extract.language import LanguageMemory
    from forager.extract.page import read, warm_up

__all__ = [
    "CONFIGS",
    "LanguageMemory",
    "keep_freed_memory",
    "keywords_of",
    "read",
    "search_config",
    "to_query",
    "warm_up",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from forager.extract import language, page

    return getattr(page if name in {"read", "warm_up"} else language, name)
