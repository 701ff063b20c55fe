"""Scrapy, tuned, in three ways of remembering what it has seen, and in two processes."""

from bench.run import Job, Run, Skipped
from bench.runners.peer import run_peer

PACKAGE = "scrapy"
MODULE = "bench.peers.scrapy_spider"


def run_memory(crawler: str, job: Job) -> Run | Skipped:
    return run_peer(crawler, MODULE, job, needs=(PACKAGE,), mode="memory")


def run_seen(crawler: str, job: Job) -> Run | Skipped:
    return run_peer(crawler, MODULE, job, needs=(PACKAGE,), mode="seen")


def run_two_processes(crawler: str, job: Job) -> Run | Skipped:
    return run_peer(crawler, MODULE, job, needs=(PACKAGE,), mode="seen", processes=2)


def run_jobdir(crawler: str, job: Job) -> Run | Skipped:
    return run_peer(crawler, MODULE, job, needs=(PACKAGE,), mode="jobdir", state=str(job.folder / "jobdir"))
