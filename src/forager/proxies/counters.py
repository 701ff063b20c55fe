"""Adds up the uses of a batch for one statement: the resulting row must not depend on how uses were batched. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from forager.proxies.models import ProxyResult, ProxyUse
from forager.proxies.rotation import NEW_SHARE, average

LONGEST_ERROR = 500


@dataclass(slots=True)
class ProxyCounters:
    uses: int = 0
    successes: int = 0
    failures: int = 0
    last_failures: int = 0
    """Failures after the last success, or all."""
    average_ms: float | None = None
    """Average of these uses alone."""
    kept_share: float = 1.0
    """Weight of the previous average."""
    added_ms: float = 0.0
    """Amount added to the weighted previous average."""
    last_used_at: datetime | None = None
    last_success_at: datetime | None = None
    last_failure_at: datetime | None = None
    last_error: str | None = None

    def add(self, use: ProxyUse, is_failure: bool) -> None:
        self.uses += 1
        self.last_used_at = _later(self.last_used_at, use.at)
        if use.passage is ProxyResult.THROUGH:
            self.successes += 1
            self.last_failures = 0
            self.last_success_at = _later(self.last_success_at, use.at)
            if use.response_time_ms is not None:
                self._add_time(use.response_time_ms)
        elif is_failure:
            self.failures += 1
            self.last_failures += 1
            self.last_failure_at = _later(self.last_failure_at, use.at)
            self.last_error = use.error[:LONGEST_ERROR] if use.error else None

    def _add_time(self, response_time_ms: int) -> None:
        self.average_ms = average(self.average_ms, response_time_ms)
        self.kept_share *= 1 - NEW_SHARE
        self.added_ms = self.added_ms * (1 - NEW_SHARE) + NEW_SHARE * response_time_ms


def by_proxy(uses: Iterable[ProxyUse]) -> dict[int, ProxyCounters]:
    """Returns the counters by proxy, in id order. A proxy that reached a site which did not respond is not at fault."""
    tallies: dict[int, ProxyCounters] = {}
    for use in uses:
        tallies.setdefault(use.proxy_id, ProxyCounters()).add(use, use.passage is ProxyResult.BROKEN)
    return dict(sorted(tallies.items()))


def by_pair(uses: Iterable[ProxyUse]) -> dict[tuple[int, int], ProxyCounters]:
    """Returns the counters by (domain, proxy), in this order."""
    tallies: dict[tuple[int, int], ProxyCounters] = {}
    for use in uses:
        tallies.setdefault((use.domain_id, use.proxy_id), ProxyCounters()).add(use, is_failure=True)
    return dict(sorted(tallies.items()))


def columns(tallies: Iterable[ProxyCounters]) -> dict[str, Any]:
    """Returns one list per field, by its name: the statements name their arrays the same."""
    found = list(tallies)
    return {field.name: [getattr(each, field.name) for each in found] for field in fields(ProxyCounters)}


def _later(before: datetime | None, at: datetime) -> datetime:
    return at if before is None else max(before, at)
