"""What is asked of a search and what it answers, whatever does the searching."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Query:
    """What a person looks for. Texts are as they were typed; nothing in them is trusted."""

    words: str
    """Web-style: all words, "in this order", -without, this OR that."""
    language: str | None = None
    """BCP-47; `pt` finds `pt-BR` too."""
    domain: str | None = None
    since: datetime | None = None
    """Only content that is new or changed since."""
    limit: int = 10
    after: str | None = None
    """`HitPage.next_after` of the page before."""


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
    """A text and the places in it that were looked for."""

    text: str
    matches: Sequence[tuple[int, int]] = ()
    """From, to."""


@dataclass(frozen=True, slots=True)
class Hit:
    id: int
    """Of the page, or the product."""
    url: str
    domain: str
    title: Marked | None
    snippet: Marked | None
    language: str | None
    fetched_at: datetime | None
    score: float
    details: Mapping[str, Any] = field(default_factory=dict)
    """Of a product: brand, category, price and so on; `image_id` of an image with a thumbnail, where there is one."""


@dataclass(frozen=True, slots=True)
class HitPage:
    """Some hits, best first, and what is known of all of them."""

    hits: Sequence[Hit] = ()
    total: int = 0
    is_estimate: bool = False
    """`total` is a guess: there are more than are worth ranking."""
    looked_at: int | None = None
    """How many were ranked and counted where there are more; None: all of them."""
    facets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """What → its values, most frequent first → how many of the hits that were ranked."""
    next_after: str | None = None
    """Where the next page begins; None: this is the last."""
    is_empty_query: bool = False
    """Nothing is left to look for: no words, only words without, or only words too common to be kept."""


class SearchBackend(Protocol):
    """Whoever can search; PostgreSQL can."""

    async def search_pages(self, query: Query) -> HitPage: ...

    async def search_products(self, query: ProductQuery) -> HitPage: ...

    async def mark(self, query: Query, texts: Mapping[int, str]) -> dict[int, Marked]:
        """Page → the part of its text that has what was looked for, where it has any."""

    async def correct(self, words: str) -> str | None:
        """The same words with those nobody ever wrote replaced by similar ones; None where there are none."""
