"""What a visit carries from claim to record: Lease and Target in, Outcome out.

Lease ── Target ──fetch──> Fetched ──parse──> Reading ──select──> Selection ──> Outcome ──enqueue, record──> rows
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from forager.config.crawl_settings import DAY_S, DEFAULT_SETTINGS, CrawlSettings
from forager.errors import VisitError
from forager.frontier.outcome_kind import LOGIN_WALL as LOGIN_WALL  # noqa: PLC0414 (imported from here)
from forager.frontier.outcome_kind import OutcomeKind as OutcomeKind  # noqa: PLC0414 (imported from here)
from forager.images.models import ImageFile
from forager.links.models import Selection
from forager.parsing.models import Reading
from forager.proxies.models import ProxyUse
from forager.storage.models import StoredBody


class DomainFailure(StrEnum):
    """A failure that concerns the whole domain. Enough consecutive failures of one kind put the domain into
    cooldown."""

    LOGIN_REQUIRED = "login_required"
    FORBIDDEN = "forbidden"
    CHALLENGE = "challenge"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class LeasedDomain:
    """A domain as the claim returns it."""

    domain_id: int
    domain: str
    version: int
    wait_s: float
    """Remaining delay of the previous lease: no request is sent before that many seconds after the claim."""
    chosen: str | None = None
    """The crawl settings that were chosen for the domain and its profile, as JSON; None: none."""
    errors_in_a_row: int = 0
    error_streak_code: str | None = None
    """Error code of the last visits before this lease, so that a failure streak continues after a stop."""
    unreachable_cooldowns: int = 0
    """Number of consecutive cooldowns because the domain was unreachable."""
    has_pages: bool = True
    """Whether a page of the domain was ever fetched."""
    has_proxies: bool = False
    """Whether the domain has a proxy pool of its own, or there is a default pool."""
    revisit_price: float | None = None
    """Set if the interval is learned for each page: the value that a request must bring."""
    pace_delay_s: float = 0.0
    """The delay that was last in force: `wait_s` is based on it."""
    pace_extra_s: float = 0.0
    """The part of it that was added because the server responded slowly."""
    response_s: float | None = None
    """Typical response time of its server."""
    breaker_state: str = "closed"
    breaker_failures: int = 0
    breaker_open_s: float = 0.0
    """Seconds since the breaker opened, if it did."""
    breaker_resets: int = 0
    """Number of manual resets of the breaker when the lease began."""
    guesses_scheme: bool = False
    """An operator named the domain without a scheme, and nothing of it was fetched yet, or http is known to work: where
    https fails, http is tried."""
    images_only: bool = False
    """The domain was added for images that other domains show; nothing else of it is crawled."""
    site_origin: str | None = None
    """Scheme and host under which the whole site is known; None: not known yet."""


@dataclass(frozen=True, slots=True)
class Lease(LeasedDomain):
    """The right of this worker to crawl one domain. `version` is the fencing token."""

    settings: CrawlSettings = DEFAULT_SETTINGS
    """How the domain is crawled: the chosen settings over the defaults of the instance."""
    problem: str | None = None
    """Why its settings cannot be read, such as a missing key: nothing of the domain is requested then."""

    @property
    def revisit_every_s(self) -> float | None:
        """Returns the interval of revisits; None: pages are visited once."""
        return self.settings.revisit_every or (DAY_S if self.settings.adaptive else None)

    @property
    def token(self) -> tuple[int, int]:
        return self.domain_id, self.version


class Past(NamedTuple):
    """The result of the previous visit of a page that is revisited."""

    etag: str | None
    last_modified: str | None
    content_hash: bytes | None
    comparisons: int
    """Visits that could be compared with the previous one."""
    changes: int
    watched_s: float
    """Seconds between compared visits."""
    since_s: float = 0.0
    """Seconds since the previous visit."""
    is_claimed: bool = False
    """A sitemap claimed a change since then: this visit tests the claim."""
    body_ref: str | None = None
    """Reference to its stored body; looked up only where bodies are stored."""


@dataclass(frozen=True, slots=True)
class Target:
    """One open task, ready to be visited under one lease."""

    task_id: int
    page_id: int
    domain_id: int
    lease_version: int
    url: str
    depth: int
    redirects: int
    """Number of redirects that led here; the limit turns an endless chain into an outcome."""
    retry_count: int
    past: Past | None = None
    """Set when the page was read before: this is a revisit."""
    revisit_every_s: float | None = None
    """The page's own frequency; None uses the domain's."""
    crashes: int = 0
    """Number of workers that died while parsing this page."""
    is_image: bool = False
    """The target is fetched to be stored as an image, not to be parsed."""
    max_retries: int | None = None
    """Maximum number of new tasks after a failure, as ordered for this task; None uses the setting."""
    is_recurring: bool = True
    """False: the page is not revisited afterwards, whatever the frequency."""
    is_urgent: bool = False
    """A person ordered it with a priority that lifts its domain: it is visited before other targets."""
    is_sitemap: bool = False
    """The target is a sitemap or feed: it is fetched for the URLs that it lists."""
    is_seed: bool = False
    """A person or a list named the page: where it redirects to is a seed too."""

    @property
    def is_page(self) -> bool:
        """Returns whether it is fetched for its content, and counts as a page."""
        return not (self.is_image or self.is_sitemap)

    @property
    def token(self) -> tuple[int, int]:
        """Returns the lease that the target is visited under."""
        return self.domain_id, self.lease_version


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one visit. Exactly one per target, whatever happened."""

    target: Target
    kind: OutcomeKind
    status_code: int | None = None
    error: VisitError | None = None
    stack: str | None = None
    response_time_ms: int | None = None
    wire_bytes: int = 0
    content_type: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    reading: Reading | None = None
    selection: Selection = field(default_factory=Selection)
    requested_at: datetime | None = None
    """When the request was sent, or else when connecting began, on the database's clock as far as it is known; None if
    no request was made."""
    retry_in_s: float | None = None
    """Seconds until a new task is due; None schedules no retry."""
    trouble: DomainFailure | None = None
    is_changed: bool | None = None
    """Whether the content differs from the previous visit; None if there was nothing to compare."""
    pace_ms: int | None = None
    """The delay between requests that was in force; 0 for an unpaced host, None if no request was made."""
    waited_s: float | None = None
    """Response time of the server since the request was sent; None if it was never sent."""
    read_s: float | None = None
    """Time until the page was parsed, including the wait for a parser; None if it was not parsed."""
    earlier_requests: tuple[datetime, ...] = ()
    """When quick retries of the same task were sent, before `requested_at`."""
    proxy_id: int | None = None
    """The proxy of the last request."""
    proxy_uses: tuple[ProxyUse, ...] = ()
    """Proxy results to be recorded with this outcome, including those of earlier attempts and of robots.txt."""
    stored: StoredBody | None = None
    """The body, packed and not yet stored; None under the `signals` policy."""
    body_ref: str | None = None
    """Reference to the body, once it is stored."""
    image: ImageFile | None = None
    """The image file, if the response contained one."""

    def __post_init__(self) -> None:
        """Drops the error's traceback: an outcome is held until it is written, and must not keep unrelated objects
        alive."""
        if self.error is not None:
            self.error.drop_traceback()
