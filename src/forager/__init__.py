"""Forager: a self-hosted crawl platform. `ARCHITECTURE.md` tells where everything lives.

`forager.read` reads one page from its bytes, without network or database.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forager.reading import PageContent

__version__ = "0.1.0"
__all__ = ["__version__", "read"]


def read(body: bytes, url: str, content_type: str = "text/html") -> "PageContent":
    """Returns what a page says, as `forager.reading.PageContent`. `url` is where it came from.

    Raises a `forager.errors.ForagerError` for a `url` that is no web address, and where no parser can read the body.
    Bad HTML raises nothing.
    """
    from forager import reading  # here, as every command imports this module

    return reading.read(body, url, content_type)
