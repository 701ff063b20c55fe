"""What a kill leaves behind is put right before anything else: dead workers buried, their domains claimable again."""

from typing import Any

from forager.crawl.claims import give_back
from forager.domains import store as domains
from forager.observe import log
from forager.stats import store as stats
from forager.stats.processes import is_alive, this_host


async def recover(conn: Any, *, dead_after_s: float, delay_s: float = 0.0) -> list[str]:
    """Names of the domains that were taken from the dead. Idempotent; any process may run it at any time.

    When the dead asked last nobody knows: their successor waits `delay_s`, the pace of its own run, before it asks.
    """
    running = await stats.find_running_workers(conn, this_host())
    dead = [worker for worker, pid, began in running if not is_alive(pid, began)]
    if dead:
        await stats.bury_workers(conn, dead)
        log().info("workers buried", action="worker.buried", workers=dead)
    freed = await free_lost(conn, dead_after_s=dead_after_s, delay_s=delay_s)
    await stats.end_lost_runs(conn)
    return freed


async def free_lost(conn: Any, *, dead_after_s: float, delay_s: float = 0.0, strays_of: int | None = None) -> list[str]:
    """Leases of the dead and silent end, and what they had taken and not visited goes back to its runs."""
    freed = await domains.free_lost_leases(conn, dead_after_s=dead_after_s, delay_s=delay_s, strays_of=strays_of)
    if freed:
        await give_back(conn, list(freed))
    return list(freed.values())
