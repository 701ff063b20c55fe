"""A streaming replica that may be asked in the database's place: looked at every second, and never trusted for longer.

      not looked at yet │ away │ no replica any more │ of another database │ another schema │ behind  →  not asked
                                                                                          in step    →  asked

How far it is behind is reckoned by our own clock: every second it is noted how far the primary had written, and how
much of that the replica has replayed. So it holds on an idle primary, and whatever the clocks of the servers say.

A position in the log that was replayed stays so, on one connection. A replica that crashes may come back before it:
its connections are gone then, and each new one is refused unless it is as far as the last look was.
"""

import asyncio
import contextlib
import weakref
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from forager import clock
from forager.db import statements
from forager.db.dsn import place_of
from forager.db.pool import STATEMENT_FAILED, close_pool, connect, open_pool
from forager.errors import ConfigurationError
from forager.observe import log

SQL = statements.load("forager.db", "replica.sql")
LOOK_EVERY_S = 1.0
LOOK_WITHIN_S = 2.0
STALE_S = 5.0
"""A look that is older says nothing."""
MOST_NOTES = 3600
TROUBLE: tuple[type[BaseException], ...] = (*STATEMENT_FAILED, ConfigurationError)


class State(StrEnum):
    """The words are what /health tells."""

    NEW = "was not looked at yet"
    AWAY = "does not answer"
    NO_REPLICA = "is no replica, or was promoted"
    FOREIGN = "is a copy of another database"
    SCHEMA = "has another schema than the database"
    BEHIND = "is too far behind"
    IN_STEP = "answers"


@dataclass(frozen=True, slots=True)
class Found:
    """What one look at both servers found."""

    written: int
    replayed: int
    is_replica: bool
    is_same: bool
    has_schema: bool
    keeps_rows: bool


class Progress:
    """How far a replica is behind. Pure."""

    def __init__(self) -> None:
        self._notes: deque[tuple[float, int]] = deque()
        """When the primary had written how far, of what is not replayed yet."""
        self._fresh_at: float | None = None
        """All that was written until then is replayed."""

    def note(self, at: float, written: int) -> None:
        self._notes.append((at, written))
        if len(self._notes) > MOST_NOTES:
            self._notes = deque(list(self._notes)[::2])

    def reach(self, replayed: int) -> None:
        while self._notes and self._notes[0][1] <= replayed:
            self._fresh_at = self._notes.popleft()[0]

    def lag_s(self, now: float) -> float | None:
        """None: nothing that was written since the first note is replayed."""
        return None if self._fresh_at is None else max(0.0, now - self._fresh_at)


