"""`forager check`: verifies the invariants of the design in one database snapshot; changes and repairs nothing.

Promise 6 (politeness) uses the audit's statements, and covers only what the database alone can prove: the request
delays. The audit also checks robots.txt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

import asyncpg
from pydantic import with_config

from forager.db import statements
from forager.db.damage import find_corruption
from forager.db.query import fetch_one
from forager.db.rows import RECORD
from forager.db.types import Connection
from forager.domains.status import MOVES
from forager.explain import check_archive as check_cold
from forager.explain import check_bodies
from forager.explain import politeness as audit
from forager.explain import repair_table as repairs
from forager.explain.repair_table import DAMAGED
from forager.frontier.task_status import MOVES as TASK_MOVES
from forager.storage.bucket_folder import BucketFolder
from forager.storage.location import Location


def load(file: str) -> dict[str, statements.Statement]:
    text = resources.files("forager.explain").joinpath(file).read_text(encoding="utf-8")
    return {statement.name: statement for statement in statements.parse(text, f"forager.explain/{file}")}


STATEMENTS = load("check.sql")
POPULATION = STATEMENTS.pop("population")
PACE = load("politeness.sql")["pace"]
MOST_EXAMPLES = 3
COMPLETE = 3
"""The promise about what a closed task contains."""
_PAIRS = [(now.value, then.value) for now, allowed in MOVES.items() for then in sorted(allowed)]
MOVES_LISTED = ([now for now, _ in _PAIRS], [then for _, then in _PAIRS])
_TASK_PAIRS = [(now.value, then.value) for now, allowed in TASK_MOVES.items() for then in sorted(allowed)]
TASK_MOVES_LISTED = ([now for now, _ in _TASK_PAIRS], [then for _, then in _TASK_PAIRS])
ARGUMENTS: Mapping[str, tuple[list[str], list[str]]] = {
    **dict.fromkeys(("allowed_moves", "table_of_moves"), MOVES_LISTED),
    **dict.fromkeys(("ordered_moves", "task_moves_table"), TASK_MOVES_LISTED),
}


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise of the design."""

    number: int
    sentence: str
    statements: Mapping[str, str]
    """The statements that find violations, each with the rows it checks: a column of `population`."""


PROMISES = (
    Promise(
        1,
        "One page per URL, one open task per page",
        {
            **dict.fromkeys(("url_hashes", "one_page_per_url", "domains_of_pages", "duplicates"), "pages"),
            "one_open_task": "open_tasks",
            "tasks_of_pages": "tasks",
            **dict.fromkeys(("queued_pages", "visited_pages"), "pages"),
        },
    ),
    Promise(
        2,
        "A domain is worked by one worker at a time",
        {"leases_of_workers": "leases", "lease_states": "domains", "locks_under_leases": "open_tasks"},
    ),
    Promise(
        3,
        "A closed task is complete and never changes",
        {
            **dict.fromkeys(("closed_tasks", "evidence"), "closed_tasks"),
            "chains_of_tries": "follow_ups",
            "archived_rows": "slices",
            "bodies_on_record": "body_refs",
            "told_tasks": "closed_tasks",
            "history_guard": "triggers",
        },
    ),
    Promise(
        4,
        "Every link of a recorded page is known",
        {
            "link_ends": "links",
            **dict.fromkeys(("links_of_pages", "trapped_pages"), "pages"),
            "sightings": "sightings",
            "images_of_domains": "images",
            **dict.fromkeys(("nothing_forgotten", "due_times"), "domains"),
        },
    ),
    Promise(
        5,
        "Counters equal what can be recounted",
        {
            **dict.fromkeys(("page_counters", "visit_counters", "image_counters", "copied_settings"), "domains"),
            "urgent_domains": "domains",
            "run_counters": "runs",
            "run_limits": "limited_runs",
        },
    ),
    Promise(6, "Every request keeps the pace of its domain", {"pace": "requests"}),
    Promise(
        7,
        "Only allowed moves of a state machine happen",
        {
            "exhausted_domains": "exhausted_domains",
            "blocked_domains": "domains",
            "last_moves": "moved_domains",
            "chained_moves": "moves",
            "allowed_moves": "moves",
            "table_of_moves": "allowed_moves",
            "moves_guard": "triggers",
            "ordered_moves": "orders",
            "task_moves_table": "allowed_moves",
            "task_moves_guard": "triggers",
            "waiting_tasks": "open_tasks",
        },
    ),
)

