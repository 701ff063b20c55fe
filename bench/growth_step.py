"""One size of the growth part, as a process of its own, whose memory is then that of a worker and nothing else.

It plays a worker that visits pages of all its domains in turn: 60 links a page as on the playground's `bench` sites,
six of them new, most of the others to a few popular pages. Started with a home, a size and a file for the result.
"""

import asyncio
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.measure import MB, postmaster_below, read_process, walk_tree
from bench.pretend import LeaseTurns, pretend_links, pretend_visit, sweep_links
from bench.stopwatch import Cost
from bench.workbench import Workbench, open_workbench
from forager.config.loader import load
from forager.parsing import page as parser
from forager.runs.models import RunSpec, Scope

VERBS = ("claim", "learn", "record")
BATCH = 200
MEASURED_PAGES = 4000
WARM_PAGES = 50_000


@dataclass(frozen=True, slots=True)
class Step:
    """What one size costs, in µs per page."""

    size: int
    claim_us: float
    learn_us: float
    record_us: float
    client_us: float
    postgres_us: float
    """All of the server's processes, checkpoints and vacuum included."""
    passed_us: float
    """Wall time of the three."""
    asked: float
    """Links per page that the worker did not remember, new ones included."""
    memory_mb: float
    """The worker's, with its memory of known URLs full."""

    @property
    def cpu_us(self) -> float:
        return self.client_us + self.postgres_us


async def measure_step(home: Path, size: int) -> Step:
    parser.preload()
    async with open_workbench(home, RunSpec(seeds=(), scope=Scope.ANY)) as bench:
        for start in range(0, WARM_PAGES, BATCH):
            await bench.learn(
                [link for n in range(start, start + BATCH) for link in pretend_links(n, size)], stage="warm"
            )
        await bench.settle(stage="warm")
        before_s = server_cpu_s(home)
        pages, asked = await visit_pages(bench, size)
        await bench.settle(stage="record")
        server_s = server_cpu_s(home) - before_s
        for links in sweep_links(size, load({"home": home}, {}).worker.url_cache_size * 2):
            await bench.learn(links, stage="sweep")
        costs = bench.stopwatch.costs
        return conclude(size, pages, asked=asked, costs=costs, server_s=server_s)


async def visit_pages(bench: Workbench, size: int) -> tuple[int, int]:
    """Pages visited, and links the database was asked for."""
    turns, pages, asked = LeaseTurns(bench.leases), 0, 0
    while pages < MEASURED_PAGES:
        targets = await bench.claim(turns.take(BATCH))
        outcomes = [pretend_visit(target, size) for target in targets]
        learned = await bench.learn([link for outcome in outcomes for link in outcome.selection.links])
        await bench.record(outcomes, learned)
        pages, asked = pages + len(targets), asked + len(learned.fresh)
        if not targets:
            raise AssertionError("the frontier ran dry: more pages are to be visited than were filled in")
    return pages, asked


def server_cpu_s(home: Path) -> float:
    postmaster = postmaster_below(home)
    return sum(process.cpu_s for process in walk_tree(postmaster)) if postmaster else 0.0


def memory_mb() -> float:
    """Resident now. The kernel's own peak is of no use: a child inherits that of its parent."""
    process = read_process(os.getpid())
    return process.rss_bytes / MB if process else 0.0


def conclude(size: int, pages: int, *, asked: int, costs: dict[str, Cost], server_s: float) -> Step:
    per_page = {verb: costs[verb].cpu_s / pages * 1e6 for verb in VERBS}
    return Step(
        size=size,
        claim_us=per_page["claim"],
        learn_us=per_page["learn"],
        record_us=per_page["record"],
        client_us=sum(costs[verb].client_s for verb in VERBS) / pages * 1e6,
        postgres_us=server_s / pages * 1e6,
        passed_us=sum(costs[verb].passed_s for verb in VERBS) / pages * 1e6,
        asked=asked / pages,
        memory_mb=memory_mb(),
    )


if __name__ == "__main__":
    step = asyncio.run(measure_step(Path(sys.argv[1]), int(sys.argv[2])))
    Path(sys.argv[3]).write_text(json.dumps(asdict(step)), encoding="utf-8")
