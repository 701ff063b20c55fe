"""Response schemas of metrics."""

from datetime import datetime

from pydantic import Field

from forager.api.types import Row

Counts = dict[str, float]


class PublicStats(Row):
    """What anybody may know."""

    pages_crawled: int
    pages_per_second: float
    success_rate: float | None
    frontier_size: float
    active_workers: float
    domains: int


class Stats(Row):
    """Everything at a glance."""

    at: datetime
    domains: int
    pages_known: int
    pages_crawled: int
    errors: int
    images_found: int
    images_stored: int
    paused_domains: int
    runs: int
    running_runs: int
    products: int
    pages_per_second: float
    success_rate: float | None
    error_rate: float | None
    frontier_size: float
    active_workers: float
    silent_workers: float
    leases_held: float
    leases_expired: float
    domains_waiting: float
    domain_wait_s: float
    task_wait_s: float
    webhooks_waiting: float
    database_bytes: float
    connections: float
    domain_states: Counts
    breakers: Counts
    tasks_open: Counts
    proxies: Counts
    alerts_open: Counts
    alerts_unacknowledged: Counts = Field(description="Of them, those that nobody looks after yet.")
    visits: Counts
    statuses: Counts
    failures: Counts
    leases: Counts
    bytes: float
    latency: dict[str, dict[str, float | None]]


class TaskNumbers(Row):
    status: str
    tasks: int
    average_s: float | None = Field(description="From request to outcome, of those that ended; waiting is not counted.")
    waiting_s: float | None = Field(description="From when they were due to their request, of those that ended.")
