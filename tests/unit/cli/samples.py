"""Runs to look at."""

from datetime import UTC, datetime
from typing import Any

from forager.runs.models import DomainCount, OutcomeCount, Progress, RunEnd, RunReport

NOW = datetime(2026, 1, 1, tzinfo=UTC)

OUTCOMES = (
    OutcomeCount("success", "200", 1176, 41_000_000, 9),
    OutcomeCount("success", "301", 14, 0, 9),
    OutcomeCount("blocked_4xx", "404", 9, 0, 9),
    OutcomeCount("blocked_robots", "robots_denied", 3, 0, 0),
    OutcomeCount("failed", "connection_lost", 2, 0, 0),
)
DOMAINS = (
    DomainCount("shop.example", "active", 1204, 3, 11_356, True, None),
    DomainCount("a-very-long-name.of-a-domain.sub.sub.example.co.uk", "blocked", 2, 3, 1356, False, "robots_denied"),
    DomainCount("quiet.example:8080", "exhausted", 304, 0, 0, False, None),
)


def a_progress(**changes: Any) -> Progress:
    fields: dict[str, Any] = {
        "run_id": 12,
        "elapsed_s": 120.0,
        "workers": 2,
        "pages_done": 1204,
        "pages_ok": 1190,
        "frontier": 11_356,
        "wire_bytes": 41_000_000,
        "links_seen": 72_000,
        "pages_learned": 12_408,
        "outcomes": OUTCOMES,
        "domains": DOMAINS,
        "domain_states": {"active": 1, "blocked": 1, "exhausted": 1},
        "last_url": "http://shop.example/p/blue-kettle",
        "last_status_code": 200,
        "last_response_time_ms": 84,
    }
    return Progress(**fields | changes)


def a_report(end: RunEnd = RunEnd.FINISHED, **changes: Any) -> RunReport:
    fields: dict[str, Any] = {
        "progress": a_progress(),
        "dropped": {},
        "waiting": {},
        "standing": (),
        "next_at": None,
    }
    return RunReport(end, **fields | changes)
