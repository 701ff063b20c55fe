"""Classifies a response or an error of a page: outcome, quick retry, later retry. Pure.

Our own faults are never final: they are retried without limit.

Quick retries stay inside one task (connection errors and 5xx, after 1, 2, 4 s with jitter). If they fail, the task
closes and a new one is scheduled after 1, 2, 4 … minutes, up to `failures.max_retries` times.
"""

import random

from forager.errors import (
    AddressBlockedError,
    BrokenError,
    ChallengeError,
    ConnectError,
    DnsError,
    ErrorSource,
    NetworkError,
    NoHttpsError,
    ResponseError,
    RobotsDeniedError,
    RobotsUnreachableError,
    SkippedError,
    StatusError,
    TooLargeError,
    TooManyRedirectsError,
    UnavailableError,
    VisitError,
    VisitTimeoutError,
)
from forager.frontier.models import DomainFailure, Lease, Outcome, OutcomeKind, Past, Target
from forager.frontier.revisit import next_interval
from forager.frontier.sitemap_revisit import FEEDS, next_read_s
from forager.images.models import ImageStatus
from forager.parsing.login import count_words, is_login_required
from forager.parsing.models import Reading

QUICK_TRIES = 3
JITTER_S = 0.5
DEFAULT_HOLD_S = 5.0
"""Cooldown of the domain after a 429 without Retry-After, doubled with every attempt."""


NOT_AT_ONCE = (RobotsUnreachableError, BrokenError, UnavailableError, ChallengeError)
BUG_S, BUG_DOUBLINGS = 600.0, 7
"""A visit that met a bug of ours is retried after ten minutes, twenty, … and then every 21 hours: the next version may
have fixed the bug, and a machine that ran out of files or memory may have recovered."""


def outcome_of(error: VisitError) -> OutcomeKind:
    match error:
        case StatusError() | ChallengeError():
            return OutcomeKind.BLOCKED_5XX if error.status_code >= 500 else OutcomeKind.BLOCKED_4XX
        case RobotsDeniedError():
            return OutcomeKind.BLOCKED_ROBOTS
        case VisitTimeoutError():
            return OutcomeKind.TIMEOUT
        case _:
            return OutcomeKind.FAILED


def find_problem(error: VisitError, *, is_file: bool = False) -> DomainFailure | None:
    """Returns what a failed visit says about the whole domain, if anything. Many sites reject requests for images that
    do not come from their pages, and for sitemaps, which need not exist."""
    match error:
        case StatusError() if is_file and error.status_code < 500 and error.status_code != 429:
            return None
        case ChallengeError():
            return None if is_file else DomainFailure.CHALLENGE
        case StatusError(status_code=401 | 407):
            return DomainFailure.LOGIN_REQUIRED
        case StatusError(status_code=403 | 451):
            return DomainFailure.FORBIDDEN
        case StatusError(status_code=429):
            return DomainFailure.RATE_LIMITED
        case StatusError() if error.status_code >= 500:
            return DomainFailure.SERVER_ERROR
        case DnsError() | ConnectError() | VisitTimeoutError():
            return DomainFailure.UNREACHABLE
        case _:
            return None


def is_failure(error: VisitError | None) -> bool | None:
    """Returns whether a request counts as a failure for the domain's breaker: True if no usable response came, False if
    one did. None if it says nothing about the server."""
    match error:
        case None:
            return False
        case StatusError():
            return error.status_code >= 500
        case ResponseError():
            return False
        case NetworkError() if error.blame is not ErrorSource.US:
            return True
        case _:
            return None


def detect_login(target: Target, status_code: int, reading: Reading) -> DomainFailure | None:
    """Returns a failure if the page is a login form in place of the requested one."""
    if not (reading.has_password_form or target.redirects):
        return None
    is_wall = is_login_required(
        url=target.url,
        was_redirected=target.redirects > 0,
        status_code=status_code,
        has_password_form=reading.has_password_form,
        words=count_words(reading.text),
        links=len(reading.links),
        title=reading.title,
    )
    return DomainFailure.LOGIN_REQUIRED if is_wall else None


def is_retryable(error: VisitError) -> bool:
    """Returns whether the same request could succeed later: network errors, 5xx, and the three 4xx that mean "not
    now"."""
    match error:
        case StatusError():
            return error.status_code >= 500 or error.should_back_off
        case ChallengeError():
            return error.status_code >= 500
        case NetworkError() | RobotsUnreachableError():
            return error.may_retry
        case SkippedError() | ResponseError():
            return False
        case _:
            return error.may_retry


def max_quick_retries(error: VisitError, retry_count: int) -> int:
    """Returns how many quick retries a task makes. A later task of the same page makes one: sixteen requests to a
    broken page help neither side. After a response that asks us to wait, one retry is made."""
    if retry_count:
        return 0
    return 1 if isinstance(error, StatusError) and error.should_back_off else QUICK_TRIES


def quick_retry_s(error: VisitError, tries: int, rng: random.Random, retry_count: int = 0) -> float | None:
    """Returns the seconds until the next attempt of the same task, or None when it is to be closed. `tries` were made
    already, and `retry_count` tasks failed before."""
    if isinstance(error, TooManyRedirectsError) and error.has_new_cookie:
        return 0.0 if tries == 1 else None
    most = max_quick_retries(error, retry_count)
    if tries > most or not is_retryable(error) or isinstance(error, NOT_AT_ONCE):
        return None
    return float(2 ** (tries - 1)) + rng.uniform(0, JITTER_S)


