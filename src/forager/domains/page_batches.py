"""Groups domains into batches with a limited number of pages: transactions stay short with many small domains or a
huge one."""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar


class HasPages(Protocol):
    @property
    def pages(self) -> int: ...


Domain = TypeVar("Domain", bound=HasPages)


def batch_by_pages(domains: Iterable[Domain], *, most_pages: int, most_domains: int) -> Iterator[list[Domain]]:
    """Yields batches in the given order. A domain with more than `most_pages` is a batch of its own."""
    portion: list[Domain] = []
    pages = 0
    for domain in domains:
        if portion and (pages + domain.pages > most_pages or len(portion) == most_domains):
            yield portion
            portion, pages = [], 0
        portion.append(domain)
        pages += domain.pages
    if portion:
        yield portion
