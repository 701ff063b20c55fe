"""Domains, as answers show them."""

from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Annotated, Literal

from pydantic import Field, with_config

from forager.api.types import Row
from forager.db.rows import RECORD
from forager.explain.conditions import Gate

Status = Literal["pending", "active", "exhausted", "blocked", "unreachable"]
Breaker = Literal["closed", "open", "half_open"]
SHOP = "shop.example"


class DomainRow(Row):
    id: int = Field(examples=[7])
    name: str = Field(examples=[SHOP])
    parent_domain: str = Field(examples=[SHOP])
    base_url: str = Field(examples=["https://shop.example"])
    source: str = Field(examples=["seed"])
    seed_rank: int | None
    status: Status
    block_reason_code: str | None
    block_reason: str | None
    is_active: bool = Field(description="The operator's switch: false while it is paused.")
    pages_discovered: int
    pages_crawled: int = Field(description="Visits that brought a page, also repeated ones.")
    frontier_size: int
    total_error_count: int
    error_rate: float
    images_found: int
    images_stored: int
    is_leased: bool = Field(description="Whether a worker is crawling it now.")
    run_id: int | None
    priority_score: float
    first_seen_at: datetime
    last_crawled_at: datetime | None
    next_crawl_after: datetime | None
    crawl_delay_s: float | None
    content_policy: str | None
    parser_name: str
    breaker_state: Breaker


class TopDomain(Row):
    name: str = Field(examples=[SHOP])
    status: Status
    is_active: bool
    breaker_state: Breaker
    pages_crawled: int = Field(description="Visits that brought a page, also repeated ones.")
    pages_discovered: int
    frontier_size: int
    images_found: int
    images_stored: int
    image_yield_rate: float = Field(description="Stored images per page.")
    avg_images_per_page: float = Field(description="Images seen per page, stored or not.")
    priority_score: float
    total_error_count: int
    error_rate: float
    changed: int
    visits: int
    change_rate: float | None


class Move(Row):
    id: int
    moved_at: datetime
    from_status: Status
    to_status: Status
    is_active: bool
    reason_code: str | None
    reason: str | None
    moved_by: str = Field(examples=["api:alice"])


class DomainDay(Row):
    """What was done in a domain on a day, UTC."""

    day: date
    visits: int
    ok: int
    changed: int
    errors: int
    bytes: int
    response_s: float = Field(description="On average.")


class LastMove(Row):
    moved_at: datetime
    from_status: Status
    to_status: Status
    is_active: bool
    reason_code: str | None
    reason: str | None
    moved_by: str = Field(examples=["api:alice"])


class Robots(Row):
    origin: str = Field(examples=["https://shop.example"])
    robots_status_code: int | None = Field(examples=[200])
    robots_error: str | None
    robots_txt: str | None = Field(examples=["User-agent: *\nDisallow: /cart\n"])
    robots_fetched_at: datetime
    robots_expires_at: datetime
    is_fresh: bool
    sitemaps: list[str]


class OriginRow(Row):
    origin: str
    robots_status_code: int | None
    robots_error: str | None
    robots_length: int | None
    robots_fetched_at: datetime
    robots_expires_at: datetime
    sitemaps: list[str]


class OutcomeRow(Row):
    outcome: str
    reason: str
    tasks: int


class Changes(Row):
    comparisons: int
    changes: int


class Revisits(Row):
    pages: int
    next_at: datetime | None


class Domain(Row):
    """Everything about one domain."""

    name: str = Field(examples=[SHOP])
    parent_domain: str
    base_url: str
    source: str
    seed_rank: int | None
    status: Status
    block_reason_code: str | None
    block_reason: str | None
    first_blocked_at: datetime | None
    blocked_returns: int
    is_active: bool
    pages_discovered: int
    pages_crawled: int = Field(description="Visits that brought a page, also repeated ones.")
    frontier_size: int
    depth_reached: int
    total_error_count: int
    consecutive_error_count: int
    error_streak_code: str | None
    error_rate: float
    images_found: int
    images_stored: int
    image_yield_rate: float = Field(description="Stored images per page.")
    avg_images_per_page: float = Field(description="Images seen per page, stored or not.")
    claimed_by: int | None
    claim_expires_at: datetime | None
    version: int
    is_leased: bool
    first_seen_at: datetime
    last_crawled_at: datetime | None
    ready_at: datetime | None
    due_at: datetime | None
    next_crawl_after: datetime | None
    next_allowed_at: datetime | None
    maintenance_start: time | None = Field(examples=["22:00:00"])
    maintenance_end: time | None
    window_ends_at: datetime | None
    revisit_every_s: float | None
    is_adaptive: bool
    revisits_per_day: float | None
    revisit_price: float | None
    refresh_every_s: float | None
    crawl_delay_s: float | None
    max_concurrent_requests: int | None
    content_policy: str | None
    images_policy: str | None
    images_only: bool
    stores_links: bool
    rendering: str | None
    history_retention_s: float | None = Field(description="Its visits leave for cold files after so long.")
    image_retention_s: float | None = Field(
        description="Files of its images are kept so long after they were last seen."
    )
    max_pages_per_run: int | None
    max_pages_per_template: int | None = Field(description="Pages taken of one URL template; then it is a trap.")
    worker_label: str = Field(description="Only workers with this label claim it; empty: any worker.")
    allow_networks: list[str] | None = Field(description="Networks that are not public and may be dialled for it.")
    lastmod_claims: int = Field(description="Revisits of pages that its sitemaps said had changed.")
    lastmod_truths: int = Field(description="How many of them had changed.")
    run_id: int | None
    run_pages: int
    round: int
    parser_name: str
    proxy_country: str | None
    paces_per_proxy: bool
    verifies_tls: bool
    pace_delay_s: float | None
    pace_extra_s: float
    response_s: float | None
    breaker_state: Breaker
    breaker_failures: int
    breaker_opened_at: datetime | None
    priority_score: float
    priority_computed_at: datetime | None
    score_terms: dict[str, float]
    page_states: dict[str, int]
    changes: Changes
    revisits: Revisits
    outcomes: list[OutcomeRow]
    origins: list[OriginRow]
    history: list[LastMove]


class Trap(Row):
    id: int
    rule: str
    template: str
    pages: int
    links: int
    example: str
    noticed_at: datetime
    found_at: datetime | None
    released_at: datetime | None
    released_by: str | None
    pages_left_out: int


class Added(Row):
    name: str = Field(examples=[SHOP])
    is_new: bool
    new_pages: int


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class DomainTold:
    """What one order of many did to one domain."""

    name: Annotated[str, Field(examples=[SHOP])]
    is_done: bool
    message: Annotated[str, Field(description="What happened, or why nothing did.", examples=["Paused."])]


class ManyDomains(Row):
    """What an order for many domains did, or would do, name by name, in the order they were given."""

    verb: str = Field(examples=["pause"])
    done: int
    failed: int
    dry_run: bool
    domains: list[DomainTold]


class Why(Row):
    """Why a page or domain is, or is not, being fetched now, gate by gate."""

    asked: str
    url: str | None
    domain: str
    asked_at: datetime
    answer: Literal["now", "at", "never"]
    because: str
    next_fetch_at: datetime | None
    remedy: str | None
    page_checks: list[Gate]
    domain_checks: list[Gate]
