"""What a list holds: seeds, sitemaps to follow, and lines that are neither, each with its number."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from forager.urls.normalize import normalize

SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?!\d+(?:[/?#]|$))", re.IGNORECASE)
"""`mailto:` but not the port in `example.com:8080`."""
BARE_HOST = re.compile(r"(?:[^/?#\s]+\.[^/?#\s]+|localhost|\[[0-9a-f:.]+\])(?::\d+)?(?:[/?#].*)?", re.IGNORECASE)
MOST_REMEMBERED = 1000
"""Bad lines a tally can name; a file of a million bad ones must not fill the memory."""


class Seed(NamedTuple):
    url: str
    """Normalised."""
    rank: int | None = None
    """Its place in a ranking, 1 is best."""
    line: int = 0


class BadLine(NamedTuple):
    line: int
    why: str
    """One sentence."""


class Nested(NamedTuple):
    """A sitemap that an index names."""

    url: str
    line: int


Found = Seed | BadLine | Nested


@dataclass(slots=True)
class ReadCounts:
    """What was read from one list so far."""

    name: str
    """For people: a file's name, an address."""
    unit: str = "line"
    seeds: int = 0
    bad: int = 0
    remembered: list[BadLine] = field(default_factory=list)
    """The first of the bad lines."""

    @property
    def lines(self) -> int:
        return self.seeds + self.bad

    def take(self, found: Seed | BadLine) -> Seed | None:
        """The seed, if it is one; what is bad is counted and remembered."""
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
    """The page a seed means: a bare domain is meant as https. Raises BadUrlError, which never repeats a password."""
    return normalize(f"https://{text}" if is_bare_host(text) else text)


def is_bare_host(text: str) -> bool:
    return not SCHEME.match(text) and BARE_HOST.fullmatch(text) is not None
