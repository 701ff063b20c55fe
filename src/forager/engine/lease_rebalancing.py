"""Domains move to workers that have next to none: whoever has more than an even share hands the rest of it back.

A claim is fair among those who are there, but a lease lasts for a thousand pages: a worker that is started later would
wait for a quarter of an hour. Decides only what to give; it goes as after an operator's pause, and a worker that gave
claims nothing for a moment, so that others come first. Somebody who took nothing of it is left alone for a while: it
may be frozen, or full with less.
"""

from forager import clock
from forager.db.database import Database
from forager.domains import store as domains
from forager.engine.transaction_retry import in_transaction

STEP_BACK_S = 5.0
"""Several looks of an idle worker, and one of who sends hints."""
AGAIN_S = 600.0


class LeaseRebalancer:
    def __init__(self, database: Database, run: int) -> None:
        self._database = database
        self._run = run
        self._offered: dict[int, tuple[int, float]] = {}
        """Worker → what it held when something was handed back for it, and when that was."""
        self._back_at = 0.0

    def should_yield(self) -> bool:
        """Whether others come first now."""
        return clock.monotonic() < self._back_at

    async def surplus(self, worker: int, *, heard_s: float) -> list[int]:
        """Domains to be handed back now."""
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
