"""Records a purge: in `purges`, batch by batch, and twice in the audit log, before its first row is deleted and when it
ended. A purge that was killed has a start there and no end."""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from forager.accounts import audit
from forager.accounts.identity import Identity
from forager.db import statements
from forager.db.types import Connection

SQL = statements.load("forager.retention", "purges.sql")


@dataclass(frozen=True, slots=True)
class PurgeOrder:
    who: Identity
    reason: str
    is_trial: bool
    dead_after_s: float
    refresh_every_s: float | None = None
    refused_rest_s: float = 0.0

    @property
    def by(self) -> str:
        return self.who.signature


@dataclass(slots=True)
class Record:
    """What was deleted so far, and how it is audited."""

    id: int
    order: PurgeOrder
    action: str
    subject: str
    counts: Counter[str] = field(default_factory=Counter)

    async def count(self, conn: Connection, counts: Counter[str], *, closed: int = 0) -> None:
        """Counts deleted rows in the transaction that deleted them; closed tasks also separately."""
        await conn.execute(SQL["count_purge"], self.id, json.dumps(counts), closed)
        self.counts.update(counts)

    async def note(self, conn: Connection, step: str, outcome: str = audit.DONE, **more: Any) -> None:
        details = {"step": step, "purge": self.id, "reason": self.order.reason, **more}
        await audit.note(
            conn, self.order.who, self.action, kind="purge", object_id=self.subject, details=details, outcome=outcome
        )


@contextlib.asynccontextmanager
async def on_record(
    conn: Connection, order: PurgeOrder, action: str, *, what: str, subject: str
) -> AsyncIterator[Record]:
    """`action` is the name in the audit log, such as `domain.purge`; `what` is the name in the table of purges."""
    async with conn.transaction():
        purge_id = await conn.fetchval(SQL["begin_purge"], order.by, order.reason, what, subject)
        record = Record(purge_id, order, action, subject)
        await record.note(conn, "begun")
    try:
        yield record
    except (Exception, asyncio.CancelledError) as error:
        with contextlib.suppress(Exception):  # an unavailable database cannot record the end
            await record.note(conn, "stopped", audit.FAILED, error=str(error), counts=dict(record.counts))
        raise
    async with conn.transaction():
        await conn.execute(SQL["end_purge"], record.id)
        await record.note(conn, "done", counts=dict(record.counts))
