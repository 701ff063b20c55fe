"""Counts consecutive failures: a domain that keeps failing in one way is put into cooldown. Pure.

    403, 403, 403 …   forbidden        blocked       and so on for login walls, 429 and 5xx
    no response …     unreachable      unreachable

Any good response ends a streak, and so does a missing page (404): the server serves us. Errors that say nothing about
the server (robots.txt, the address guard, a bug of ours) neither count nor end it, nor does a fetched image.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from forager.errors import ChallengeError, ResponseError, VisitError
from forager.frontier.models import DomainFailure, Outcome

WORDS = {
    DomainFailure.LOGIN_REQUIRED: "asked for a login",
    DomainFailure.FORBIDDEN: "answered 403",
    DomainFailure.CHALLENGE: "showed a check of its visitors",
    DomainFailure.RATE_LIMITED: "answered 429",
    DomainFailure.SERVER_ERROR: "answered with a server error",
    DomainFailure.UNREACHABLE: "did not answer",
}


@dataclass(slots=True)
class FailureStreak:
    code: str | None = None
    count: int = 0
    is_new: bool = False
    """Whether the streak began with the outcomes noted here: earlier failures are not added to it."""
    last: VisitError | None = None

    def note(self, outcome: Outcome) -> None:
        if outcome.trouble is not None:
            if outcome.trouble != self.code:
                self.is_new |= self.code is not None
                self.code, self.count = outcome.trouble.value, 0
            self.count += 1
            self.last = outcome.error
        elif is_response(outcome) and outcome.target.is_page:
            self.code, self.count, self.is_new = None, 0, True

    @property
    def reason_code(self) -> str | None:
        """For an unreachable domain, returns how it fails: `dns_error`, `connect_error`, `timeout`."""
        return self.last.code if self.code == DomainFailure.UNREACHABLE and self.last is not None else self.code

    @property
    def reason(self) -> str:
        if self.code is None:
            return ""
        times = "once" if self.count == 1 else f"{self.count} times in a row"
        detail = ""
        if self.code == DomainFailure.UNREACHABLE and self.last is not None:
            detail = f": {self.last}"
        elif isinstance(self.last, ChallengeError):
            detail = f" ({self.last.reason})"
        return f"it {WORDS[DomainFailure(self.code)]} {times}{detail}"


def is_response(outcome: Outcome) -> bool:
    """Returns whether the server showed that it serves us."""
    return outcome.error is None or isinstance(outcome.error, ResponseError)


def build_streak(outcomes: Iterable[Outcome]) -> FailureStreak:
    streak = FailureStreak()
    for outcome in outcomes:
        streak.note(outcome)
    return streak
