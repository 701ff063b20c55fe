"""The robots.txt rules of one leased domain, for each of its origins, and how long they are valid."""

from forager.errors import SkippedError
from forager.politeness.breaker import Breaker
from forager.robots.rules import Rules

MOST_FAILURES = 3
RESET_S = 60.0
Known = Rules | SkippedError
"""The rules of an origin; an error if the address guard forbids it or its robots.txt could not be fetched."""


class RobotsRules:
    __slots__ = ("_rules", "_until", "breaker")

    def __init__(self) -> None:
        self._rules: dict[str, Known] = {}
        self._until: dict[str, float] = {}
        """When robots.txt is to be fetched again: a lease may be renewed for days."""
        self.breaker = Breaker(most_failures=MOST_FAILURES, reset_s=RESET_S)
        """Consecutive failures of robots.txt, over all origins; an origin that failed is not requested again for an
        hour."""

    def __len__(self) -> int:
        return len(self._rules)

    @property
    def origins(self) -> frozenset[str]:
        """Returns the origins of the domain that are in use."""
        return frozenset(self._rules)

    @property
    def has_working_origin(self) -> bool:
        """Returns whether robots.txt of at least one origin could be fetched."""
        return any(not isinstance(known, SkippedError) for known in self._rules.values())

    def get(self, origin: str) -> Known | None:
        """Returns the last known rules, however old they are."""
        return self._rules.get(origin)

    def find_fresh(self, origin: str, now: float) -> Known | None:
        """Returns the rules if they are still valid; None if robots.txt has to be fetched."""
        known = self._rules.get(origin)
        return known if known is not None and self._until.get(origin, now) >= now else None

    def save(self, origin: str, known: Known, until: float | None = None) -> None:
        """Saves the rules; without `until` they are valid as long as the lease."""
        self._rules[origin] = known
        if until is None:
            self._until.pop(origin, None)
        else:
            self._until[origin] = until

    def extend(self, origin: str, until: float) -> None:
        """Extends the validity of an origin's rules."""
        self._until[origin] = until
