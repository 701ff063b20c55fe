"""Pages, the frontier, links, duplicates and hits, as answers show them."""

from datetime import date, datetime
from typing import Any, Literal

from pydantic import Field

from forager.api.paging import Next
from forager.api.types import Row

PageStatus = Literal["discovered", "queued", "fetched", "failed", "blocked", "gone"]
URL = "https://shop.example/lamp"


class PageRow(Row):
    id: int = Field(examples=[4711])
    url: str = Field(examples=[URL])
    domain: str = Field(examples=["shop.example"])
    status: PageStatus
    depth: int
    priority: int
    is_seed: bool
    title: str | None = Field(examples=["A lamp"])
    description: str | None
    language: str | None = Field(examples=["en"])
    content_type: str | None
    links_count: int | None
    revisit_every_s: float | None
    flags: list[str] | None
    discovered_at: datetime
    fetched_at: datetime | None
    failed_at: datetime | None
    changed_at: datetime | None
    updated_at: datetime = Field(description="When it was last visited, or found.")


class Page(Row):
    """All that is kept of one page."""

    id: int
    url: str = Field(examples=[URL])
    url_hash: str
    domain: str
    status: PageStatus
    depth: int
    priority: int
    redirects: int
    is_seed: bool
    is_image: bool
    title: str | None
    description: str | None
    language: str | None
    content_type: str | None
    content_hash: str | None
    simhash: str | None = Field(description="64 bits, hexadecimal.", examples=["9f3c0a51e2b47d18"])
    links_count: int | None
    canonical_url: str | None
    duplicate_of: str | None = Field(description="The page with the same content that is revisited instead of it.")
    author: str | None
    published_at: datetime | None
    modified_at: datetime | None
    etag: str | None
    last_modified: str | None
    flags: list[str] | None
    discovered_at: datetime
    fetched_at: datetime | None
    failed_at: datetime | None
    updated_at: datetime = Field(description="When it was last visited, or found.")
    revisit_every_s: float | None
    comparisons: int
    changes: int
    changed_at: datetime | None
    crashes: int
    trap_id: int | None
    open_task_id: int | None
    open_task_status: str | None
    next_visit_at: datetime | None
    product_id: int | None = Field(description="What it offers, where it is the page of a product.")
    headline: str | None = Field(description="What it is about, without the name of the site.")
    site_name: str | None
    section: str | None = Field(description="The part of the site, as the page says.", examples=["Politics"])
    tags: list[str] | None = Field(description="The page's own keywords.")
    rating: float | None = Field(description="Of what the page is about, from 0 to 5.", examples=[4.5])
    rating_count: int | None
    published_on: date | None = Field(description="The calendar day the page shows, in its own time zone.")
    modified_on: date | None
    has_structured_data: bool
    visits: int = Field(description="Visits in the database, of any outcome.")
    requests: int = Field(description="Requests that these visits made: quick retries count, too.")
    first_visit_at: datetime | None = Field(description="When the first of these visits ended.")
    has_archived_visits: bool = Field(
        description="Visits of its domain are in archive files, so it may have been visited before."
    )


class StructuredItem(Row):
    """One item of a page's structured data."""

    syntax: Literal["json-ld", "microdata", "rdfa", "opengraph", "pdf"]
    types: list[str] = Field(examples=[["Recipe"]])
    properties: dict[str, Any]


class StructuredData(Row):
    items: list[StructuredItem]


class Waiting(Row):
    id: int
    url: str = Field(examples=[URL])
    domain: str
    depth: int
    priority: int
    is_seed: bool
    is_image: bool
    discovered_at: datetime


class OpenTasks(Row):
    status: str
    tasks: int
    due: int
    oldest: datetime | None


class FrontierNumbers(Row):
    pages: int
    domains: int
    domains_due: int
    domains_leased: int
    pages_paused: int
    pages_held_back: int = Field(description="Of domains that are blocked or unreachable.")
    next_due_at: datetime | None
    open_tasks: list[OpenTasks]


class BadSeed(Row):
    line: int = Field(description="Which of them, from 1.")
    error: str


class Seeded(Row):
    seeds: int = Field(description="Seeds that were taken.")
    new_domains: int
    new_pages: int
    known: int = Field(description="Pages that were known before, or named twice.")
    bad: int
    bad_seeds: list[BadSeed] = Field(description="The first of those that are no URL.")
    dry_run: bool


class SitemapPages(Row):
    urls: list[str]
    bad: int = Field(description="Entries that are no page, and sitemaps that could not be had.")
    bad_seeds: list[BadSeed] = Field(description="The first of those.")
    is_all: bool = Field(description="False: it names more than can be taken at once, or took too long.")


class Recovered(Row):
    domains: list[str] = Field(description="Taken from dead and silent workers; they can be claimed again.")


class Cleared(Row):
    pages: int
    tasks: int
    domains: int
    dry_run: bool


class Link(Row):
    page_id: int = Field(description="Of the page at the other end.")
    url: str
    domain: str
    anchor: str
    rel: str
    position: int
    status: PageStatus
    status_code: int | None
    title: str | None


class ExternalLink(Row):
    url: str
    anchor: str
    rel: str
    position: int


class OutLinks(Row):
    counted: int | None
    stored: int
    is_stored: bool
    links: list[Link]
    external: list[ExternalLink] = Field(description="Links out of scope, if the domain stores them.")


class InLinks(Row):
    pages: int
    domains: int
    links: list[Link]


class Linked(Row):
    links: int
    url: str
    domain: str
    status: PageStatus
    depth: int
    title: str | None


class Links(Row):
    """Who links to whom. Totals are exact; of the links themselves `limit` of each kind are on a page."""

    url: str
    domain: str
    status: PageStatus
    title: str | None
    out: OutLinks | None = None
    in_: InLinks | None = Field(None, alias="in")
    next: Next


class Member(Row):
    url: str
    title: str | None
    domain: str
    distance: int
    is_exact: bool
    fetched_at: datetime | None


class Cluster(Row):
    url: str
    title: str | None
    domain: str
    pages: int
    domains: int
    members: list[Member]


class SimilarPages(Row):
    url: str
    title: str | None
    is_indexed: bool
    has_text: bool
    members: list[Member]


class Marked(Row):
    text: str
    matches: list[list[int]] = Field(description="From, to, of each place that has what was looked for.")


class Hit(Row):
    id: int
    url: str
    domain: str
    title: Marked | None
    snippet: Marked | None
    language: str | None
    fetched_at: datetime | None
    score: float
    is_cut: bool = Field(description="Whether its text has more words than are searched.")
    details: dict[str, Any] = Field(
        description="Of a product: brand, category, price, image_id of an image with a thumbnail, and so on."
    )


class Hits(Row):
    query: str
    total: int
    is_estimate: bool
    looked_at: int | None = Field(
        description="Where there are more than are worth ranking: how many of the likeliest were ranked and counted."
    )
    hits: list[Hit]
    facets: dict[str, dict[str, int]]
    next: str | None
    suggestion: str | None
    is_corrected: bool
    not_indexed_yet: int
    cut_pages: int | None = Field(
        description="Where nothing was found: pages whose text has more words than are searched, up to 10,000."
    )
    noindex_pages: int | None = Field(
        description="Where nothing was found: pages that ask not to be indexed, up to 10,000."
    )
    note: str | None = Field(
        description="What is wrong with the filters in the query; why PostgreSQL answered instead of a search server."
    )
