"""`forager check`: are the promises kept? Asks the database in one snapshot; changes nothing and repairs nothing.

Promise 6, politeness, is proved from the history by an audit of its own.
"""

from dataclasses import dataclass
from importlib import resources
from typing import Any

from forager.db import statements

STATEMENTS = {
    statement.name: statement
    for statement in statements.parse(
        resources.files("forager.control").joinpath("check.sql").read_text(encoding="utf-8"),
        "forager.control/check.sql",
    )
}


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise of the design and the statements that look for what breaks it."""

    number: int
    sentence: str
    statements: tuple[str, ...]


PROMISES = (
    Promise(
        1,
        "One page per URL, one open task per page",
        (
            *("url_hashes", "one_page_per_url", "domains_of_pages"),
            *("one_open_task", "tasks_of_pages", "queued_pages", "visited_pages"),
        ),
    ),
    Promise(2, "A domain is worked by one worker at a time", ("leases_of_workers", "locks_under_leases")),
    Promise(
        3,
        "A closed task is complete and never changes",
        ("closed_tasks", "evidence", "chains_of_tries", "history_guard"),
    ),
    Promise(4, "Every link of a recorded page is known", ("link_ends", "links_of_pages", "nothing_forgotten")),
    Promise(5, "Counters equal what can be recounted", ("page_counters", "visit_counters", "run_counters")),
    Promise(7, "Only allowed moves of a state machine happen", ("domain_states", "moves_guard")),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer to one statement."""

    name: str
    sentence: str
    broken: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One promise, looked at."""

    promise: Promise
    findings: tuple[Finding, ...]

    @property
    def broken(self) -> int:
        return sum(finding.broken for finding in self.findings)


async def check(connection: Any) -> list[Verdict]:
    """All promises. The caller opens the one read-only snapshot that makes this right during a crawl."""
    return [
        Verdict(promise, tuple([await _look(connection, name) for name in promise.statements])) for promise in PROMISES
    ]


async def _look(connection: Any, name: str) -> Finding:
    statement = STATEMENTS[name]
    rows = await connection.fetch(statement.sql)
    return Finding(name, statement.purpose, rows[0]["broken"] if rows else 0, tuple(row["example"] for row in rows))
