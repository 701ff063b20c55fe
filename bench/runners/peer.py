"""Starts a crawler that follows a written order and leaves a ledger: all but Forager itself."""

import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from bench.child import run_child
from bench.ledger import Ledger
from bench.peers.order import PeerOrder
from bench.run import Job, Run, Skipped, conclude


def run_peer(
    crawler: str,
    module: str,
    job: Job,
    *,
    mode: str = "",
    state: str = "",
    needs: Sequence[str] = (),
    processes: int = 1,
    postmaster: Callable[[], int | None] | None = None,
) -> Run | Skipped:
    if absent := [package for package in needs if find_spec(package) is None]:
        return Skipped(crawler, f"{absent[0]} is not installed; `make bench` installs it")
    order, ledger = job.folder / "order.json", job.folder / "ledger.json"
    PeerOrder(list(job.seeds), mode, job.per_site, str(ledger), state, processes).write(order)
    ran = run_child(
        [sys.executable, "-m", module, str(order)],
        folder=job.folder,
        timeout_s=job.timeout_s,
        postmaster=postmaster or (lambda: None),
    )
    found = Ledger.read(ledger) if ledger.exists() else Ledger()
    return conclude(crawler, job, ran, found, has_postgres=postmaster is not None)
