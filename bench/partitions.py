"""What hash partitions by domain would cost: one filled database, copied and divided into 4 and into 16.

A worker's claim, learn and record go round the layouts batch by batch, so that a busy machine is busy for all of them.
Everything is Forager's own, except that `add_links` names the longer key a partitioned table has to have.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from bench.fill import fill
from bench.folder import fresh_folder
from bench.growth import running_server
from bench.pretend import LeaseTurns, pretend_links, pretend_visit
from bench.stopwatch import Stopwatch
from bench.table import as_markdown, as_text
from bench.talk import tell
from bench.workbench import Workbench, open_workbench
from forager.config.loader import load
from forager.db import statements
from forager.db.database import open_database
from forager.db.embedded.paths import DATABASE, Place
from forager.db.pool import close, connect
from forager.frontier import history
from forager.frontier import store as frontier
from forager.parsing import page as parser
from forager.runs.models import RunSpec, Scope

SQL = statements.load("bench", "partitions.sql")
WHOLE: Mapping[str, str] = frontier.SQL
DIVIDED = {
    **WHOLE,
    "add_links": WHOLE["add_links"].replace("CONFLICT (from_page_id)", "CONFLICT (domain_id, from_page_id)"),
}
PARTS = (1, 4, 16)
PAGES = 1_000_000
VERBS = ("claim", "learn", "record")
BATCH = 200
WARM_PAGES = 20_000
WARM_TURNS = 8
"""PostgreSQL settles for one plan after five."""
TURNS = 30
LOOKS = 300
PORTION = 1000
PORTIONS = 20
LONG_S = 1800.0
HEADINGS = (
    *("partitions", "claim", "learn", "record", "together"),
    *("task by id, µs", "1,000 visits leave, ms", "vacuum, s", "size, MB"),
)


@dataclass(slots=True)
class Layout:
    """One way to keep the tables; costs are CPU of the backend, medians, µs per page where the unit is not said."""

    parts: int
    turns: dict[str, list[float]] = field(default_factory=dict)
    task_us: float = 0.0
    leave_ms: float = 0.0
    vacuum_s: float = 0.0
    size_mb: float = 0.0

    @property
    def database(self) -> str:
        return DATABASE if self.parts == 1 else f"{DATABASE}_{self.parts}"

    def verb_us(self, verb: str) -> float:
        return median(self.turns[verb])

    @property
    def page_us(self) -> float:
        return sum(map(self.verb_us, VERBS))


def measure_partitions(size: int = PAGES) -> list[Layout]:
    layouts = [Layout(parts) for parts in PARTS]
    with fresh_folder() as folder, running_server(folder / "home") as home:
        asyncio.run(measure(home, layouts, size))
    return layouts


async def measure(home: Path, layouts: Sequence[Layout], size: int) -> None:
    tell(f"Partitions: filling a database with {size:,} pages")
    await make_whole(home, size)
    for layout in layouts[1:]:
        tell(f"Partitions: a copy in {layout.parts}")
        await make_divided(home, layout)
    tell("Partitions: claim, learn, record")
    await take_turns(home, layouts, size)
    for layout in layouts:
        tell(f"Partitions: the rest, {layout.parts}")
        await measure_rest(home, layout)


# the layouts -------------------------------------------------------------------------------------------------------


async def make_whole(home: Path, size: int) -> None:
    async with (
        open_database(load({"home": home}, {}), size=1, application="bench") as database,
        database.pool.acquire() as conn,
    ):
        await fill(conn, 0, size)
        await conn.execute(SQL["add_links"], size, timeout=LONG_S)
        await conn.execute("VACUUM (ANALYZE) page_link_lists", timeout=LONG_S)


async def make_divided(home: Path, layout: Layout) -> None:
    """A copy of the whole database, divided in one transaction."""
    conn = await connect(Place.of(home).dsn_of("postgres"), application="bench")
    await conn.execute(f"CREATE DATABASE {layout.database} TEMPLATE {DATABASE}", timeout=LONG_S)
    await close(conn)
    conn = await connect(dsn_of(home, layout), application="bench")
    async with conn.transaction():
        await conn.execute("SET LOCAL session_replication_role = replica")
        await conn.execute(SQL["make_divide"])
        await conn.execute(SQL["divide"], layout.parts, timeout=LONG_S)
        await conn.execute(SQL["bind"], timeout=LONG_S)
    for statement in ("VACUUM (ANALYZE)", "CHECKPOINT"):
        await conn.execute(statement, timeout=LONG_S)
    await close(conn)


def dsn_of(home: Path, layout: Layout) -> str:
    return Place.of(home).dsn_of(layout.database)


# claim, learn, record ----------------------------------------------------------------------------------------------


async def take_turns(home: Path, layouts: Sequence[Layout], size: int) -> None:
    parser.preload()
    async with AsyncExitStack() as stack:
        hands = []
        for layout in layouts:
            opened = open_workbench(home, RunSpec(seeds=(), scope=Scope.ANY), dsn_of(home, layout))
            bench = await stack.enter_async_context(opened)
            await remember(bench, size)
            hands.append((layout, bench, LeaseTurns(bench.leases)))
        for number in range(WARM_TURNS + TURNS):
            for layout, bench, turns in hands:
                with speaking_to(layout):
                    costs = await take_turn(bench, turns, size)
                if number >= WARM_TURNS:
                    for verb, cost_us in costs.items():
                        layout.turns.setdefault(verb, []).append(cost_us)


async def remember(bench: Workbench, size: int) -> None:
    """As a worker that has run for a while."""
    for start in range(0, WARM_PAGES, BATCH):
        links = [link for number in range(start, start + BATCH) for link in pretend_links(number, size)]
        await bench.learn(links, stage="warm")


async def take_turn(bench: Workbench, turns: LeaseTurns, size: int) -> dict[str, float]:
    """One batch of pages; what each verb cost the backend, µs per page."""
    bench.stopwatch.costs.clear()
    targets = await bench.claim(turns.take(BATCH))
    if not targets:
        raise AssertionError("the frontier ran dry: more pages are to be visited than were filled in")
    outcomes = [pretend_visit(target, size) for target in targets]
    learned = await bench.learn([link for outcome in outcomes for link in outcome.selection.links])
    await bench.record(outcomes, learned)
    return {verb: bench.stopwatch.costs[verb].backend_s / len(targets) * 1e6 for verb in VERBS}


@contextmanager
def speaking_to(layout: Layout) -> Iterator[None]:
    """While inside, statements of the frontier are those the layout understands."""
    frontier.SQL = WHOLE if layout.parts == 1 else DIVIDED
    try:
        yield
    finally:
        frontier.SQL = WHOLE


# by id, history, vacuum, size --------------------------------------------------------------------------------------


async def measure_rest(home: Path, layout: Layout) -> None:
    conn = await connect(dsn_of(home, layout), application="bench")
    try:
        backend = await conn.fetchval("SELECT pg_backend_pid()")
        layout.task_us = median([await find_task(conn, backend, number * 31 + 1) for number in range(LOOKS)]) * 1e6
        layout.leave_ms = median(await let_visits_go(conn, backend)) * 1e3
        await conn.execute(SQL["change_pages"], timeout=LONG_S)
        watch = Stopwatch(backend)
        with watch.time("vacuum"):
            await conn.execute("VACUUM pages, crawl_tasks, page_link_lists", timeout=LONG_S)
        layout.vacuum_s = watch.costs["vacuum"].backend_s
        layout.size_mb = await conn.fetchval(SQL["read_size"]) / 1e6
    finally:
        await close(conn)


async def find_task(conn: Any, backend: int, task: int) -> float:
    watch = Stopwatch(backend)
    with watch.time("find"):
        await conn.fetch(SQL["find_task"], task)
    return watch.costs["find"].backend_s


async def let_visits_go(conn: Any, backend: int) -> list[float]:
    """The oldest leave the history as the night's job has them leave, though into no file."""
    ids = [row["id"] for row in await conn.fetch(SQL["oldest_visits"], PORTION * PORTIONS)]
    number, _ = await history.begin_slice(conn, "visits", date(2026, 1, 1), by="bench")
    facts = {"row_count": len(ids), "first_id": ids[0], "last_id": ids[-1], "size_bytes": 0, "stored_bytes": 0}
    await history.finish_part(conn, number, file="none", sha256=bytes(32), **facts)
    costs = []
    for start in range(0, len(ids), PORTION):
        watch = Stopwatch(backend)
        with watch.time("leave"):
            async with conn.transaction():
                await history.delete_archived_tasks(conn, number, ids[start : start + PORTION])
        costs.append(watch.costs["leave"].backend_s)
    return costs


# the table ---------------------------------------------------------------------------------------------------------


def show_partitions(layouts: Sequence[Layout], *, is_markdown: bool) -> str:
    rows = [_describe(layout, layouts[0]) for layout in layouts]
    title = "What partitions by domain cost PostgreSQL (CPU, medians; claim, learn and record in µs per page):\n"
    return title + (as_markdown if is_markdown else as_text)(HEADINGS, rows, words=1) + "\n"


def _describe(layout: Layout, whole: Layout) -> tuple[str, ...]:
    def beside(cost: float, reference: float) -> str:
        return f"{cost:,.0f} ({cost / reference:.2f} ×)"

    return (
        "none" if layout.parts == 1 else f"{layout.parts}",
        *(beside(layout.verb_us(verb), whole.verb_us(verb)) for verb in VERBS),
        beside(layout.page_us, whole.page_us),
        beside(layout.task_us, whole.task_us),
        beside(layout.leave_ms, whole.leave_ms),
        f"{layout.vacuum_s:.1f}",
        beside(layout.size_mb, whole.size_mb),
    )
