"""The figures Forager wants to reach, judged from what was measured; a part that was not run has no figure."""

from collections.abc import Mapping, Sequence

from bench.growth_step import Step
from bench.leases import LeaseStep
from bench.roster import CEILING, CRAWLEE_POSTGRES, FORAGER, SAME_WORK, SCRAPY, SCRAPY_SEEN
from bench.run import Run
from bench.table import Figure
from bench.web import PLAIN

WORKER_MEMORY_MB = 300
GROWTH = 1.5
FIRST_PAGE_S = 5
RATIOS = ((SCRAPY, 10.0), (SCRAPY_SEEN, 4.0), (CRAWLEE_POSTGRES, 15.0))
"""On the plain web."""
REAL_RATIOS = ((SCRAPY, 5.0), (SAME_WORK, 30.0))
"""On pages with the make-up of real ones."""
CPU_MS = 3.0
CRAWL_MEMORY_MB = 250
CEILING_SHARE = 60.0


def judge_comparison(web: str, middles: Mapping[str, Run]) -> list[Figure]:
    ours = middles.get(FORAGER)
    if ours is None:
        return []
    figures = [
        Figure(f"{web}: Forager, 1 worker, against {peer}", ours.pages_per_s / run.pages_per_s, bound, True, "×")
        for peer, bound in (RATIOS if web == PLAIN else REAL_RATIOS)
        if (run := middles.get(peer))
    ]
    if web != PLAIN:
        figures.append(Figure(f"{web}: CPU of a page, PostgreSQL included", ours.cpu_ms, CPU_MS, False, "ms"))
        figures.append(Figure(f"{web}: memory, 1 worker (PSS)", ours.pss_mb, CRAWL_MEMORY_MB, False, "MB"))
    if CEILING in middles:
        share = ours.pages_per_s / middles[CEILING].pages_per_s * 100
        figures.append(Figure(f"{web}: Forager, 1 worker, of the ceiling", share, CEILING_SHARE, True, "%"))
    figures.append(Figure(f"{web}: from nothing to the first page", ours.first_page_s, FIRST_PAGE_S, False, "s"))
    return figures


def judge_growth(steps: Sequence[Step]) -> list[Figure]:
    if not steps:
        return []
    first, last = steps[0], steps[-1]
    sizes = f"{first.size:,} to {last.size:,} pages"
    return [
        Figure(f"Cost of claim + learn + record, {sizes}, CPU", last.cpu_us / first.cpu_us, GROWTH, False, "×"),
        Figure(f"Cost of claim + learn + record, {sizes}, time", last.passed_us / first.passed_us, GROWTH, False, "×"),
        Figure(f"A worker's memory at {last.size:,} known URLs", last.memory_mb, WORKER_MEMORY_MB, False, "MB"),
    ]


def judge_leases(steps: Sequence[LeaseStep]) -> list[Figure]:
    if not steps:
        return []
    first, last = steps[0], steps[-1]
    sizes = f"{first.size:,} to {last.size:,} domains"
    return [
        Figure(f"Cost of a claim and a release, {sizes}, CPU", last.backend_ms / first.backend_ms, GROWTH, False, "×")
    ]
