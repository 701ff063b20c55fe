"""spider-rs, the crawler in Rust, by its package for Node: it fetches and finds links, and stores nothing."""

import shutil
import sys
from pathlib import Path

from bench.child import ROOT, run_child
from bench.ledger import Ledger
from bench.peers.order import PeerOrder
from bench.run import Job, Run, Skipped, conclude

SCRIPT = ROOT / "bench/peers/spider_rs.cjs"
FOLDER = Path(sys.prefix) / "spider-rs"
"""Where `make bench` puts the package."""


def run_spider(crawler: str, job: Job) -> Run | Skipped:
    node = shutil.which("node")
    if node is None or not (FOLDER / "node_modules/@spider-rs/spider-rs").exists():
        return Skipped(crawler, "its npm package is not installed; `make bench` tries to, where there is npm")
    order, ledger = job.folder / "order.json", job.folder / "ledger.json"
    PeerOrder(list(job.seeds), "", job.per_site, str(ledger)).write(order)
    ran = run_child(
        [node, str(SCRIPT), str(order)],
        folder=job.folder,
        timeout_s=job.timeout_s,
        environment={"NODE_PATH": str(FOLDER / "node_modules")},
    )
    found = Ledger.read(ledger) if ledger.exists() else Ledger()
    return conclude(crawler, job, ran, found, reads_titles=False)
