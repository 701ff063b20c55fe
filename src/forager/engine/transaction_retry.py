"""Database transactions that survive a restart of the database and losing a deadlock.

Everything written this way is safe to run twice: enqueueing ignores known URLs, recording closes only open tasks. A
visit cannot be recorded twice, because the task's row closes once, under the lease's version.

A transaction is retried after 0.1, 0.2, 0.4 … 2 s, without limit: nothing that was fetched is discarded. Meanwhile
outcomes collect in the write buffer, which is bounded, and no request is sent without a lease.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import asyncpg

from forager import clock
from forager.db.cancelled import give_up_if_cancelled
from forager.db.database import Database
from forager.db.pool import CONNECTION_LOST
from forager.db.types import Connection
from forager.errors import DatabaseUnreachableError, UserError
from forager.logs import log

T = TypeVar("T")

AGAIN: tuple[type[BaseException], ...] = (
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.LockNotAvailableError,
)
UNWRITABLE: tuple[type[BaseException], ...] = (
    asyncpg.DiskFullError,
    asyncpg.OutOfMemoryError,
    asyncpg.ReadOnlySQLTransactionError,  # a failover, or an administrator, made it read-only
    asyncpg.PostgresSystemError,  # its files cannot be read or written
)
"""Errors of a statement when the server responds but accepts no writes."""
AWAY: tuple[type[BaseException], ...] = (
    *CONNECTION_LOST,
    *UNWRITABLE,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
)
"""Errors of a statement when the database is unavailable for any reason."""
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 2.0
SILENCE_S = 5.0
"""A transaction that takes longer is logged. It is not cancelled: a server that was frozen resumes it."""


async def in_transaction(
    database: Database, work: Callable[[Connection], Awaitable[T]], *, give_up_after_s: float | None = None
) -> T:
    """Runs `work` in a transaction, and retries it until it is committed."""
    since = clock.monotonic()
    pause_s = FIRST_PAUSE_S
    with database.absence.waiting() as wait:
        while True:
            try:
                return await _try_once(database, work)
            except AGAIN as error:
                log().info("transaction again", action="database.again", error=type(error).__name__)
            except AWAY as error:
                give_up_if_cancelled()
                if is_usage_error(error) or isinstance(error, asyncpg.UndefinedFileError):  # a lost file stays lost
                    raise
                if give_up_after_s is not None and clock.monotonic() - since > give_up_after_s:
                    raise DatabaseUnreachableError(unavailable_message(error)) from error
                _note_failure(database, error)
                wait.note(clock.monotonic(), reason_of(error))
                await _reconnect(database)
            await asyncio.sleep(pause_s * random.uniform(0.5, 1.0))  # noqa: S311 (spreads retries, keeps no secret)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)


def reason_of(error: BaseException) -> str:
    """Returns why the database is unavailable, in one line for an operator."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def unavailable_message(error: BaseException) -> str:
    """Returns the message of a command that waited for the database in vain, with what to do."""
    reason = reason_of(error)
    match error:
        case asyncpg.DiskFullError():
            return f"The database's disk is full ({reason}): make room there, then run it again."
        case asyncpg.ReadOnlySQLTransactionError():
            return f"The database is read-only ({reason}): make it writable, then run it again."
        case asyncpg.InsufficientResourcesError() | asyncpg.PostgresSystemError():
            return f"The database takes no writes ({reason}): look after its server, then run it again."
        case _:
            return f"The database did not come back: {reason}."


async def _try_once(database: Database, work: Callable[[Connection], Awaitable[T]]) -> T:
    timer = asyncio.get_running_loop().call_later(SILENCE_S, _log_timeout)
    try:
        async with database.pool.acquire() as conn, conn.transaction():
            done = await work(conn)
    finally:
        timer.cancel()
    away_s = database.absence.record_success(clock.monotonic())
    if away_s is not None:
        log().warning("database back", action="database.back", away_s=round(away_s, 1))
    return done


def _log_timeout() -> None:
    log().warning("database silent", action="database.silent", seconds=SILENCE_S)


def _note_failure(database: Database, error: BaseException) -> None:
    why = f"{type(error).__name__}: {error}"
    if database.absence.note_failure(clock.monotonic()):
        log().error("database away, what was fetched is kept until it is back", action="database.away", error=why)
    else:
        log().info("database does not answer", action="database.away", error=why)


def is_usage_error(error: BaseException) -> bool:
    """Returns whether the error is a wrong call: the driver has one class for it and for a closed connection; only the
    messages differ."""
    if not isinstance(error, asyncpg.InterfaceError):
        return False
    return not any(word in str(error) for word in ("clos", "terminated", "released", "in progress", "unexpected"))


async def _reconnect(database: Database) -> None:
    try:
        await database.revive()
    except (UserError, OSError) as error:
        log().info("database stays away", action="database.away", error=str(error))
