"""Many small equal sites with an exact link graph: the ground of fault tests.

Page `i` links to its children in a tree, so every page is reachable, and to a few others drawn from the seed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from forager_playground.answer import Answer, missing
from forager_playground.page import Link
from forager_playground.seeded import number, numbers
from forager_playground.site import ALLOW_ALL, SitePage
from forager_playground.sites.numbered import find_number, path_of

CHILDREN = 5
OTHERS = 5


@dataclass(frozen=True, slots=True)
class Uniform:
    seed: int
    number: int
    size: int = 50
    robots: str | None = ALLOW_ALL
    traps: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"uniform-{self.number}"

    def pages(self) -> Iterator[SitePage]:
        for page in range(self.size):
            links = tuple(Link(path_of(target)) for target in self._targets(page))
            yield SitePage(path_of(page), 200, self._title(page), "en", "en", links)

    def answer(self, path: str, query: str) -> Answer:
        page = find_number(path, self.size)
        if page is None or query:
            return missing()
        links = "".join(f'<li><a href="{path_of(target)}">page {target}</a>' for target in self._targets(page))
        code = number(10**9, self.seed, self.number, page)
        html = (
            f'<!doctype html><html lang="en"><head><title>{self._title(page)}</title></head>'
            f"<body><h1>Page {page}</h1><p>Page {page} of {self.size}, its code is {code}.</p><ul>{links}</ul>"
        )
        return Answer(body=html.encode())

    def _title(self, page: int) -> str:
        return f"Page {page} of site {self.number}"

    def _targets(self, page: int) -> list[int]:
        children = range(page * CHILDREN + 1, min(page * CHILDREN + CHILDREN + 1, self.size))
        others = (n % self.size for n in numbers(OTHERS, self.seed, self.number, page, "links"))
        return [*children, *others]


def uniform_sites(count: int = 200, pages: int = 50, seed: int = 1) -> list[Uniform]:
    return [Uniform(seed, number, pages) for number in range(1, count + 1)]