def hold_s(error: VisitError, tries: int) -> float:
    """Returns how long the whole domain pauses after this response."""
    if isinstance(error, StatusError) and error.should_back_off:
        return error.retry_after_s if error.retry_after_s is not None else DEFAULT_HOLD_S * float(2 ** (tries - 1))
    return 0.0


def later_retry_s(error: VisitError, retry_count: int, max_retries: int) -> float | None:
    """Returns the seconds until a new task, or None when no further one is scheduled."""
    if error.blame is ErrorSource.US:  # a page is not abandoned because of a fault of ours
        first_s, doublings = (BUG_S, BUG_DOUBLINGS) if isinstance(error, BrokenError) else (60.0, 6)
        return first_s * float(2 ** min(retry_count, doublings))
    if not is_retryable(error) or retry_count >= max_retries:
        return None
    if isinstance(error, RobotsUnreachableError):
        return 3600.0
    return max(60.0 * float(2**retry_count), hold_s(error, 1))


def revisit_in_s(
    outcome: Outcome, lease: Lease, sitemap_interval_s: tuple[float, float] = (3600.0, 604_800.0)
) -> float | None:
    """Returns the seconds until a recurring page is visited again; None when it is not, or a retry comes first.

    A page that is gone is never visited again; one that fails temporarily keeps its frequency. A sitemap or feed that
    could be read once is read again by its own frequency, between the two of `sitemap_interval_s`.
    """
    target, past = outcome.target, outcome.target.past
    if target.is_sitemap:
        return _reread_in_s(outcome, lease, sitemap_interval_s)
    frequency_s = target.revisit_every_s or lease.revisit_every_s
    if frequency_s is None or outcome.retry_in_s is not None or outcome.kind is OutcomeKind.BLOCKED_ROBOTS:
        return None
    if not target.is_recurring or isinstance(outcome.error, NoHttpsError):
        return None  # the site works over http, under which the page is visited
    if target.is_image and target.revisit_every_s is None:
        return None  # visited once, and again with a refresh of its domain
    if page_status(outcome.kind, outcome.status_code, has_retry=False) == "gone":
        return None
    if target.revisit_every_s is not None or lease.revisit_price is None:
        return frequency_s
    past = past or Past(None, None, None, 0, 0, 0.0)
    is_compared = outcome.is_changed is not None
    return next_interval(
        frequency_s=frequency_s,
        is_adaptive=True,
        price=lease.revisit_price,
        comparisons=past.comparisons + is_compared,
        changes=past.changes + bool(outcome.is_changed),
        watched_s=past.watched_s + (past.since_s if is_compared else 0.0),
    )


def _reread_in_s(outcome: Outcome, lease: Lease, interval_s: tuple[float, float]) -> float | None:
    listing = outcome.reading.listing if outcome.reading is not None else None
    is_feed = listing is not None and listing.format in FEEDS
    if outcome.retry_in_s is not None or not (lease.settings.feeds if is_feed else lease.settings.sitemaps):
        return None
    shortest_s, longest_s = interval_s
    if outcome.kind is OutcomeKind.SUCCESS:
        if listing is None and outcome.status_code != 304:
            return None  # no sitemap, or a redirect to one
        changed = outcome.is_changed
        return next_read_s(listing, outcome.target.past, is_changed=changed, shortest_s=shortest_s, longest_s=longest_s)
    return longest_s if outcome.target.past is not None else None


def is_rejected_by_guard(outcome: Outcome) -> bool:
    """Returns whether our own address guard prevented the request: that says nothing about the page."""
    return isinstance(outcome.error, AddressBlockedError)


def keeps_state(outcome: Outcome) -> bool:
    """Returns whether a page that was read before keeps its state: its revisit never started, or it is a sitemap, whose
    entries stay valid until it can be read again."""
    if outcome.target.past is None or outcome.kind is OutcomeKind.SUCCESS:
        return False
    return outcome.target.is_sitemap or is_rejected_by_guard(outcome)


def image_status(outcome: Outcome) -> ImageStatus | None:
    """Returns the status of an image after a visit; None: unchanged."""
    if outcome.image is not None:
        return outcome.image.status
    if outcome.kind is OutcomeKind.SUCCESS:
        return ImageStatus.MOVED if outcome.selection.images else None
    if outcome.retry_in_s is not None or outcome.kind is OutcomeKind.CANCELLED or keeps_state(outcome):
        return None
    if isinstance(outcome.error, TooLargeError):
        return ImageStatus.TOO_BIG
    match page_status(outcome.kind, outcome.status_code, has_retry=False):
        case "gone":
            return ImageStatus.GONE
        case "blocked":
            return ImageStatus.BLOCKED
        case _:
            return ImageStatus.BLOCKED if isinstance(outcome.error, SkippedError) else ImageStatus.FAILED


def page_status(kind: OutcomeKind, status_code: int | None, *, has_retry: bool) -> str:
    """Returns the status of a page after a visit that returned no content."""
    if has_retry:
        return "queued"
    match kind:
        case OutcomeKind.SUCCESS:
            return "fetched"
        case OutcomeKind.BLOCKED_4XX if status_code in {404, 410}:
            return "gone"
        case OutcomeKind.BLOCKED_4XX | OutcomeKind.BLOCKED_ROBOTS:
            return "blocked"
        case OutcomeKind.CANCELLED:
            return "discovered"
        case OutcomeKind.FAILED | OutcomeKind.TIMEOUT | OutcomeKind.BLOCKED_5XX:
            return "failed"
