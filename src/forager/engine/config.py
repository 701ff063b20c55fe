"""Configuration of a worker: one small record for each component."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from forager.config.cipher import PasswordCipher
from forager.config.crawl_layers import load_layer
from forager.config.crawl_settings import DEFAULT_SETTINGS, CrawlSettings, resolve
from forager.domains.store import Keeping
from forager.frontier.models import Lease, LeasedDomain
from forager.images.models import ImagePolicy
from forager.runs.models import RunSpec
from forager.storage.policy import ContentPolicy

MAX_RESOLVED = 10_000
"""Different crawl settings that a worker remembers."""


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
    """The request rate of a domain beside what its crawl settings say."""

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
    max_sitemaps: int = 10_000
    """Sitemaps and feeds of one site."""
    sitemap_interval_s: tuple[float, float] = (3600.0, 7 * 86_400.0)
    """The shortest and longest time between two readings of a sitemap or feed."""


class SettingsResolver:
    """Resolves the crawl settings of leased domains; equal ones are resolved once."""

    def __init__(self, defaults: CrawlSettings = DEFAULT_SETTINGS, cipher: PasswordCipher | None = None) -> None:
        self.defaults = defaults
        self._cipher = cipher or PasswordCipher(())
        self._resolved: dict[str, CrawlSettings] = {}

    def resolve(self, leased: LeasedDomain) -> CrawlSettings:
        if not leased.chosen:
            return self.defaults
        found = self._resolved.get(leased.chosen)
        if found is None:
            if len(self._resolved) > MAX_RESOLVED:
                self._resolved.clear()
            chosen = load_layer(leased.chosen, self._cipher, leased.domain)
            found = self._resolved[leased.chosen] = resolve(self.defaults, domain=chosen).settings
        return found


def keeps_bodies(lease: Lease) -> bool:
    """Returns whether bodies of the domain's pages are stored."""
    return lease.settings.content != ContentPolicy.SIGNALS


def needs_store(lease: Lease) -> bool:
    """Returns whether visits to the domain write to the body store."""
    return keeps_bodies(lease) or lease.settings.images == ImagePolicy.DOWNLOAD or lease.images_only


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
    settings: SettingsResolver = field(default_factory=SettingsResolver)
