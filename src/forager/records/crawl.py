"""What a run was asked to do. Stored on the run, so that a successor, a report or a person can read it again."""

from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """How far from its seeds a crawl may go."""

    PAGE = "page"
    """The seeds only."""
    PREFIX = "prefix"
    """URLs that start with a seed's folder."""
    HOST = "host"
    """The seeds' domains (`www.` is the same domain)."""
    DOMAIN = "domain"
    """The seeds' registrable domains with all sub-domains."""
    ANY = "any"
    """Everywhere."""


@dataclass(frozen=True, slots=True)
class RunSpec:
    """The order behind a run."""

    seeds: tuple[str, ...]
    """Normalised."""
    scope: Scope = Scope.HOST
    include: tuple[str, ...] = ()
    """Glob patterns over the whole URL; `*` is any run of characters, `?` any one."""
    exclude: tuple[str, ...] = ()
    max_depth: int = 10
    max_pages: int | None = None
    max_pages_per_domain: int | None = None
    delay_s: float | None = None
    """Overrides the setting for this run; robots.txt may ask for more."""
