"""Trouble in a row: when a domain keeps answering in one bad way, it is left alone. Pure.

    403, 403, 403 …   forbidden        blocked       and so on for login walls, 429 and 5xx
    no answer …       unreachable      unreachable

Any good answer ends a row, a page that is not there (404) too: the server serves us. What says nothing about the
server (robots.txt, the address guard, a bug of ours) neither counts nor ends it, nor does an image that came.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from forager.errors import ResponseError, VisitError
from forager.frontier.models import DomainFailure, Outcome

WORDS = {
    DomainFailure.LOGIN_REQUIRED: "asked for a login",
    DomainFailure.FORBIDDEN: "answered 403",
    DomainFailure.RATE_LIMITED: "answered 429",
    DomainFailure.SERVER_ERROR: "answered with a server error",
    DomainFailure.UNREACHABLE: "did not answer",
}


@dataclass(slots=True)
class FailureStreak:
    code: str | None = None
    count: int = 0
    is_new: bool = False
    """It began in what was noted here: what came before does not add to it."""
    last: VisitError | None = None

    def note(self, outcome: Outcome) -> None:
        if outcome.trouble is not None:
            if outcome.trouble != self.code:
                self.is_new |= self.code is not None
                self.code, self.count = outcome.trouble.value, 0
            self.count += 1
            self.last = outcome.error
        elif is_response(outcome) and not outcome.target.is_image:
            self.code, self.count, self.is_new = None, 0, True

    @property
    def reason_code(self) -> str | None:
        """Of a domain nobody answers for, how it does not answer: `dns_error`, `connect_error`, `timeout`."""
        return self.last.code if self.code == DomainFailure.UNREACHABLE and self.last is not None else self.code

    @property
    def reason(self) -> str:
        if self.code is None:
            return ""
        times = "once" if self.count == 1 else f"{self.count} times in a row"
        detail = f": {self.last}" if self.code == DomainFailure.UNREACHABLE and self.last is not None else ""
        return f"it {WORDS[DomainFailure(self.code)]} {times}{detail}"


def is_response(outcome: Outcome) -> bool:
    """Whether the server showed that it serves us."""
    return outcome.error is None or isinstance(outcome.error, ResponseError)


def build_streak(outcomes: Iterable[Outcome]) -> FailureStreak:
    streak = FailureStreak()
    for outcome in outcomes:
        streak.note(outcome)
    return streak