EXPECTED = {
    "history_guard": 1,
    "moves_guard": 3,
    "table_of_moves": len(_PAIRS),
    "task_moves_guard": 2,
    "task_moves_table": len(_TASK_PAIRS),
}
"""Numbers of objects that must exist, however large the crawl is."""


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class Finding:
    """The answer to one statement."""

    name: str
    sentence: str
    looked_at: int
    things: str
    """What was looked at."""
    broken: int
    examples: tuple[str, ...]
    repair: str = ""
    """What puts it right, in a sentence; empty where nothing is broken."""


@dataclass(frozen=True, slots=True)
class PromiseResult:
    """The result of checking one promise."""

    promise: Promise
    findings: tuple[Finding, ...]

    @property
    def broken(self) -> int:
        return sum(finding.broken for finding in self.findings)


def with_repair(finding: Finding) -> Finding:
    """Adds the repair sentence to a finding that is broken."""
    return replace(finding, repair=repairs.REPAIRS[finding.name].sentence) if finding.broken else finding


async def check(
    connection: Connection, place: Location | None = None, cold: Path | None = None, copies: BucketFolder | None = None
) -> list[PromiseResult]:
    """Checks all promises. The caller opens the one read-only snapshot that makes the result consistent during a crawl.
    If the body location and the archive folder are given, their files are checked too."""
    sizes = await _sizes(connection)
    return [
        PromiseResult(
            promise,
            tuple([await _look(connection, name, things, sizes) for name, things in promise.statements.items()])
            + (await look_at_files(connection, place) if place is not None and promise.number == COMPLETE else ())
            + (
                await _look_at_cold(connection, cold, copies) if cold is not None and promise.number == COMPLETE else ()
            ),
        )
        for promise in PROMISES
    ]


async def look_at_files(connection: Connection, place: Location) -> tuple[Finding, Finding]:
    """Checks whether the files of bodies and images exist, and whether they can be read."""
    files = await check_bodies.find_missing(connection, place)
    examples = tuple(files.missing[:MOST_EXAMPLES])
    found = Finding(
        check_bodies.NAME, check_bodies.PURPOSE, files.looked_at, "stored_files", len(files.missing), examples
    )
    return with_repair(found), readable(files.looked_at, files.unreadable)


def readable(looked_at: int, unreadable: Sequence[str]) -> Finding:
    """Reports files that could not be read, which proves nothing about their content."""
    examples = tuple(unreadable[:MOST_EXAMPLES])
    name, purpose = check_bodies.READABLE, check_bodies.READABLE_PURPOSE
    return with_repair(Finding(name, purpose, looked_at, "stored_files", len(unreadable), examples))


async def _look_at_cold(connection: Connection, cold: Path, copies: BucketFolder | None) -> tuple[Finding, ...]:
    looked_at, missing = await check_cold.find_missing(connection, cold, copies)
    examples = tuple(missing[:MOST_EXAMPLES])
    found = Finding(check_cold.NAME, check_cold.PURPOSE, looked_at, "cold_files", len(missing), examples)
    return (with_repair(found),)


async def _sizes(connection: Connection) -> Mapping[str, int]:
    try:
        async with connection.transaction():
            return dict(await fetch_one(connection, POPULATION.sql))
    except asyncpg.PostgresError as error:
        if find_corruption(error) is None:
            raise
        return {}


async def _look(connection: Connection, name: str, things: str, sizes: Mapping[str, int]) -> Finding:
    """Returns the findings of one statement. Damage that the server reports in its own files is a finding, and the
    other statements still run."""
    try:
        async with connection.transaction():
            found = await _run_check(connection, name, things, sizes)
    except asyncpg.PostgresError as error:
        if (damage := find_corruption(error)) is None:
            raise
        return Finding(
            name, STATEMENTS[name].purpose if name in STATEMENTS else PACE.purpose, 0, things, 1, (damage,), DAMAGED
        )
    return with_repair(found)


async def _run_check(connection: Connection, name: str, things: str, sizes: Mapping[str, int]) -> Finding:
    if name == "pace":
        return await _check_delays(connection, things)
    statement = STATEMENTS[name]
    rows = await connection.fetch(statement.sql, *ARGUMENTS.get(name, ()))
    looked_at = EXPECTED[name] if name in EXPECTED else sizes.get(things, 0)
    broken = rows[0]["broken"] if rows else 0
    return Finding(name, statement.purpose, looked_at, things, broken, tuple(row["example"] for row in rows))


async def _check_delays(connection: Connection, things: str) -> Finding:
    """Checks delays as the audit does: requests without evidence, or without a delay, do not count as checked."""
    proof = await audit.audit_delays(connection)
    return Finding(
        "pace",
        PACE.purpose,
        sum(each.requests for each in proof.with_delay),
        things,
        proof.too_early,
        tuple(audit.tell(early) for early in proof.examples[:MOST_EXAMPLES]),
    )
