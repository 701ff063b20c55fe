"""Parameters and results of the frontier's statements: named columns of bulk statements, records of rows."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple


class FreedTasks(NamedTuple):
    run_id: int
    domain_id: int
    pages: int
    charged: int
    """Of them, visits that the page budget of the domain counts."""


class ClaimedTask(NamedTuple):
    """An open task, with the result of the previous visit of its page."""

    task_id: int
    page_id: int
    domain_id: int
    url: str
    depth: int
    redirects: int
    retry_count: int
    revisit_every_s: float | None
    crashes: int
    is_image: bool
    max_retries: int | None
    is_recurring: bool
    is_revisit: bool
    etag: str | None
    last_modified: str | None
    content_hash: bytes | None
    comparisons: int | None
    changes: int | None
    watched_s: float | None
    since_s: float | None
    is_claimed: bool
    is_charged: bool
    is_urgent: bool
    position: int
    is_sitemap: bool
    is_seed: bool


class AddedPage(NamedTuple):
    id: int
    domain_id: int
    url_hash: bytes
    depth: int


class FoundPage(NamedTuple):
    id: int
    domain_id: int
    url_hash: bytes
    depth: int
    is_image: bool


class PageEntries(NamedTuple):
    domain_id: int
    entries: bytes | None


class RelaxedPage(NamedTuple):
    id: int
    depth: int
    domain_id: int
    status: str
    was_depth: int
    priority: int
    url: str
    is_seed: bool
    is_image: bool


class PageDepth(NamedTuple):
    id: int
    depth: int


class SavedPage(NamedTuple):
    id: int
    depth: int
    lacks_keywords: bool


class DomainPages(NamedTuple):
    domain_id: int
    pages: int


class DueDomain(NamedTuple):
    domain_id: int
    due_at: datetime


class ClosedTaskColumns(NamedTuple):
    id: Sequence[int]
    outcome: Sequence[str]
    requested_at: Sequence[datetime | None]
    status_code: Sequence[int | None]
    error_code: Sequence[str | None]
    error_message: Sequence[str | None]
    blame: Sequence[str | None]
    response_time_ms: Sequence[int | None]
    bytes: Sequence[int | None]
    is_changed: Sequence[bool | None]
    pace_ms: Sequence[int | None]
    earlier_requests: Sequence[str | None]
    proxy_id: Sequence[int | None]
    body_ref: Sequence[str | None]


class ReadingColumns(NamedTuple):
    """One element per page; `languages` and `configs` are shared look-up tables."""

    id: Sequence[int]
    title: Sequence[str | None]
    description: Sequence[str | None]
    language: Sequence[str | None]
    content_hash: Sequence[bytes | None]
    content_type: Sequence[str | None]
    links_count: Sequence[int]
    etag: Sequence[str | None]
    last_modified: Sequence[str | None]
    is_changed: Sequence[bool | None]
    flags: Sequence[str | None]
    simhash: Sequence[int | None]
    canonical_url: Sequence[str | None]
    author: Sequence[str | None]
    published_at: Sequence[datetime | None]
    modified_at: Sequence[datetime | None]
    languages: Sequence[str]
    configs: Sequence[str]
    config: Sequence[str]
    vector: Sequence[bytes | None]


class DetailColumns(NamedTuple):
    """One element per page that has details; `emptied` lists pages that no longer have any."""

    page_id: Sequence[int]
    headline: Sequence[str | None]
    site_name: Sequence[str | None]
    section: Sequence[str | None]
    tags: Sequence[str | None]
    rating: Sequence[Decimal | None]
    rating_count: Sequence[int | None]
    published_on: Sequence[date | None]
    modified_on: Sequence[date | None]
    structured_data: Sequence[bytes | None]
    content_hash: Sequence[bytes]
    item_types: Sequence[str | None]
    emptied: Sequence[int]


class NewTaskColumns(NamedTuple):
    """One element per page; `created_by` applies to all of them."""

    page_id: Sequence[int]
    priority: Sequence[int | None]
    scheduled_for: Sequence[datetime | None]
    retry_count: Sequence[int]
    parent_task_id: Sequence[int | None]
    is_recurring: Sequence[bool | None]
    revisit_every_s: Sequence[float | None]
    max_retries: Sequence[int | None]
    webhook_url: Sequence[str | None]
    depends_on: Sequence[int | None]
    is_waiting: Sequence[bool]
    batch_id: Sequence[int | None]
    recrawl_count: Sequence[int]
    created_by: str
    is_urgent: Sequence[bool]


class AddedTask(NamedTuple):
    id: int
    page_id: int


class DueTask(NamedTuple):
    domain_id: int
    scheduled_for: datetime