class Replica:
    def __init__(self, primary: Any, dsn: str, *, max_lag_s: float, keeps_statements: bool) -> None:
        self._primary = primary
        self._dsn = dsn
        self._max_lag_s = max_lag_s
        self._keeps_statements = keeps_statements
        self._progress = Progress()
        self._connections: weakref.WeakSet[Any] = weakref.WeakSet()
        self._eye: Any = None
        self._looked_at = 0.0
        self._replayed = 0
        self._wake = asyncio.Event()
        self._looked = asyncio.Condition()
        self._began = self._ended = 0
        self.state = State.NEW
        self.keeps_rows = False
        self.pool: Any = None

    @property
    def place(self) -> str:
        return place_of(self._dsn)

    @property
    def lag_s(self) -> float | None:
        """At most so much of what was written lately is missing."""
        return self._progress.lag_s(clock.monotonic())

    @property
    def is_in_step(self) -> bool:
        lag_s = self.lag_s
        is_known = self.state is State.IN_STEP and clock.monotonic() - self._looked_at <= STALE_S
        return is_known and lag_s is not None and lag_s <= self._max_lag_s

    def has(self, position: int | None) -> bool:
        """Whether it may be asked by somebody who must see what was written up to there."""
        return self.is_in_step and (position is None or position <= self._replayed)

    def doubt(self, error: BaseException) -> None:
        """It failed somebody: nobody asks until it was looked at again. Not at once, so that one which takes nobody but
        who looks is tried once a second and not by every request."""
        if self.state is State.IN_STEP:
            self._move(State.AWAY, repr(error))

    async def wait_next_check(self) -> None:
        """Until a look has ended that begins now or later."""
        async with self._looked:
            wanted = self._began + 1
            self._wake.set()
            await self._looked.wait_for(lambda: self._ended >= wanted)

    @contextlib.asynccontextmanager
    async def open(
        self, *, size: int, idle_limit_s: float | None = None, statement_limit_s: float | None = None
    ) -> AsyncIterator["Replica"]:
        """Dials in the background: a replica that is away is no reason not to start."""
        self.pool = await open_pool(
            self._dsn,
            size=size,
            application="forager api",
            keeps_statements=self._keeps_statements,
            at_once=0,
            greet=self._greet,
            idle_limit_s=idle_limit_s,
            statement_limit_s=statement_limit_s,
        )
        watching = asyncio.create_task(self._watch())
        try:
            yield self
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            self._close_monitor()
            await close_pool(self.pool)

    async def _greet(self, connection: Any) -> None:
        replayed = await connection.fetchval(SQL["read_replayed"], timeout=LOOK_WITHIN_S)
        if replayed is None or replayed < self._replayed:
            raise ConnectionResetError("the replica is not where it was")
        self._connections.add(connection)

    async def _watch(self) -> None:
        while True:
            self._wake.clear()
            self._began += 1
            began = self._began
            await self._look()
            async with self._looked:
                self._ended = began
                self._looked.notify_all()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self._wake.wait()

    async def _look(self) -> None:
        at = clock.monotonic()
        try:
            async with asyncio.timeout(LOOK_WITHIN_S), self._primary.acquire() as conn:
                ours = await conn.fetchrow(SQL["read_primary"])
        except TROUBLE:
            return  # nothing is learned about the replica; a look that is old says nothing
        self._progress.note(at, ours["position"])
        try:
            async with asyncio.timeout(LOOK_WITHIN_S):
                theirs = await self._query_replica()
        except TROUBLE as error:
            self._close_monitor()
            self._move(State.AWAY, repr(error))
            self._cut()
            return
        found = Found(
            ours["position"],
            theirs["position"],
            theirs["is_replica"],
            theirs["identity"] == ours["identity"],
            theirs["revision"] == ours["revision"],
            theirs["keeps_rows"],
        )
        self._learn(found, clock.monotonic())

    def _learn(self, found: Found, now: float) -> None:
        self._looked_at = now
        self.keeps_rows = found.keeps_rows
        if found.is_replica and found.is_same:
            self._replayed = found.replayed
            self._progress.reach(found.replayed)
        self._move(judge(found, self._progress.lag_s(now), self._max_lag_s))

    async def _query_replica(self) -> Any:
        if self._eye is None or self._eye.is_closed():
            self._eye = await connect(
                self._dsn, application="forager api watch", keeps_statements=self._keeps_statements
            )
        return await self._eye.fetchrow(SQL["read_replica"])

    def _close_monitor(self) -> None:
        eye, self._eye = self._eye, None
        if eye is not None:
            eye.terminate()

    def _cut(self) -> None:
        """Who waits for its answer is not kept: a frozen server gives none, and the primary does at once."""
        for connection in list(self._connections):
            connection.terminate()

    def _move(self, state: State, why: str = "") -> None:
        if state is self.state:
            return
        self.state = state
        if state is State.IN_STEP:
            log().info("replica is asked", action="replica.asked", place=self.place)
        else:
            log().warning(f"replica {state}", action="replica.left_out", place=self.place, error=why)


def judge(found: Found, lag_s: float | None, max_lag_s: float) -> State:
    if not found.is_replica:
        return State.NO_REPLICA
    if not found.is_same:
        return State.FOREIGN
    if not found.has_schema:
        return State.SCHEMA
    return State.BEHIND if lag_s is None or lag_s > max_lag_s else State.IN_STEP


async def read_wal_position(conn: Any) -> int:
    """A position behind everything that was committed before."""
    position: int = await conn.fetchval(SQL["read_written"])
    return position
