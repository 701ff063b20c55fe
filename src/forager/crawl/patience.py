"""Database work that outlives a restart of the database and the loser's part in a deadlock.

Everything written this way is safe to run twice: learning ignores what is known, recording closes only open tasks.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import asyncpg

from forager import clock
from forager.db import CONNECTION_LOST, Database
from forager.errors import DatabaseUnreachableError
from forager.observe import log

T = TypeVar("T")

AGAIN = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError, asyncpg.LockNotAvailableError)
AWAY = (
    *CONNECTION_LOST,
    asyncpg.OperatorInterventionError,
    asyncpg.TooManyConnectionsError,
)
LONGEST_PAUSE_S = 2.0


async def in_transaction(
    database: Database, work: Callable[[Any], Awaitable[T]], *, give_up_after_s: float | None = None
) -> T:
    """Run `work` in a transaction until it is committed."""
    since = clock.monotonic()
    pause_s = 0.05
    while True:
        try:
            async with database.pool.acquire() as conn, conn.transaction():
                return await work(conn)
        except AGAIN as error:
            log().info("transaction again", action="database.again", error=type(error).__name__)
        except AWAY as error:
            if is_our_mistake(error):
                raise
            if give_up_after_s is not None and clock.monotonic() - since > give_up_after_s:
                raise DatabaseUnreachableError(f"The database did not come back: {error}.") from error
            log().warning("database away", action="database.away", error=f"{type(error).__name__}: {error}")
            await _revive(database)
        await asyncio.sleep(pause_s * random.uniform(0.5, 1.0))  # noqa: S311 (spreads retries, keeps no secret)
        pause_s = min(pause_s * 2, LONGEST_PAUSE_S)


def is_our_mistake(error: BaseException) -> bool:
    """The driver has one class for a closed connection and for a call it does not understand; only the words differ."""
    if not isinstance(error, asyncpg.InterfaceError):
        return False
    return not any(word in str(error) for word in ("clos", "terminated", "released", "in progress", "unexpected"))


async def _revive(database: Database) -> None:
    try:
        await database.revive()
    except (DatabaseUnreachableError, OSError) as error:
        log().warning("database stays away", action="database.away", error=str(error))
