"""Probes proxies that were switched off by their failures: one that works is switched on, another waits longer.

Also probes proxies that failed with one domain only.
"""

from forager.proxies import store
from forager.proxies.probe import probe
from forager.scheduler.job import Job, JobContext
from forager.scheduler.text import things

BATCH = 64
"""Proxies probed per run: a dead proxy takes ten seconds, so other jobs wait for twenty at most."""

OLD_PAIRS = 10_000
"""Unused pairs of the default pool that are deleted per run."""


class ProbeProxiesJob(Job):
    name = "probe_proxies"
    interval_s = 60.0

    async def run(self, context: JobContext) -> str:
        due = await store.find_probes(context.connection, BATCH)
        probed = await probe(context.settings, due) if due else []
        await store.end_probes(context.connection, probed)
        await store.delete_old_pairs(context.connection, OLD_PAIRS)
        good = sum(each.error is None for each in probed)
        return f"{things(len(probed), 'proxy', 'proxies')} tried, {good:,} back"
