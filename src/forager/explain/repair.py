"""`forager repair`: builds a plan from the findings of a deep check and carries it out, step by step and audited.

What can be derived from other rows is rebuilt, what the site still has is visited again, and what only a backup has is
named. Each step is a separate transaction and idempotent; steps that recount leave leased domains to their workers.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import asyncpg

from forager.db import statements
from forager.db.catalog import SchemaMismatch
from forager.db.types import Connection, Pool
from forager.errors import ForagerError
from forager.explain import check_content
from forager.explain import rebuild as repair
from forager.explain.check import MOVES_LISTED, TASK_MOVES_LISTED, Finding
from forager.explain.deep_check import Deep
from forager.explain.repair_table import REPAIRS, Kind
from forager.frontier.store import SQL as FRONTIER
from forager.parsing.keywords import CONFIGS
from forager.search import index
from forager.storage.location import Location
from forager.storage.refs import key_of
from forager.tasks.bulk import restart_tasks

SQL = statements.load("forager.explain", "repair.sql")
REASON = "repair"
AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Step:
    """The repair of one finding."""

    finding: Finding
    kind: Kind
    sentence: str
    actions: tuple[str, ...]


@dataclass(slots=True)
class StepResult:
    """The result of a step."""

    step: Step
    changed: int = 0
    visits: int = 0
    """Pages scheduled for a visit."""
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class RepairOrder:
    """Parameters of a repair."""

    by: str
    refresh_every_s: float | None
    refused_rest_s: float
    place: Location | None = None
    jobs: tuple[str, ...] = ()


@dataclass(slots=True)
class _Work:
    pool: Pool
    deep: Deep
    order: RepairOrder
    mended: StepResult
    pages: list[int] = field(default_factory=list)
    """Pages to visit again."""


def plan(deep: Deep) -> list[Step]:
    """Returns a step for every finding, in execution order: the schema first, as other steps depend on its
    constraints."""
    broken = [finding for verdict in deep.verdicts for finding in verdict.findings if finding.broken]
    steps = [_step(finding) for finding in broken]
    return sorted(steps, key=lambda step: (step.kind is Kind.BACKUP, "schema" not in step.actions))


def _step(finding: Finding) -> Step:
    known = REPAIRS[finding.name]
    if finding.repair and finding.repair != known.sentence:  # the files of the database itself are damaged
        return Step(finding, Kind.BACKUP, finding.repair, ())
    return Step(finding, known.kind, known.sentence, known.actions)


async def run_repair(pool: Pool, deep: Deep, order: RepairOrder) -> list[StepResult]:
    """Runs every step of the plan; one that fails reports why, and the others still run. Parts of the schema that
    existing rows violate, such as a unique index, are retried after the rows were repaired."""
    left = [fault for fault in deep.faults if not await _make(pool, fault)]
    done: list[StepResult] = []
    for step in plan(deep):
        work = _Work(pool, deep, order, StepResult(step))
        try:
            for action in step.actions:
                await _run_action(work, action)
            work.mended.visits = await _order_visits(work)
        except (asyncpg.PostgresError, ForagerError) as error:
            work.mended.trouble = f"{type(error).__name__}: {error}"
        done.append(work.mended)
    await _finish_schema(pool, left, done)
    return done


async def _make(pool: Pool, fault: SchemaMismatch) -> bool:
    try:
        await _run_all(pool, fault)
    except asyncpg.PostgresError:
        return False
    return bool(fault.statements)


async def _run_all(pool: Pool, fault: SchemaMismatch) -> None:
    async with pool.acquire() as conn, conn.transaction():
        for statement in fault.statements:
            await conn.execute(statement)


async def _finish_schema(pool: Pool, left: Sequence[SchemaMismatch], done: Sequence[StepResult]) -> None:
    troubles = []
    for fault in left:
        try:
            await _run_all(pool, fault)
        except asyncpg.PostgresError as error:
            troubles.append(f"{fault}: {error}")
        else:
            troubles += [] if fault.statements else [f"{fault}: only a backup has it"]
    for each in done:
        if each.step.finding.name == "schema":
            each.trouble = "; ".join(troubles) or None


async def _run_action(work: _Work, action: str) -> None:
    function = FUNCTIONS.get(action)
    if function is not None:
        work.mended.changed += await function(work)
        return
    async with work.pool.acquire() as conn, conn.transaction():
        await conn.execute(SQL["allow"])
        work.mended.changed += await _run(conn, action)


async def _run(conn: Connection, statement: str, *arguments: Any) -> int:
    said = (await conn.execute(SQL[statement], *arguments)).split()
    return int(said[-1]) if said and said[-1].isdigit() else 0


async def _schema(work: _Work) -> int:
    """Does nothing: the schema was repaired before the first step."""
    return len(work.deep.faults)


async def _rebuild(work: _Work) -> int:
    order = work.order
    done = await repair.rebuild(
        work.pool, by=order.by, refresh_every_s=order.refresh_every_s, refused_rest_s=order.refused_rest_s
    )
    return len(done.mended)


async def _revisit_bodies(work: _Work) -> int:
    """Deletes damaged files, so that the visit stores them again. Deletes only those that are still damaged when they
    are checked again, and never one that was stored since the check began."""
    refs, images = await _verify_content(work)
    names = [ref.split(":")[1] for ref in refs if not ref.startswith("warc:")]
    async with work.pool.acquire() as conn, conn.transaction():
        changed = await _run(conn, "put_bodies_on_record") + await _run(conn, "give_up_bodies", names)
        files = [row["body_ref"] for row in await conn.fetch(SQL["give_up_images"], images)]
        work.pages += [row["id"] for row in await conn.fetch(SQL["pages_of_bodies"], refs)]
        work.pages += [row["id"] for row in await conn.fetch(SQL["pages_of_images"], images)]
    if work.order.place is not None:
        keys = [*map(key_of, names), *dict.fromkeys(files)]
        await asyncio.to_thread(partial(work.order.place.delete, keys, unless_since=work.deep.began_at))
    if len(names) < len(refs):
        left = len(refs) - len(names)
        work.mended.trouble = (
            f"{left} records of archives stay damaged: a WARC file is never rewritten; a backup has them"
        )
    return changed + len(files)


async def _verify_content(work: _Work) -> tuple[list[str], list[int]]:
    if work.order.place is None:
        return [], []
    refs = await check_content.verify_bodies(work.order.place, work.deep.damaged)
    async with work.pool.acquire() as conn:
        images = await check_content.verify_images(conn, work.order.place, work.deep.damaged_images)
    return refs, images


async def _collect(work: _Work, statement: str) -> int:
    async with work.pool.acquire() as conn, conn.transaction():
        found = [row["id"] for row in await conn.fetch(SQL[statement])]
    work.pages += found
    return len(found)


async def _reduce_depths(work: _Work) -> int:
    changed = 0
    async with work.pool.acquire() as conn, conn.transaction():
        while rows := await conn.fetch(SQL["deep_pages"]):
            lowered = await conn.fetch(
                FRONTIER["update_depths"], [row["id"] for row in rows], [row["depth"] for row in rows]
            )
            changed += len(lowered)
            if not lowered:
                break
    return changed


async def _note_moves(work: _Work) -> int:
    async with work.pool.acquire() as conn, conn.transaction():
        return await _run(conn, "note_moves", work.order.by)


async def _moves(work: _Work, table: str, pairs: tuple[list[str], list[str]]) -> int:
    async with work.pool.acquire() as conn, conn.transaction():
        await conn.execute(SQL[f"forget_{table}_moves"])
        return await _run(conn, f"write_{table}_moves", *pairs)


async def _post_jobs(work: _Work) -> int:
    async with work.pool.acquire() as conn, conn.transaction():
        return await _run(conn, "post_jobs", list(work.order.jobs))


async def _index_missing(work: _Work) -> int:
    changed = 0
    async with work.pool.acquire() as conn:
        missing = [row["id"] for row in await conn.fetch(SQL["missing_from_index"])]
        for start in range(0, len(missing), AT_ONCE):
            async with conn.transaction():
                changed += await index.index_named(conn, missing[start : start + AT_ONCE], CONFIGS)
    return changed


async def _order_visits(work: _Work) -> int:
    """Schedules visits of pages that lost something, in batches."""
    ordered = 0
    for start in range(0, len(work.pages), AT_ONCE):
        async with work.pool.acquire() as conn, conn.transaction():
            last = await conn.fetch(SQL["last_visits"], work.pages[start : start + AT_ONCE])
            made = await restart_tasks(conn, [row["id"] for row in last], by=work.order.by, reason=REASON)
            ordered += len(made.tasks)
    return ordered


FUNCTIONS: dict[str, Callable[[_Work], Awaitable[int]]] = {
    "schema": _schema,
    "rebuild": _rebuild,
    "revisit_bodies": _revisit_bodies,
    "count_links": partial(_collect, statement="count_links"),
    "revisit_signals": partial(_collect, statement="forget_signals"),
    "revisit_details": partial(_collect, statement="forget_details"),
    "relax_depths": _reduce_depths,
    "note_moves": _note_moves,
    "moves": partial(_moves, table="domain", pairs=MOVES_LISTED),
    "task_transitions": partial(_moves, table="task", pairs=TASK_MOVES_LISTED),
    "post_jobs": _post_jobs,
    "index_missing": _index_missing,
}
