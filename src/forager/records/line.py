"""What one page carries down the line: Lease and Target in, Outcome out.

Lease ── Target ──get──> Fetched ──read──> Reading ──select──> Selection ──> Outcome ──learn, record──> rows
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from forager.errors import VisitError


class OutcomeKind(StrEnum):
    """How a task ended; the values of the database's `task_outcome`."""

    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"
    BLOCKED_ROBOTS = "blocked_robots"
    BLOCKED_4XX = "blocked_4xx"
    BLOCKED_5XX = "blocked_5xx"
    CANCELLED = "cancelled"


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
    content_policy: str = "signals"
    """What is kept of a body: a value of `archive.ContentPolicy`."""

    @property
    def token(self) -> tuple[int, int]:
        return self.domain_id, self.version


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

    @property
    def token(self) -> tuple[int, int]:
        """The lease it is visited under."""
        return self.domain_id, self.lease_version


@dataclass(frozen=True, slots=True)
class Fetched:
    """One HTTP answer, body already decompressed and capped. Redirects are answers too; nothing follows them here."""

    url: str
    status_code: int
    headers: Mapping[str, str]
    """Names in lower case; repeated headers joined by ", "."""
    body: bytes
    """Empty when the content type is none we read."""
    wire_bytes: int
    response_time_ms: int
    is_truncated: bool = False
    """The compressed body broke off; what came before is kept."""

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "")


class FoundLink(NamedTuple):
    """A link as the page wrote it. A NamedTuple: a page has sixty of them, and it costs a third of a dataclass."""

    href: str
    anchor: str
    rel: str
    """`a`, `area`, `canonical`, `alternate`, `next`, `iframe`, `redirect`, `refresh`; ` nofollow` is appended where the
    page says so."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What we understood from one page."""

    title: str | None
    description: str | None
    canonical: str | None
    language: str | None
    """BCP-47, at most 35 characters."""
    headings: str
    text: str
    """The first words of the main text: what keywords are made of. Never stored as text under the `signals` policy."""
    content_hash: bytes
    """16 bytes over title and main text, so that a changed advert id in the markup is not a change."""
    links: Sequence[FoundLink]
    base_url: str
    """What relative links are relative to: `<base href>` or the page's own URL."""
    is_noindex: bool = False
    is_nofollow: bool = False
    flags: tuple[str, ...] = ()
    """Oddities seen while reading, such as `charset_lie` or `nul`."""


class Discovery(NamedTuple):
    """A link worth knowing: normalised, in scope, with its key. What `learn` takes."""

    url: str
    key: bytes
    """16 bytes of the SHA-256 of `url`."""
    domain: str
    depth: int
    redirects: int
    anchor: str
    rel: str


@dataclass(frozen=True, slots=True)
class Selection:
    """The links of one page after selecting, and how many were left out for which reason."""

    links: Sequence[Discovery] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Reason → count: `scope`, `excluded`, `nofollow`, `binary`, `trap`, `too_many`, `bad_url`, `duplicate`."""


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
    """When the request left, on the database's clock as far as we know it; None if none was made."""
    retry_in_s: float | None = None
    """A new task is to be scheduled after that many seconds; None ends the matter."""
