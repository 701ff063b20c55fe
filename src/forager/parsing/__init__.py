"""Read: what a page says, from its bytes. Pure; no network, no database, and no page can make it hang.

What reads whole pages is loaded when it is first asked for: most processes of Forager need only names from here, and
it is a tenth of a second of processor time and 9 MB.
"""

from typing import TYPE_CHECKING, Any

from forager.parsing.keywords import CONFIGS, keywords_of, search_config
from forager.parsing.memory import keep_freed_memory
from forager.parsing.words import to_query

if TYPE_CHECKING:
    from forager.parsing.language import LanguageMemory
    from forager.parsing.page import read, warm_up

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
    from forager.parsing import language, page

    return getattr(page if name in {"read", "warm_up"} else language, name)
