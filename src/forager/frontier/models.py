"""What a visit carries from claim to record: Lease and Target in, Outcome out.

Lease ── Target ──fetch──> Fetched ──parse──> Reading ──select──> Selection ──> Outcome ──enqueue, record──> rows
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from forager.errors import VisitError
from forager.images.models import ImageFile
from forager.links.models import Selection
from forager.parsing.models import Reading
from forager.proxies.models import ProxyUse
from forager.storage.models import StoredBody


class OutcomeKind(StrEnum):
    """How a task ended; the values of the database's `task_outcome`."""

    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"
    BLOCKED_ROBOTS = "blocked_robots"
    BLOCKED_4XX = "blocked_4xx"
    BLOCKED_5XX = "blocked_5xx"
    CANCELLED = "cancelled"


class DomainFailure(StrEnum):
    """What an answer says about the whole domain. Enough of one kind in a row, and it is left alone for a while."""

    LOGIN_REQUIRED = "login_required"
    FORBIDDEN = "forbidden"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Lease:
    """The right of this worker to crawl one domain. `version` is the fencing token."""

    domain_id: int
    domain: str
    version: int
    delay_s: float | None
    """The operator's pace for this domain; None takes the setting."""
    wait_s: float
    """What is left of the predecessor's pace: no request before that many seconds from the claim."""
    max_concurrent_requests: int | None
    content_policy: str | None = None
    """What is kept of a body: a value of `archive.ContentPolicy`; None takes the setting."""
    max_pages_per_run: int | None = None
    """The operator's page budget for this domain; None takes the run's."""
    max_pages_per_template: int | None = None
    """Pages that may be taken of one URL template; None takes the setting."""
    errors_in_a_row: int = 0
    error_streak_code: str | None = None
    """What the last visits before this lease met, so that a streak goes on through a stop."""
    unreachable_cooldowns: int = 0
    """How many cooldowns in a row it had because nobody answered."""
    has_pages: bool = True
    """Whether it ever gave us a page."""
    has_proxies: bool = False
    """It has a pool, and is asked through it only."""
    verifies_tls: bool = True
    """False where an operator said that its certificates are not to be verified."""
    revisit_every_s: float | None = None
    """How often its pages are visited again; None: once."""
    revisit_price: float | None = None
    """Set where the interval is learned for each page: what a request must be worth."""
    pace_delay_s: float = 0.0
    """The delay that was last in force: `wait_s` counts with it."""
    pace_extra_s: float = 0.0
    """Of it, what was added because the server answered slowly."""
    response_s: float | None = None
    """How long its server takes as a rule."""
    breaker_state: str = "closed"
    breaker_failures: int = 0
    breaker_open_s: float = 0.0
    """How long ago the breaker opened, if it did."""
    breaker_resets: int = 0
    """How often somebody closed it by hand, when the lease began."""
    images: str | None = None
    """What is done with images its pages show, a value of `ImagePolicy`; None takes the run's."""
    images_only: bool = False
    """It was taken for the images other domains show, and nothing else of it is wanted."""
    parser_name: str = "auto"
    """Who reads its products: a name of `extract.sites`."""
    rendering: str | None = None
    """Whether a browser draws its pages, a value of `Rendering`; None takes the setting."""
    stores_links: bool = True
    """False: links of its pages are learned and counted, and not kept."""
    allow_networks: tuple[str, ...] = ()
    """Networks that an operator let the address guard through to, for this domain."""

    @property
    def token(self) -> tuple[int, int]:
        return self.domain_id, self.version


class Past(NamedTuple):
    """What the visit before left of a page that is visited again."""

    etag: str | None
    last_modified: str | None
    content_hash: bytes | None
    comparisons: int
    """Visits that could be compared with the one before."""
    changes: int
    watched_s: float
    """Seconds between compared visits."""
    since_s: float = 0.0
    """Seconds since the visit before."""
    is_claimed: bool = False
    """A sitemap said that it changed since: this visit tells whether that was true."""
    body_ref: str | None = None
    """Its body, where one is stored; looked up only where bodies are kept."""


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
    """How many redirects led here; the limit turns an endless chain into an outcome."""
    retry_count: int
    past: Past | None = None
    """Set when the page was read before: this is a revisit."""
    revisit_every_s: float | None = None
    """The page's own frequency; None takes the domain's."""
    crashes: int = 0
    """How often a worker died while it read this page."""
    is_image: bool = False
    """It is fetched to be stored as an image, not to be read."""
    parser_name: str = "auto"
    """Who reads its product; its domain's."""
    max_retries: int | None = None
    """New tasks after it failed, as somebody ordered; None takes the setting."""
    is_recurring: bool = True
    """False: the page is not visited again after it, whatever the frequency."""

    @property
    def token(self) -> tuple[int, int]:
        """The lease it is visited under."""
        return self.domain_id, self.lease_version


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one visit ended. Exactly one per target, whatever happened."""

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
    """When the request left, or else began to dial, on the database's clock as far as we know it; None if none was
    made."""
    retry_in_s: float | None = None
    """A new task is to be scheduled after that many seconds; None ends the matter."""
    trouble: DomainFailure | None = None
    is_changed: bool | None = None
    """Whether the content differs from the visit before; None where there was nothing to compare."""
    pace_ms: int | None = None
    """The distance between requests that was in force; 0 for an unpaced host, None if no request was made."""
    waited_s: float | None = None
    """How long the server took, from the request's leaving; None if it never left."""
    read_s: float | None = None
    """How long the page took to be read, waiting for its turn included; None if nobody read it."""
    earlier_requests: tuple[datetime, ...] = ()
    """When quick tries of the same task left, before `requested_at`."""
    proxy_id: int | None = None
    """The proxy the last request went through."""
    proxy_uses: tuple[ProxyUse, ...] = ()
    """What is to be recorded about proxies with this outcome: also of earlier tries, and of robots.txt."""
    stored: StoredBody | None = None
    """The body, packed and not yet stored; None under the `signals` policy."""
    body_ref: str | None = None
    """Where the body is, once it is stored."""
    image: ImageFile | None = None
    """Of an image that answered with something: what it is."""

    def __post_init__(self) -> None:
        """An outcome waits until it is written, and keeps nothing that it does not say."""
        if self.error is not None:
            self.error.drop_traceback()
