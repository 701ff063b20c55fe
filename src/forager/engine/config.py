"""What a worker is configured with: one small record for each of its components."""

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
    """The run a worker takes part in."""

    run: int
    spec: RunSpec
    workers: int = 1
    """How many share the run; each takes its part of the domains."""
    labels: tuple[str, ...] = ()
    """Domains that want one of these are ours too."""


@dataclass(frozen=True, slots=True)
class LeaseConfig:
    """How long domains are held, how many, and how they are released."""

    lease_s: float
    heartbeat_s: float
    dead_after_s: float
    max_domains: int
    lease_pages: int | None = None
    """Pages of one domain before others get their turn; None: no limit."""
    lease_budget_s: float | None = None
    """Seconds of one domain after which it makes way for one that waits; None: no limit."""
    keeping: Keeping = field(default_factory=Keeping)

    @property
    def heartbeat_every_s(self) -> float:
        return min(self.heartbeat_s, self.lease_s / 3, self.dead_after_s / 3)

    @property
    def live_s(self) -> float:
        """A worker silent for longer has no share of the run."""
        return min(self.lease_s, self.dead_after_s)


@dataclass(frozen=True, slots=True)
class PacingConfig:
    """At which pace one domain is requested, where its lease does not say."""

    delay_s: float
    max_concurrent_requests: int
    longest_wait_s: float
    """A domain whose next turn is later is released."""
    breaker_failures: int
    breaker_reset_s: float
    is_unpaced: Callable[[str], bool]
    unpaced_concurrency: int
    adaptive_pace: bool = True
    """Whether a server that slows down is given more distance."""


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What all domains of a worker share: its open requests, and servers that several of them are on."""

    max_requests_in_flight: int
    max_requests_per_ip: int | None = None
    delay_per_ip_s: float = 0.0


@dataclass(frozen=True, slots=True)
class RobotsConfig:
    robots_agent: str
    robots_ttl_s: float
    robots_cooldown_s: float
    """How long a domain rests whose robots.txt denies everything."""


@dataclass(frozen=True, slots=True)
class FailureConfig:
    """What is retried, and when a domain is blocked."""

    max_retries: int
    max_domain_errors: int
    max_unreachable: int
    cooldowns: Mapping[str, float]
    """Trouble → seconds of cooldown."""


@dataclass(frozen=True, slots=True)
class BufferConfig:
    """When a batch is written, and how much may wait for that."""

    batch_pages: int
    batch_interval_s: float
    buffer_pages: int
    buffer_bytes: int


@dataclass(frozen=True, slots=True)
class FrontierConfig:
    """What is remembered of known URLs, and which endless parts of a site are left out."""

    known_urls: int
    max_subdomains: int
    max_near_duplicates: int
    max_calendar_pages: int
    max_pages_per_template: int | None = None
    """Pages taken of one template where the domain does not say; None: no limit."""


@dataclass(frozen=True, slots=True)
class ContentConfig:
    """What is kept of a page, where its domain does not say."""

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
        """Whether visits of the domain leave something in the body store."""
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
