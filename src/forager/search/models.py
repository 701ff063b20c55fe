"""Search queries and results, independent of the backend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Query:
    """A user's search. Texts are as typed and untrusted."""

    words: str
    """Web search syntax: all words, "exact phrase", -excluded, this OR that, and `title:`, `url:`, `site:`,
    `language:`, `date:`, `since:`, `until:`."""
    language: str | None = None
    """BCP 47; `pt` also matches `pt-BR`."""
    domain: str | None = None
    since: datetime | None = None
    """Only content that is new or changed since then."""
    limit: int = 10
    after: str | None = None
    """`HitPage.next_after` of the previous page."""


@dataclass(frozen=True, slots=True)
class ProductQuery(Query):
    brand: str | None = None
    category: str | None = None
    availability: str | None = None
    currency: str | None = None
    lowest_price: float | None = None
    highest_price: float | None = None


@dataclass(frozen=True, slots=True)
class Marked:
    """A text and the positions of the matches in it."""

    text: str
    matches: Sequence[tuple[int, int]] = ()
    """Start and end offsets."""


@dataclass(frozen=True, slots=True)
class Hit:
    id: int
    """The id of the page or the product."""
    url: str
    domain: str
    title: Marked | None
    snippet: Marked | None
    language: str | None
    fetched_at: datetime | None
    score: float
    is_cut: bool = False
    """The text of the page has more words than are searchable."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """For a product: brand, category, price and so on; `image_id` of an image with a thumbnail, if there is one."""


@dataclass(frozen=True, slots=True)
class HitPage:
    """One page of hits, best first, and totals over all hits."""

    hits: Sequence[Hit] = ()
    total: int = 0
    is_estimate: bool = False
    """`total` is an estimate: there are more hits than are ranked."""
    looked_at: int | None = None
    """How many hits were ranked and counted if there are more; None: all of them."""
    facets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Facet → value → number of ranked hits, most frequent value first."""
    next_after: str | None = None
    """The cursor of the next page; None: this is the last."""
    is_empty_query: bool = False
    """The query has nothing to search for: no words, only excluded words, or only stop words."""
    problems: Sequence[str] = ()
    """What is wrong with the filters in the query, in sentences."""


class SearchBackend(Protocol):
    """A search backend, such as PostgreSQL."""

    async def search_pages(self, query: Query) -> HitPage: ...

    async def search_products(self, query: ProductQuery) -> HitPage: ...

    async def mark(self, query: Query, texts: Mapping[int, str]) -> dict[int, Marked]:
        """Returns page → the excerpt of its text that contains the searched words, if it has any."""

    async def correct(self, words: str) -> str | None:
        """Returns the query with unknown words replaced by similar known ones; None if there is nothing to replace."""
