"""Proxies that their failures switched off are tried again; one that works is switched on, another waits longer.

So are proxies that failed with one domain only. How to try one is handed in: this floor dials nobody.
"""

from typing import Any

from forager.proxies import store
from forager.scheduler.config import SchedulerConfig
from forager.scheduler.text import things

NAME = "probe_proxies"
EVERY_S = 60.0
BATCH = 64
"""Tried in one round: with a dead one taking ten seconds, the other duties wait for twenty at most."""


async def run_once(conn: Any, order: SchedulerConfig) -> str:
    due = await store.find_probes(conn, BATCH)
    probed = await order.probe(due) if due else []
    await store.end_probes(conn, probed)
    good = sum(each.error is None for each in probed)
    return f"{things(len(probed), 'proxy', 'proxies')} tried, {good:,} back"
