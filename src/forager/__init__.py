"""Forager: a self-hosted crawl platform. `ARCHITECTURE.md` describes where everything is.

`forager.read` reads one page from its bytes, without network or database.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forager.reading import PageContent

__version__ = "0.1.0"
__all__ = ["__version__", "read"]


def read(body: bytes, url: str, content_type: str = "text/html") -> "PageContent":
    """Returns the content of a page as `forager.reading.PageContent`. `url` is the address it came from.

    Raises a `forager.errors.ForagerError` for a `url` that is not a web address, and when no parser can read the body.
    Bad HTML raises nothing.
    """
    from forager import reading  # imported here because every command imports this module

    return reading.read(body, url, content_type)
