"""Domains, as answers show them."""

from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Annotated, Any, Literal

from pydantic import Field, ValidatorFunctionWrapHandler, WrapValidator, create_model, with_config

from forager.api import types
from forager.api.types import NOT_GIVEN, Row
from forager.config.crawl_settings import FIELDS, is_hidden
from forager.db.rows import RECORD
from forager.explain.conditions import Gate

Status = Literal["pending", "active", "exhausted", "blocked", "unreachable"]
Breaker = Literal["closed", "open", "half_open"]
SHOP = "shop.example"


def _read_setting(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    """`none` chooses no value, where null takes the choice back; `•••` keeps a secret. Both are read later."""
    return value if value == "none" or is_hidden(value) else validate(value)


_FIELDS: dict[str, Any] = {
    name: (
        Annotated[field.rebuild_annotation() | None, WrapValidator(_read_setting)],
        Field(default=NOT_GIVEN, description=field.description),
    )
    for name, field in FIELDS.items()
}
CrawlSettingsChanges: Any = create_model("CrawlSettingsChanges", __base__=types.Changes, **_FIELDS)
"""Crawl settings that are changed: every field may be left out."""


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
    image_yield_rate: float = Field(description="Stored images per page.")
    avg_images_per_page: float = Field(description="Images seen per page, stored or not.")
    is_leased: bool = Field(description="Whether a worker is crawling it now.")
    run_id: int | None
    priority_score: float
    first_seen_at: datetime
    last_crawled_at: datetime | None
    next_crawl_after: datetime | None
    crawl_delay_s: float | None
    content_policy: str | None
    parser_name: str
    worker_label: str = Field(description="Only workers with this label claim it; empty: any worker.")
    breaker_state: Breaker
    is_budget_used: bool = Field(description="Whether its page budget is used up, so that nothing is claimed.")
    budget_resets_at: datetime | None


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
    source: str = Field(examples=["seed"])
    parser_name: str
    worker_label: str
    is_budget_used: bool = Field(description="Whether its page budget is used up, so that nothing is claimed.")
    budget_resets_at: datetime | None
    changed: int
    visits: int
    change_rate: float | None


class DomainGroup(Row):
    """Domains with the same registrable domain, state, source or parser, added up."""

    name: str = Field(examples=["shop.example"])
    domains: int
    pages_discovered: int
    pages_read: int
    frontier_size: int
    total_error_count: int
    images_found: int
    images_stored: int
    coverage: float = Field(description="The share of known pages that were read.")
    image_yield_rate: float = Field(description="Stored images per page that was read.")
    avg_images_per_page: float = Field(description="Images seen per page that was read, stored or not.")
    last_crawled_at: datetime | None


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


class ScoreTermRow(Row):
    name: str
    points: float
    unit: str = Field(description="What a point is given for, and the limit.")
    explanation: str = Field(description="What it is in this domain.")


class Domain(Row):
    """Everything about one domain."""

    id: int
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
    site_origin: str | None = Field(
        description="Scheme and host under which its pages are known; new links of its twins are taken as this one."
    )
    duplicate_pages: int = Field(description="Pages with the content of another one, which is revisited instead.")
    priority_boost: float = Field(description="Points that an operator added to its score.")
    urgency: int = Field(description="Claimed before others: 2 an urgent task is due, 1 it is boosted, 0 neither.")
    urgent_at: datetime | None = Field(description="When its first urgent task is due.")
    recent_error_rate: float = Field(description="Of about the last 50 visits, the part that failed.")
    score_terms: dict[str, float]
    score_explained: list[ScoreTermRow]
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


class SitemapFile(Row):
    id: int
    url: str
    found_by: Literal["robots", "guess", "index", "page", "redirect"]
    named_by: str | None
    found_at: datetime
    format: Literal["sitemap", "index", "text", "rss", "atom", "json"] | None
    urls: int
    new_urls: int
    read_at: datetime | None
    problem: str | None
    outcome: str | None
    status_code: int | None
    error_code: str | None
    error_message: str | None
    visited_at: datetime | None
    next_visit_at: datetime | None


class Sitemaps(Row):
    sitemaps: int
    indexes: int
    feeds: int
    urls: int
    new_urls: int
    read_at: datetime | None
    pages: int
    orphans: int
    files: list[SitemapFile]


class Added(Row):
    id: int | None = Field(description="Null: its host belongs to a domain that takes its subdomains as one site.")
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


class Profile(Row):
    name: str = Field(examples=["shops"])
    settings: dict[str, Any] = Field(examples=[{"delay": "2s"}])
    members: list[str] = Field(
        description="Names and patterns of domains.", examples=[["shop.example", "*.example.org"]]
    )
    updated_at: datetime
    updated_by: str
    domains: int = Field(description="Known domains that belong to it.")


class ProfileDetails(Profile):
    domain_names: list[str]


class ProfileDifference(Row):
    name: str
    is_new: bool
    settings: dict[str, Any] = Field(description="New values; null: no longer set.", examples=[{"delay": "5s"}])
    before: dict[str, Any] = Field(
        description="The values that those settings had; what is missing was not set.", examples=[{"delay": "2s"}]
    )
    joined: list[str]
    left: list[str]


class ProfileApplied(Row):
    change: ProfileDifference
    domains: int = Field(description="Known domains that changed profile.")
    dry_run: bool


class ProfileDeleted(Row):
    name: str
    domains: int


class EffectiveSetting(Row):
    name: str = Field(examples=["delay"])
    value: Any = Field(examples=["2s"])
    origin: str = Field(description="default, profile NAME, or domain.", examples=["profile shops"])


class EffectiveSettings(Row):
    name: str = Field(examples=[SHOP])
    profile: str | None
    settings: list[EffectiveSetting]


class CrawlSettingField(Row):
    name: str = Field(examples=["delay"])
    group: str = Field(examples=["How fast and how much"])
    kind: Literal["flag", "choice", "duration", "number", "list", "mapping", "text"]
    choices: list[str]
    default: Any = Field(examples=["1s"])
    is_secret: bool = Field(description="Its value is never shown.")
    may_be_none: bool
    description: str
