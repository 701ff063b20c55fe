"""Records requests that were rejected for missing permissions: in the log, and for known users in the audit log.

Bounded: one row a minute for each user, method and path, and sixty rows a minute for each process; the next row counts
those left out. A program that sends a thousand forbidden requests a second fills no table.
"""

import asyncio

from forager import clock
from forager.accounts import audit
from forager.accounts.identity import Identity
from forager.db.pool import STATEMENT_FAILED
from forager.db.types import Pool
from forager.logs import log

EVERY_S = 60.0
MOST_ROWS = 60
MOST_REMEMBERED = 1000
ACQUIRE_S = 2.0
Key = tuple[int, str, str]


class ForbiddenLog:
    """Records rejected requests; one instance per process."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._noted_at: dict[Key, float] = {}
        self._left_out: dict[Key, int] = {}
        self._writing: set[asyncio.Task[None]] = set()
        self._minute, self._rows = 0.0, 0

    def note(self, who: Identity, method: str, path: str, error: str) -> None:
        """Returns immediately; the row is written in the background."""
        if who.user_id is None:
            log().info("denied", action="api.denied", who=who.name, ip=who.ip, method=method, path=path, error=error)
            return
        key = (who.user_id, method, path)
        if not self._should_write(key):
            self._left_out[key] = self._left_out.get(key, 0) + 1
            return
        log().warning(
            "denied",
            action="api.denied",
            who=who.signature,
            via=who.via,
            credential=who.credential_id,
            ip=who.ip,
            method=method,
            path=path,
            error=error,
        )
        task = asyncio.create_task(self._write(who, method, path, error, self._left_out.pop(key, 0)))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def close(self) -> None:
        await asyncio.gather(*self._writing, return_exceptions=True)

    def _should_write(self, key: Key) -> bool:
        now = clock.monotonic()
        if now - self._minute >= EVERY_S:
            self._minute, self._rows = now, 0
            self._noted_at = {each: at for each, at in self._noted_at.items() if now - at < EVERY_S}
            if len(self._left_out) > MOST_REMEMBERED:
                self._left_out.clear()
        if key in self._noted_at and now - self._noted_at[key] < EVERY_S:
            return False
        if self._rows >= MOST_ROWS:
            return False
        self._noted_at[key] = now
        self._rows += 1
        return True

    async def _write(self, who: Identity, method: str, path: str, error: str, left_out: int) -> None:
        details = {"error": error, "role": who.role, "scope": who.scope} | ({"left_out": left_out} if left_out else {})
        try:
            async with self._pool.acquire(timeout=ACQUIRE_S) as conn:
                await audit.note(
                    conn,
                    who,
                    "request.deny",
                    kind="request",
                    object_id=f"{method} {path}",
                    details=details,
                    outcome=audit.DENIED,
                )
        except STATEMENT_FAILED as trouble:
            log().warning("denial not noted", action="api.denial_not_noted", error=repr(trouble))
