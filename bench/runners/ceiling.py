"""The ceiling: Forager's own client and parser with nothing behind them. What lies between is what durability costs."""

from bench.run import Job, Run, Skipped
from bench.runners.peer import run_peer

MODULE = "bench.bare_crawl"


def run_ceiling(crawler: str, job: Job) -> Run | Skipped:
    return run_peer(crawler, MODULE, job)
