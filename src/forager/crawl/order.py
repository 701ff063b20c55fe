"""What a worker is told: values, not the world."""

from collections.abc import Callable
from dataclasses import dataclass

from forager.records import RunSpec


@dataclass(frozen=True, slots=True)
class WorkerOrder:
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
