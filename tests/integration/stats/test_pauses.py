"""A worker that is paused for a reason of our own says so with its heartbeat; lists, health and alerts pass it on."""

from tests.ground import Ground
from tests.integration.scheduler.stage import a_context

from forager import clock
from forager.alerts import jobs as alerts
from forager.alerts.rules import worker_paused
from forager.api.system import _workers
from forager.engine.models import Pause, PauseReason
from forager.stats import store as stats
from forager.workers import queries as worker_queries
from forager.workers.commands.workers import state_of

NO_ROOM = "bodies cannot be stored (No space left on device)"


async def test_a_pause_is_told_everywhere_until_it_is_over(ground: Ground) -> None:
    worker = await ground.a_worker()
    since = clock.monotonic() - 30
    pause = Pause(PauseReason.STORE_UNAVAILABLE, "No space left on device", since)
    assert await stats.heartbeat(ground.conn, worker, pause)

    [row] = await worker_queries.list_workers(ground.conn, dead_after_s=60.0, limit=5)
    assert (row["pause_reason"], row["pause_detail"]) == ("store_unavailable", "No space left on device")
    assert 29 < (row["heartbeat_at"] - row["paused_since"]).total_seconds() < 60
    assert state_of(row).text == f"paused: {NO_ROOM}"
    health = _workers(await worker_queries.count_parts(ground.conn, dead_after_s=60.0))
    assert health == {"state": "degraded", "detail": f"1 alive, 1 paused: {NO_ROOM}"}
    [finding] = worker_paused(await alerts.gather(a_context(ground.conn)))
    assert (finding.rule, finding.subject) == ("worker_paused", "store_unavailable")
    assert finding.message == f"Worker {worker} is paused: {NO_ROOM}."

    assert await stats.heartbeat(ground.conn, worker)
    [row] = await worker_queries.list_workers(ground.conn, dead_after_s=60.0, limit=5)
    assert (row["pause_reason"], row["paused_since"], state_of(row).text) == (None, None, "running")
    assert _workers(await worker_queries.count_parts(ground.conn, dead_after_s=60.0))["state"] == "ok"
