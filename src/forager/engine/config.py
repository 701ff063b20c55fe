"""What a worker is told: values, not the world."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from forager.domains.store import Keeping
from forager.runs.models import RunSpec


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    run: int
    spec: RunSpec
    workers: int
    """How many share the run; each takes its part of the domains."""
    robots_agent: str
    delay_s: float
    max_concurrent_requests: int
    unpaced_concurrency: int
    is_unpaced: Callable[[str], bool]
    max_requests_in_flight: int
    max_domains: int
    max_retries: int
    robots_ttl_s: float
    longest_wait_s: float
    lease_s: float
    heartbeat_s: float
    dead_after_s: float
    batch_pages: int
    batch_ms: int
    known_urls: int
    keeping: Keeping
    lease_pages: int | None
    """Pages of one domain before others get their turn; None: no end."""
    adaptive_pace: bool
    """Whether a server that slows down is given more distance."""
    max_requests_per_ip: int | None
    delay_per_ip_s: float
    breaker_failures: int
    breaker_reset_s: float
    spool_pages: int
    spool_bytes: int
    max_near_duplicates: int
    max_calendar_pages: int
    max_subdomains: int
    max_domain_errors: int
    max_unreachable: int
    cooldowns: Mapping[str, float]
    """Trouble, or `robots_denied` → seconds of rest."""
    lease_budget_s: float | None = None
    """Seconds of one domain after which it makes room for one that waits; None: no end."""
    labels: tuple[str, ...] = ()
    """Domains that want one of these are ours too."""
    images: str = "found"
    """What is done with images where the domain does not say."""
    max_pages_per_template: int | None = None
    """Pages taken of one template where the domain does not say; None: no end."""
    content_policy: str = "signals"
    """What is kept of a body where the domain does not say."""
    rendering: str = "never"
    """Whether a browser draws pages where the domain does not say."""
