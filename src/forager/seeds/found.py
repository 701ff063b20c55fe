"""Records read from a seed list: seeds, sitemaps to follow, and invalid lines, each with its line number."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from forager.plugins.rewriting import rewrite_seed
from forager.urls.domain import domain_of
from forager.urls.normalize import has_credentials, normalize

SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?!\d+(?:[/?#]|$))", re.IGNORECASE)
"""Matches `mailto:` but not the port in `example.com:8080`."""
BARE_HOST = re.compile(r"(?:[^/?#\s]+\.[^/?#\s]+|localhost|\[[0-9a-f:.]+\])(?::\d+)?(?:[/?#].*)?", re.IGNORECASE)
MOST_REMEMBERED = 1000
"""Invalid lines that `ReadCounts` keeps; a file with a million of them must not exhaust memory."""


class Seed(NamedTuple):
    url: str
    """Normalised."""
    rank: int | None = None
    """Its position in a ranking; 1 is best."""
    line: int = 0
    is_bare: bool = False
    """It was named without a scheme: https is a guess."""


class BadLine(NamedTuple):
    line: int
    why: str
    """One sentence."""


class Nested(NamedTuple):
    """A sitemap listed in a sitemap index."""

    url: str
    line: int


Found = Seed | BadLine | Nested


@dataclass(slots=True)
class ReadCounts:
    """Counts what was read from one list so far."""

    name: str
    """Display name: a file name or a URL."""
    unit: str = "line"
    seeds: int = 0
    bad: int = 0
    remembered: list[BadLine] = field(default_factory=list)
    """The first invalid lines."""

    @property
    def lines(self) -> int:
        return self.seeds + self.bad

    def take(self, found: Seed | BadLine) -> Seed | None:
        """Returns the seed, or None for an invalid line, which is counted and kept."""
        if isinstance(found, Seed):
            self.seeds += 1
            return found
        self.bad += 1
        if len(self.remembered) < MOST_REMEMBERED:
            self.remembered.append(found)
        return None

    def seeds_of(self, found: Iterable[Seed | BadLine]) -> Iterator[Seed]:
        return (seed for item in found if (seed := self.take(item)) is not None)

    def where(self, bad: BadLine) -> str:
        return f"{self.unit} {bad.line:,} of {self.name}"


def to_url(text: str) -> str:
    """Returns the URL of a seed; a bare domain becomes https. Raises BadUrlError, which never contains a password."""
    return rewrite_seed(normalize(f"https://{text}" if is_bare_host(text) else text))


def credentials_note(text: str) -> str | None:
    """Returns what to say of a typed URL that carries a user name or password; None if it does not."""
    url = f"https://{text}" if is_bare_host(text) else text
    if not has_credentials(url):
        return None
    name = domain_of(url)
    return (
        f"The user name and password in the URL of {name} are not used: URLs are stored and shown. Set them for the "
        f"domain: forager domain {name} set --username NAME --password PASSWORD"
    )


def to_seed(text: str, rank: int | None = None, line: int = 0) -> Seed:
    """Returns a seed as a person writes it. Raises BadUrlError."""
    return Seed(to_url(text), rank, line, is_bare_host(text))


def is_bare_host(text: str) -> bool:
    return not SCHEME.match(text) and BARE_HOST.fullmatch(text) is not None
