"""The silhouette every site of the playground has, and what a site says about each of its pages."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from forager_playground.answer import Answer
from forager_playground.page import Link, Page

ALLOW_ALL = "User-agent: *\nAllow: /\n"


class Fate(StrEnum):
    """What a crawler that starts at the start page and stays on the host owes a URL."""

    FETCH = "fetch"
    """Must be fetched."""
    FORBIDDEN = "forbidden"
    """robots.txt forbids it: must never be requested."""
    NOT_FOLLOWED = "not_followed"
    """Exists, but only `nofollow` links lead there."""
    BINARY = "binary"
    """Linked and real, but by its extension no page."""


@dataclass(frozen=True, slots=True)
class SitePage:
    """One entry of a site's own list. `links` are as the page writes them."""

    path: str
    """With its query, in normal form."""
    status: int = 200
    """The last word of the site: what a patient crawler ends with."""
    title: str | None = None
    language: str | None = None
    declared_language: str | None = None
    links: tuple[Link, ...] = ()
    redirect_to: str | None = None
    fate: Fate = Fate.FETCH
    early_statuses: tuple[int, ...] = ()
    """What the first requests get before `status`; 0 is a cut connection."""
    sells: Mapping[str, str] | None = None
    """Name, price, currency and availability, on the page of one product."""


class Site(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def robots(self) -> str | None:
        """The text of robots.txt; None answers 404."""

    @property
    def traps(self) -> tuple[str, ...]:
        """Regular expressions over path and query of pages that never end; `pages` leaves them out."""

    def pages(self) -> Iterator[SitePage]: ...

    def answer(self, path: str, query: str) -> Answer: ...


def list_page(path: str, page: Page, fate: Fate = Fate.FETCH) -> SitePage:
    return SitePage(
        path,
        title=page.title,
        language=page.language,
        declared_language=page.declared_language,
        links=page.links,
        fate=fate,
    )


def show(page: Page, delay_s: float = 0.0) -> Answer:
    return Answer(body=page.html.encode(), delay_s=delay_s)
