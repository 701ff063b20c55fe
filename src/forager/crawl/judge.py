"""What an answer or an error means for a page: outcome, another try now, another try later. Pure.

Quick tries stay inside one task (C-16: connection errors and 5xx, after 1, 2, 4 s with jitter). If they do not help the
task closes and a new one is scheduled after 1, 2, 4 … minutes, until `max_retries`.
"""

import random

from forager.errors import (
    AnswerError,
    NetworkError,
    RefusedError,
    RobotsDeniedError,
    RobotsUnreachableError,
    StatusError,
    VisitError,
    VisitTimeoutError,
)
from forager.records import OutcomeKind

QUICK_TRIES = 3
JITTER_S = 0.5
DEFAULT_HOLD_S = 5.0
"""A 429 without Retry-After: the domain is left alone for that long, doubled with every try."""


def outcome_of(error: VisitError) -> OutcomeKind:
    match error:
        case StatusError():
            return OutcomeKind.BLOCKED_5XX if error.status_code >= 500 else OutcomeKind.BLOCKED_4XX
        case RobotsDeniedError():
            return OutcomeKind.BLOCKED_ROBOTS
        case VisitTimeoutError():
            return OutcomeKind.TIMEOUT
        case _:
            return OutcomeKind.FAILED


def is_worth_a_retry(error: VisitError) -> bool:
    """Whether the same request could end otherwise: network trouble, 5xx, and the three 4xx that mean "not now"."""
    match error:
        case StatusError():
            return error.status_code >= 500 or error.asks_us_to_wait
        case NetworkError() | RobotsUnreachableError():
            return error.may_retry
        case RefusedError() | AnswerError():
            return False
        case _:
            return False


def quick_retry_s(error: VisitError, tries: int, rng: random.Random) -> float | None:
    """Seconds until the next try of the same task, or None when it is to be closed. `tries` were made already."""
    if tries > QUICK_TRIES or not is_worth_a_retry(error) or isinstance(error, RobotsUnreachableError):
        return None
    return float(2 ** (tries - 1)) + rng.uniform(0, JITTER_S)


def hold_s(error: VisitError, tries: int) -> float:
    """How long the whole domain is left alone after this answer."""
    if isinstance(error, StatusError) and error.asks_us_to_wait:
        return error.retry_after_s if error.retry_after_s is not None else DEFAULT_HOLD_S * float(2 ** (tries - 1))
    return 0.0


def later_retry_s(error: VisitError, retry_count: int, max_retries: int) -> float | None:
    """Seconds until a new task, or None when the page is given up."""
    if not is_worth_a_retry(error) or retry_count >= max_retries:
        return None
    if isinstance(error, RobotsUnreachableError):
        return 3600.0
    return max(60.0 * float(2**retry_count), hold_s(error, 1))


def page_status(kind: OutcomeKind, status_code: int | None, *, has_retry: bool) -> str:
    """Where a page stands after a visit without a reading."""
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
