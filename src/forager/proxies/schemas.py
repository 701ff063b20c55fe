"""Response schemas of proxies and pools. They contain no password."""

from datetime import datetime

from pydantic import Field

from forager.api.types import Row
from forager.proxies.service import AddedProxy


class ProxyRow(Row):
    id: int = Field(examples=[3])
    protocol: str = Field(examples=["http"])
    host: str = Field(examples=["proxy.example"])
    port: int = Field(examples=[3128])
    username: str | None
    has_password: bool
    is_forwarding: bool
    country_code: str | None
    city: str | None
    provider: str | None
    monthly_cost: float | None
    max_requests_per_hour: int | None
    is_default: bool
    hour_requests: int
    is_active: bool
    probe_at: datetime | None
    consecutive_failures: int
    failures: int
    successes: int
    success_rate_percent: float | None
    avg_response_time_ms: float | None
    last_used_at: datetime | None
    last_success_at: datetime | None
    last_failure_at: datetime | None
    last_error: str | None
    domains: int
    created_at: datetime
    updated_at: datetime


class MemberRow(Row):
    """A proxy in a domain's pool, with its health there."""

    id: int
    protocol: str
    host: str
    port: int
    username: str | None
    has_password: bool
    country_code: str | None
    provider: str | None
    is_assigned: bool = Field(description="False: of the default pool.")
    priority: int
    is_active: bool
    is_proxy_active: bool
    probe_at: datetime | None
    consecutive_failures: int
    failures: int
    successes: int
    hour_requests: int = Field(description="Of the proxy to this domain, in this hour.")
    max_per_hour: int | None = Field(description="The crawl setting proxy_max_per_hour.")
    rests_until: datetime | None = Field(description="By the crawl setting proxy_rotation.")
    success_rate_percent: float | None
    avg_response_time_ms: float | None
    last_used_at: datetime | None
    last_success_at: datetime | None
    last_failure_at: datetime | None
    last_error: str | None
    created_at: datetime
    updated_at: datetime


class Probed(Row):
    """The result of a probe."""

    id: int
    works: bool
    error: str | None
    is_active: bool


class AddedProxies(Row):
    proxies: list[AddedProxy]


class RemovedProxies(Row):
    removed: list[int]


class Sizing(Row):
    """How many proxies so many pages need."""

    pages_per_hour: float
    requests_per_proxy_hour: float
    needed: int


class Costs(Row):
    proxies: int
    active: int
    monthly_cost: float | None
    idle: int
    idle_cost: float | None
