"""Takes batches out of the write buffer and writes two at once: while one is recorded, the next one is enqueued. Each
step waits for the database as often as for the worker's other work; run one after the other, they could not keep up
with a quick crawl.

Decides only the order. `Writer` does the writing, `LeaseKeeper` applies the results to the leases.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Protocol

from forager.domains.store import RobotsCopy
from forager.engine.batch import Draft, Recorded
from forager.engine.stop import cancel
from forager.engine.write_buffer import WriteBuffer
from forager.frontier.models import Outcome


class BatchWriter(Protocol):
    async def prepare(self, outcomes: Sequence[Outcome]) -> Draft: ...

    async def record(self, draft: Draft, robots: Sequence[RobotsCopy]) -> Recorded: ...


class BatchResults(Protocol):
    """Receives the results of batches."""

    def add_new_pages(self, domain_ids: Iterable[int]) -> None: ...

    def apply_recorded(self, recorded: Recorded) -> None: ...


class WriteLoop:
    def __init__(self, buffer: WriteBuffer, writer: BatchWriter, results: BatchResults) -> None:
        self._buffer = buffer
        self._writer = writer
        self._results = results

    async def run(self) -> None:
        """Writes until the buffer is closed and empty."""
        recording: asyncio.Task[None] | None = None
        goes_first = False
        try:
            while self._buffer.is_open:
                await self._buffer.wait_batch()
                if recording is not None and (recording.done() or goes_first):
                    await recording  # raises its error here
                    recording = None
                batch, robots = self._buffer.take()
                if batch or robots:
                    draft = await self._writer.prepare(batch)
                    self._results.add_new_pages(draft.domains_with_new_pages)
                    if recording is not None:
                        await recording
                    recording = asyncio.create_task(self._record(draft, batch, robots))
                    recording.add_done_callback(self._interrupt_if_failed)
                    goes_first = draft.goes_first
            if recording is not None:
                await recording
        finally:
            if recording is not None:
                await cancel({recording})

    async def _record(self, draft: Draft, batch: Sequence[Outcome], robots: Sequence[RobotsCopy]) -> None:
        recorded = await self._writer.record(draft, robots)
        self._buffer.remove(batch, robots)
        self._results.apply_recorded(recorded)

    def _interrupt_if_failed(self, recording: asyncio.Task[None]) -> None:
        """Interrupts the wait so that the loop raises an error at once, even if no further batch arrives."""
        if not recording.cancelled() and recording.exception() is not None:
            self._buffer.interrupt()
