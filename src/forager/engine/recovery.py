"""Cleans up after killed processes before anything else: marks workers dead and makes their domains claimable again."""

from pathlib import Path

from forager.db.types import Connection
from forager.domains import store as domains
from forager.engine.claims import give_back
from forager.engine.crash_marker import pop_crash_marker
from forager.frontier import store
from forager.logs import log
from forager.stats import store as stats
from forager.stats.processes import get_host_key, is_alive


async def recover(conn: Connection, *, dead_after_s: float, delay_s: float, notes: Path | None = None) -> list[str]:
    """Returns the names of the domains freed from dead workers. Idempotent; any process may run it at any time.

    The time of a dead worker's last request is unknown: its successor waits `delay_s`, the delay of its own run, before
    its first request. `notes` is the folder of the crash markers: pages that dead workers were parsing are parsed in
    isolation from now on.
    """
    running = await stats.find_running_workers(conn, get_host_key())
    dead = [(worker, pid, began) for worker, pid, began in running if not is_alive(pid, began)]
    if dead:
        await stats.mark_workers_dead(conn, [worker for worker, _, _ in dead])
        pages = [page for _, pid, began in dead if notes and (page := pop_crash_marker(notes, pid, began))]
        await store.note_crashes(conn, pages)
        log().info("workers buried", action="worker.buried", workers=[worker for worker, _, _ in dead], pages=pages)
    await _mark_dead(conn, dead_after_s)
    freed = await free_lost(conn, dead_after_s=dead_after_s, delay_s=delay_s)
    await stats.end_lost_runs(conn)
    return freed


async def reclaim(conn: Connection, *, lease_s: float, dead_after_s: float, delay_s: float) -> list[str]:
    """Frees the leases of silent workers and returns their domains. Each worker calls it every second, so that a lost
    machine's domains are claimed again as soon as its leases expire, whether or not a scheduler runs."""
    host = get_host_key()
    if not await stats.has_stale_workers(conn, silent_s=lease_s, lost_s=dead_after_s, host=host):
        return []
    await _mark_dead(conn, dead_after_s)
    freed = await free_lost(conn, dead_after_s=dead_after_s, delay_s=delay_s)
    if freed:
        log().info("domains of a silent worker reclaimed", action="leases.reclaimed", domains=len(freed))
    return freed


async def _mark_dead(conn: Connection, dead_after_s: float) -> None:
    if buried := await stats.mark_stale_dead(conn, silent_s=dead_after_s, host=get_host_key()):
        log().info("workers of another machine are silent", action="worker.buried", workers=buried)


async def free_lost(
    conn: Connection, *, dead_after_s: float, delay_s: float, strays_of: int | None = None
) -> list[str]:
    """Ends the leases of dead and silent workers, and returns their unvisited tasks to the runs."""
    freed = await domains.free_lost_leases(conn, dead_after_s=dead_after_s, delay_s=delay_s, strays_of=strays_of)
    if freed:
        await give_back(conn, list(freed))
    return list(freed.values())
