"""Forager: a self-hosted crawl platform. `ARCHITECTURE.md` describes where everything is.

`forager.read` reads one page from its bytes, without network or database. `forager.open` opens an instance: crawl it,
and take its pages, products and links as rows or tables. `forager.hookimpl` marks the functions of a plug-in.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forager.library import Instance
    from forager.plugins.markers import hookimpl
    from forager.reading import PageContent

__version__ = "0.1.0"
__all__ = ["__version__", "hookimpl", "open", "read"]


def __getattr__(name: str) -> Any:
    """Provides `hookimpl` when it is first used: only plug-ins do."""
    if name == "hookimpl":
        from forager.plugins import markers

        return markers.hookimpl
    raise AttributeError(f"module 'forager' has no attribute {name!r}")


def read(body: bytes | str, url: str, content_type: str = "text/html") -> "PageContent":
    """Returns the content of a page as `forager.reading.PageContent`. `url` is the address it came from; `body` are its
    bytes, whose charset is found, or text.

    Raises a `forager.errors.ForagerError` for a `url` that is not a web address, and when no parser can read the body.
    Bad HTML raises nothing.
    """
    from forager import reading  # imported here because every command imports this module

    return reading.read(body, url, content_type)


def open(where: str | None = None, **settings: Any) -> "Instance":  # noqa: A001 (read as forager.open)
    """Returns an open instance as `forager.library.Instance`; use it in a `with` statement.

    `where` is a data folder or the URL of a PostgreSQL database; without it the instance is the one that the command
    line would use. Settings are named as in the environment, without `FORAGER_` and in lower case.
    """
    from importlib import import_module  # by name: the library is above this module, which everything imports

    instance: Instance = import_module("forager.library").open_instance(where, **settings)
    return instance
