"""How the cost of claim, learn and record grows with the number of known pages, and how much a worker remembers.

One database grows from size to size; at each, a fresh process measures.
"""

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.child import run_child, stop_postmaster
from bench.fill import fill
from bench.folder import fresh_folder
from bench.growth_step import Step
from bench.measure import postmaster_below
from bench.talk import tell
from forager.config.loader import load
from forager.db import embedded
from forager.db.database import open_database

STEP_TIMEOUT_S = 1800.0


def measure_growth(sizes: Sequence[int]) -> list[Step]:
    steps, have = [], 0
    with fresh_folder() as folder, running_server(folder / "home") as home:
        for size in sizes:
            tell(f"Growth: filling the database to {size:,} pages")
            asyncio.run(grow(home, have, size))
            have = size
            tell("Growth: measuring")
            steps.append(measure_apart(home, size, folder))
    return steps


@contextmanager
def running_server(home: Path) -> Iterator[Path]:
    """The embedded server stays up between the steps, as it does for a worker that never leaves."""
    seat = embedded.join(home)
    try:
        yield home
    finally:
        seat.leave()
        stop_postmaster(postmaster_below(home))


async def grow(home: Path, have: int, size: int) -> None:
    async with (
        open_database(load({"home": home}, {}), size=1, application="bench") as database,
        database.pool.acquire() as conn,
    ):
        await fill(conn, have, size)


def measure_apart(home: Path, size: int, folder: Path) -> Step:
    result = folder / f"step-{size}.json"
    command = [sys.executable, "-m", "bench.growth_step", str(home), str(size), str(result)]
    ran = run_child(command, folder=folder, timeout_s=STEP_TIMEOUT_S)
    if ran.exit_code:
        raise RuntimeError(f"measuring at {size:,} pages failed: {ran.last_words}")
    return Step(**json.loads(result.read_text(encoding="utf-8")))
