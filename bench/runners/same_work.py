"""The stack that does the same work, on a server like the one Forager brings along, with the same settings."""

from bench.growth import running_server
from bench.measure import postmaster_below
from bench.run import Job, Run, Skipped
from bench.runners.peer import run_peer
from forager.db import embedded

MODULE = "bench.peers.same_work"
PACKAGES = ("scrapy", "trafilatura", "extruct")


def run_same_work(crawler: str, job: Job) -> Run | Skipped:
    home = job.folder / "home"
    with running_server(home):
        dsn = embedded.ensure_running(home)
        postmaster = postmaster_below(home)
        return run_peer(crawler, MODULE, job, needs=PACKAGES, mode="seen", state=dsn, postmaster=lambda: postmaster)
