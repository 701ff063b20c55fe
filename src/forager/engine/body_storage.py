"""Stores the bodies of a batch before the tasks that refer to them are recorded.

Files are written first, then their rows in a separate transaction (workers share them), then the tasks: after a kill
there may be an unreferenced file, but never a task that refers to a missing one.

A store that is full, read-only or unavailable is a fault of our own. Outcomes whose bodies it does not accept are held
back, domains that store bodies are paused, and held outcomes are retried after 0.5, 1 … 15 s. So the number of held
outcomes is bounded by the requests in flight when the store failed. Outcomes still held when the worker exits are
released: their tasks stay open and their pages are fetched again.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from forager.db.database import Database
from forager.db.types import Connection
from forager.engine.models import PauseReason
from forager.engine.pauses import Pauses
from forager.engine.transaction_retry import in_transaction
from forager.engine.write_buffer import WriteBuffer
from forager.frontier.models import Outcome
from forager.logs import log
from forager.storage import store as bodies
from forager.storage.body_store import BodyStore, StoreResult

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 15.0


class BodyStorage:
    """`keep` stores the bodies of a batch; `run` retries those that could not be stored."""

    def __init__(
        self,
        database: Database,
        body_store: BodyStore | None,
        pauses: Pauses,
        *,
        run: int,
        buffer: WriteBuffer,
    ) -> None:
        self._database = database
        self._body_store = body_store
        self._pauses = pauses
        self._run = run
        self._buffer = buffer
        """Receives outcomes that were held back and are now stored, to be recorded."""
        self._held: list[Outcome] = []
        self._has_some = asyncio.Event()

    async def keep(self, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
        """Returns the outcomes that can be recorded, with refs in place of their bodies; holds the others back."""
        if self._body_store is None or not any(outcome.stored is not None for outcome in outcomes):
            return outcomes
        ready, failed, error = await self._store(outcomes)
        if failed:
            self._hold(failed, error)
        return ready

    async def run(self) -> None:
        """Retries held outcomes until it is cancelled."""
        while True:
            await self._has_some.wait()
            wait_s = FIRST_WAIT_S
            while self._held:
                await asyncio.sleep(wait_s)
                await self.retry_pending()
                wait_s = min(2 * wait_s, LONGEST_WAIT_S)

    def take_held(self) -> list[Outcome]:
        """Returns the outcomes that are still held when the worker exits; the caller reopens their tasks."""
        held, self._held = self._held, []
        return held

    async def retry_pending(self) -> None:
        held, self._held = self._held, []
        if not held:
            return
        try:
            ready, failed, error = await self._store(held)
        except BaseException:
            self._held += held
            raise
        for outcome in ready:
            self._buffer.add(outcome)
        if failed:
            self._hold(failed, error)
        elif not self._held:
            self._has_some.clear()
            self._pauses.end(PauseReason.STORE_UNAVAILABLE)

    def _hold(self, failed: Sequence[Outcome], error: str) -> None:
        self._held += failed
        self._has_some.set()
        self._pauses.begin(PauseReason.STORE_UNAVAILABLE, error)
        log().info("bodies held back", action="body.held", bodies=len(self._held), error=error)

    async def _store(self, outcomes: Sequence[Outcome]) -> tuple[list[Outcome], list[Outcome], str]:
        """Returns the outcomes that can be recorded, those that could not be stored, and the reason."""
        assert self._body_store is not None
        stored_bodies = [outcome.stored for outcome in outcomes if outcome.stored is not None]
        shelved = await asyncio.to_thread(self._body_store.store, stored_bodies)
        noted = [each for each in shelved if each.error is None]

        async def note(conn: Connection) -> None:
            await bodies.note_bodies(conn, noted)
            await bodies.count_bodies(conn, self._run, noted)

        if noted:
            await in_transaction(self._database, note)
        return _split_stored(outcomes, shelved)


def _split_stored(
    outcomes: Sequence[Outcome], shelved: Sequence[StoreResult]
) -> tuple[list[Outcome], list[Outcome], str]:
    found = iter(shelved)
    ready: list[Outcome] = []
    failed: list[Outcome] = []
    errors: list[str] = []
    for outcome in outcomes:
        if outcome.stored is None:
            ready.append(outcome)
            continue
        became = next(found)
        if became.error is None:
            ready.append(replace(outcome, body_ref=became.ref, stored=None))
        else:
            failed.append(outcome)
            errors.append(str(became.error).rstrip("."))
    return ready, failed, errors[0] if errors else ""
