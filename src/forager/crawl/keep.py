"""The sixth verb for a batch: bodies are stored and noted down before the tasks that refer to them are recorded.

Files first, their rows in a transaction of their own (workers share them), then the tasks: after a kill there may be a
file nobody refers to, never a task that refers to nothing.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from forager.archive import Shelf, Shelved
from forager.archive import store as bodies
from forager.crawl.patience import in_transaction
from forager.db import Database
from forager.records import Outcome


async def keep(database: Database, shelf: Shelf, outcomes: Sequence[Outcome], *, run: int) -> Sequence[Outcome]:
    """The same outcomes, with refs in place of their keepsakes. A body that could not be stored leaves none."""
    keepsakes = [outcome.keepsake for outcome in outcomes if outcome.keepsake is not None]
    if not keepsakes:
        return outcomes
    shelved = await asyncio.to_thread(shelf.store, keepsakes)

    async def note(conn: Any) -> None:
        await bodies.note_bodies(conn, shelved)
        await bodies.count_bodies(conn, run, shelved)

    await in_transaction(database, note)
    return _with_refs(outcomes, shelved)


def _with_refs(outcomes: Sequence[Outcome], shelved: Sequence[Shelved]) -> list[Outcome]:
    found = iter(shelved)
    return [
        replace(outcome, body_ref=next(found).ref, keepsake=None) if outcome.keepsake is not None else outcome
        for outcome in outcomes
    ]
