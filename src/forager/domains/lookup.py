"""Finds the domain for a name or URL given by a user."""

import difflib
from collections.abc import Sequence

from forager.db import statements
from forager.db.types import Connection
from forager.errors import BadUrlError, NotFoundError
from forager.urls.domain import domain_of
from forager.urls.normalize import normalize

SQL = statements.load("forager.domains", "list.sql")


async def known_name(connection: Connection, text: str | None) -> str | None:
    """Returns the domain for a name or URL; raises NotFoundError with similar names if it is not known."""
    if text is None:
        return None
    for name in dict.fromkeys((text, canonical_name(text))):
        if await connection.fetchrow(SQL["find_domain"], name):
            return name
    near = [row["name"] for row in await connection.fetch(SQL["names_near"], canonical_name(text))]
    raise NotFoundError(f"There is no domain {text!r}." + suggestion(canonical_name(text), near))


def canonical_name(text: str) -> str:
    """Returns the canonical name: `www.Example.com` and `https://example.com/x` both give `example.com`."""
    try:
        return domain_of(normalize(text if "://" in text else f"http://{text}"))
    except BadUrlError:
        return text.lower()


def suggestion(name: str, near: Sequence[str]) -> str:
    """Returns a sentence with the closest names, or where to list them all."""
    close = difflib.get_close_matches(name, near, n=3, cutoff=0.5)
    if not close:
        return " `forager domains` lists them all."
    return f" Did you mean {' or '.join(close)}?"
