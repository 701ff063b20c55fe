"""Moves domains to workers that have almost none: a worker with more than an even share releases the excess.

Claims are fair among the workers present, but a lease lasts for a thousand pages: a worker started later would wait a
quarter of an hour. This module only decides what to release; the release works as after an operator's pause, and the
releasing worker claims nothing for a moment, so that others come first. A worker that took none of the released domains
is ignored for a while: it may be frozen, or at its limit.
"""

from forager import clock
from forager.db.database import Database
from forager.domains import store as domains
from forager.engine.transaction_retry import in_transaction

STEP_BACK_S = 5.0
"""Covers several polls of an idle worker, and one of the process that sends hints."""
AGAIN_S = 600.0


class LeaseRebalancer:
    def __init__(self, database: Database, run: int) -> None:
        self._database = database
        self._run = run
        self._offered: dict[int, tuple[int, float]] = {}
        """Worker → the number of domains it held when some were released for it, and when that was."""
        self._back_at = 0.0

    def should_yield(self) -> bool:
        """Returns whether this worker must let others claim first."""
        return clock.monotonic() < self._back_at

    async def surplus(self, worker: int, *, heard_s: float) -> list[int]:
        """Returns the domains to release now."""
        spare, poor = await in_transaction(
            self._database, lambda conn: domains.find_extra_domains(conn, worker=worker, run=self._run, heard_s=heard_s)
        )
        now = clock.monotonic()
        self._offered = {who: offer for who, offer in self._offered.items() if now < offer[1] + AGAIN_S}
        news = {who: held for who, held in poor.items() if who not in self._offered or held > self._offered[who][0]}
        if not spare or not news:
            return []
        self._offered |= {who: (held, now) for who, held in news.items()}
        self._back_at = now + STEP_BACK_S
        return spare
