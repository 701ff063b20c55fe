"""Configuration of a worker: one small record for each component."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from forager.domains.store import Keeping
from forager.fetch.models import Rendering
from forager.frontier.models import Lease
from forager.images.models import ImagePolicy
from forager.runs.models import RunSpec
from forager.storage.policy import ContentPolicy


@dataclass(frozen=True, slots=True)
class RunConfig:
    """The run that a worker takes part in."""

    run: int
    spec: RunSpec
    workers: int = 1
    """The number of workers that share the run; each takes its share of the domains."""
    labels: tuple[str, ...] = ()
    """Domains that require one of these labels may be claimed too."""


@dataclass(frozen=True, slots=True)
class LeaseConfig:
    """How long and how many domains are leased, and when they are released."""

    lease_s: float
    heartbeat_s: float
    dead_after_s: float
    max_domains: int
    lease_pages: int | None = None
    """Pages of one domain before the lease is released in favour of others; None: no limit."""
    lease_budget_s: float | None = None
    """Seconds after which a domain is released in favour of a waiting one; None: no limit."""
    keeping: Keeping = field(default_factory=Keeping)

    @property
    def heartbeat_every_s(self) -> float:
        return min(self.heartbeat_s, self.lease_s / 3, self.dead_after_s / 3)

    @property
    def live_s(self) -> float:
        """Returns the time after which a silent worker has no share of the run."""
        return min(self.lease_s, self.dead_after_s)


@dataclass(frozen=True, slots=True)
class PacingConfig:
    """The request rate of a domain where its lease does not set one."""

    delay_s: float
    max_concurrent_requests: int
    longest_wait_s: float
    """A domain whose next request is later than this is released."""
    breaker_failures: int
    breaker_reset_s: float
    is_unpaced: Callable[[str], bool]
    unpaced_concurrency: int
    adaptive_pace: bool = True
    """Whether the delay increases when a server slows down."""


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits shared by all domains of a worker: open requests, and servers that host several domains."""

    max_requests_in_flight: int
    max_requests_per_ip: int | None = None
    delay_per_ip_s: float = 0.0


@dataclass(frozen=True, slots=True)
class RobotsConfig:
    robots_agent: str
    robots_ttl_s: float
    robots_cooldown_s: float
    """Cooldown of a domain whose robots.txt disallows everything."""


@dataclass(frozen=True, slots=True)
class FailureConfig:
    """What is retried, and when a domain is blocked."""

    max_retries: int
    max_domain_errors: int
    max_unreachable: int
    cooldowns: Mapping[str, float]
    """Kind of failure → cooldown in seconds."""


@dataclass(frozen=True, slots=True)
class BufferConfig:
    """When a batch is written, and how many outcomes may wait for it."""

    batch_pages: int
    batch_interval_s: float
    buffer_pages: int
    buffer_bytes: int


@dataclass(frozen=True, slots=True)
class FrontierConfig:
    """The URL cache, and limits for endless parts of a site."""

    known_urls: int
    max_subdomains: int
    max_near_duplicates: int
    max_calendar_pages: int
    max_pages_per_template: int | None = None
    """Maximum number of pages per URL template where the domain does not set one; None: no limit."""


@dataclass(frozen=True, slots=True)
class ContentConfig:
    """What is stored of a page where its domain does not set it."""

    content_policy: str = ContentPolicy.SIGNALS
    images: str = ImagePolicy.FOUND
    rendering: str = Rendering.NEVER

    def policy_of(self, lease: Lease) -> str:
        return lease.content_policy or self.content_policy

    def images_of(self, lease: Lease) -> str:
        return lease.images or self.images

    def rendering_of(self, lease: Lease) -> str:
        return lease.rendering or self.rendering

    def keeps_bodies(self, lease: Lease) -> bool:
        return self.policy_of(lease) != ContentPolicy.SIGNALS

    def needs_store(self, lease: Lease) -> bool:
        """Returns whether visits to the domain write to the body store."""
        return self.keeps_bodies(lease) or self.images_of(lease) == ImagePolicy.DOWNLOAD or lease.images_only


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    run: RunConfig
    lease: LeaseConfig
    pacing: PacingConfig
    requests: RequestLimits
    robots: RobotsConfig
    failures: FailureConfig
    buffer: BufferConfig
    frontier: FrontierConfig
    content: ContentConfig = field(default_factory=ContentConfig)
