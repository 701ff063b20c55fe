"""`forager check --deep`: verifies, beyond the promises of `check`, what only reading everything can prove.

Compares the schema with a fresh one, bodies and archive files with their checksums, history and prices with their
digests, prices with their history, and the search index with the pages. Reads only; as slow as the disk.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import asyncpg

from forager import clock
from forager.db import catalog
from forager.db.catalog import SchemaMismatch
from forager.db.damage import find_corruption
from forager.db.types import Connection, Pool
from forager.explain import check_content
from forager.explain.check import (
    MOST_EXAMPLES,
    Finding,
    Promise,
    PromiseResult,
    check,
    load,
    look_at_files,
    readable,
    with_repair,
)
from forager.explain.repair_table import DAMAGED
from forager.retention import archive as cold
from forager.stats import seals
from forager.storage.bucket_folder import BucketFolder
from forager.storage.location import Location

STATEMENTS = load("deep_check.sql")
POPULATION = STATEMENTS.pop("deep_population")
KEPT = Promise(8, "What was read is kept: prices, details, and what can be found", {})
LOOKED_AT: Mapping[int, Mapping[str, str]] = {
    2: {"lease_versions": "domains"},
    4: {"page_depths": "link_lists", "traps_on_record": "traps"},
    5: {"run_bytes": "runs", "run_links": "runs", "run_pages": "domains", "depths_reached": "domains"},
    6: {"requests_on_record": "closed_tasks", "robots_on_record": "domains"},
    7: {"jobs_on_record": "jobs"},
    8: {
        "current_prices": "products",
        "chained_prices": "prices",
        "products_of_pages": "products",
        "records_of_pages": "records",
        "indexed_pages": "read_pages",
        "indexed_products": "products",
        "indexed_signals": "indexed_pages",
        "details_of_pages": "details",
    },
}
"""Promise → its statements, each with the rows it checks: a column of `deep_population`."""
SEALED = {
    "crawl_tasks": (
        3,
        "sealed_tasks",
        "closed_tasks",
        "Closed tasks are what they were when they were sealed, and none is gone.",
    ),
    "domain_history": (3, "sealed_moves", "moves", "Moves of domains are what they were when they were sealed."),
    "audit_log": (3, "sealed_audit", "audit_entries", "The audit log is what it was when it was sealed."),
    "robots_requests": (
        6,
        "sealed_robots",
        "robots_requests",
        "Requests for robots.txt are what they were when they were sealed.",
    ),
    "product_prices": (
        8,
        "sealed_prices",
        "prices",
        "Prices are what they were when they were sealed, and none is gone.",
    ),
}
"""Table → promise, name, what is checked, and sentence."""


@dataclass(frozen=True, slots=True)
class DeepOrder:
    """Parameters of a deep check."""

    place: Location | None = None
    cold: Path | None = None
    copies: BucketFolder | None = None
    jobs: tuple[str, ...] = ()
    """Names of the periodic jobs that the schedule must contain."""
    robots_retention_s: float = 86_400.0
    """How long requests for robots.txt are kept."""
    compares_schema: bool = True
    """Takes a second, as a fresh schema is created beside the live one."""


@dataclass(frozen=True, slots=True)
class Deep:
    """The findings, for display and for `repair`."""

    verdicts: list[PromiseResult]
    began_at: datetime
    """When the check began: files stored later were not checked."""
    faults: tuple[SchemaMismatch, ...] = ()
    """Differences of the schema."""
    damaged: tuple[str, ...] = ()
    """Names of bodies in the database whose files are missing or damaged."""
    damaged_images: tuple[int, ...] = ()


@asynccontextmanager
async def _snapshot(pool: Pool) -> AsyncIterator[Any]:
    async with pool.acquire() as conn, conn.transaction(isolation="repeatable_read", readonly=True):
        yield conn


async def check_deep(pool: Pool, order: DeepOrder) -> Deep:
    """Checks all promises of `check`, and what only reading everything can prove."""
    began_at = clock.now()
    schema = None
    if order.compares_schema:
        async with pool.acquire() as conn:
            schema = await catalog.compare(conn)
    async with _snapshot(pool) as conn:
        quick = await check(conn, None, order.cold, order.copies)
        found: dict[int, list[Finding]] = {number: [] for number in range(1, KEPT.number + 1)}
        found[1].append(_schema(schema))
        await _query_all(conn, order, found)
        await _check_digests(conn, found)
    async with pool.acquire() as conn:  # in no snapshot: reading may take hours and would block vacuum
        content = await _look_at_content(conn, order, found)
    verdicts = [replace(each, findings=(*each.findings, *found[each.promise.number])) for each in quick]
    faults = () if schema is None else tuple(schema[1])
    return Deep([*verdicts, PromiseResult(KEPT, tuple(found[8]))], began_at, faults, *content)


def _schema(compared: tuple[int, list[SchemaMismatch]] | None) -> Finding:
    sentence = "Columns, indexes, constraints, triggers and functions are those this Forager makes."
    if compared is None:
        return Finding("schema", sentence, 0, "parts", 0, ())
    parts, faults = compared
    examples = tuple(str(fault) for fault in faults[:MOST_EXAMPLES])
    return with_repair(Finding("schema", sentence, parts, "parts", len(faults), examples))


async def _query_all(conn: Connection, order: DeepOrder, found: dict[int, list[Finding]]) -> None:
    sizes = await _guarded(conn, lambda: conn.fetchrow(POPULATION.sql))
    arguments = {"robots_on_record": (order.robots_retention_s,), "jobs_on_record": (list(order.jobs),)}
    for number, names in LOOKED_AT.items():
        for name, things in names.items():
            statement = STATEMENTS[name]
            rows = await _guarded(conn, lambda: conn.fetch(statement.sql, *arguments.get(name, ())))  # noqa: B023
            if isinstance(rows, str):
                found[number].append(Finding(name, statement.purpose, 0, things, 1, (rows,), DAMAGED))
                continue
            looked_at = 0 if isinstance(sizes, str) else sizes[things]
            examples = tuple(row["example"] for row in rows)
            broken = rows[0]["broken"] if rows else 0
            found[number].append(with_repair(Finding(name, statement.purpose, looked_at, things, broken, examples)))


async def _guarded(conn: Connection, ask: Callable[[], Any]) -> Any:
    """Returns the result of the query, or a description of the damage."""
    try:
        async with conn.transaction():
            return await ask()
    except asyncpg.PostgresError as error:
        if (damage := find_corruption(error)) is None:
            raise
        return damage


async def _check_digests(conn: Connection, found: dict[int, list[Finding]]) -> None:
    counted = await _guarded(conn, lambda: seals.count(conn))
    if isinstance(counted, str):
        return
    for what, (number, name, things, sentence) in SEALED.items():
        broken = await _guarded(conn, lambda: seals.find_broken(conn, what))  # noqa: B023
        if isinstance(broken, str):
            found[number].append(Finding(name, sentence, 0, things, 1, (broken,), DAMAGED))
            continue
        rows = counted.get(what, (0, 0))[1]
        examples = tuple(map(_describe, broken[:MOST_EXAMPLES]))
        found[number].append(with_repair(Finding(name, sentence, rows, things, len(broken), examples)))
    chain = await seals.find_broken_chain(conn)
    sentence = "Each seal follows from the one before: none was altered, taken away or put in."
    examples = tuple(f"seal {row['id']} of {row['what']}" for row in chain[:MOST_EXAMPLES])
    total = sum(number for number, _ in counted.values())
    found[3].append(with_repair(Finding("seals", sentence, total, "seals", len(chain), examples)))


def _describe(broken: seals.Broken) -> str:
    if broken.found < broken.expected:
        rows = f"{broken.found:,} of {broken.expected:,} rows are there"
    elif broken.found > broken.expected:
        rows = f"{broken.found:,} rows are there, {broken.expected:,} were sealed"
    else:
        rows = f"at least one of {broken.expected:,} rows was altered"
    return f"{rows} (seal {broken.seal_id}, positions {broken.after} to {broken.until})"


def _all_readable(quick: Finding, content: check_content.Content) -> Finding:
    """Merges both findings, so that a file that neither check could read is named once."""
    return quick if not content.unreadable else readable(quick.looked_at, list(dict.fromkeys(content.unreadable)))


async def _look_at_content(
    conn: Connection, order: DeepOrder, found: dict[int, list[Finding]]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    damaged: tuple[str, ...] = ()
    images: tuple[int, ...] = ()
    if order.place is not None:
        stored, quick = await look_at_files(conn, order.place)
        content = await check_content.read_all(conn, order.place)
        damaged, images = tuple(content.names), tuple(content.images)
        examples = tuple(content.examples)
        total = content.broken
        found[3] += [stored, _all_readable(quick, content)]
        found[3].append(
            with_repair(
                Finding(check_content.NAME, check_content.PURPOSE, content.looked_at, "bodies", total, examples)
            )
        )
    if order.cold is not None:
        files = await cold.verify(conn, order.cold)
        troubles = [each for each in files if each.trouble]
        sentence = "Every archive file is, to the last byte, what it was when it was written."
        examples = tuple(f"{each.file}: {each.trouble}" for each in troubles[:MOST_EXAMPLES])
        found[3].append(
            with_repair(Finding("cold_intact", sentence, len(files), "archive_files", len(troubles), examples))
        )
    return damaged, images
