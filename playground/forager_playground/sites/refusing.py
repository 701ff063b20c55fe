"""Sites that answer every page in one bad way: 403, 429 with and without Retry-After, 500. Their robots.txt is fine.

Nothing leads from one page to the next, so a crawl learns of the others only if somebody names them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from forager_playground.answer import Answer, missing, refuse
from forager_playground.site import ALLOW_ALL, SitePage
from forager_playground.sites.numbered import find_number

WORDS = {403: "Forbidden", 429: "Too many requests", 500: "Internal server error"}
SOON_S, LATER_S = 1, 3600


@dataclass(frozen=True, slots=True)
class RejectingSite:
    name: str
    size: int
    status: int
    retry_after_s: int | None = None
    robots: str | None = ALLOW_ALL
    traps: tuple[str, ...] = ()

    def pages(self) -> Iterator[SitePage]:
        """Only what can be found: the start page."""
        yield SitePage("/", self.status)

    def answer(self, path: str, query: str) -> Answer:
        if find_number(path, self.size) is None or query:
            return missing()
        return refuse(self.status, WORDS[self.status], self.retry_after_s)


def make_closed(seed: int, size: int) -> RejectingSite:  # noqa: ARG001 - a refusal has no words to draw
    return RejectingSite("closed", size, 403)


def make_limited(seed: int, size: int) -> RejectingSite:  # noqa: ARG001
    return RejectingSite("limited", size, 429)


def make_soon(seed: int, size: int) -> RejectingSite:  # noqa: ARG001
    return RejectingSite("soon", size, 429, SOON_S)


def make_later(seed: int, size: int) -> RejectingSite:  # noqa: ARG001
    return RejectingSite("later", size, 429, LATER_S)


def make_broken(seed: int, size: int) -> RejectingSite:  # noqa: ARG001
    return RejectingSite("broken", size, 500)
