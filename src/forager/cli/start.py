"""How commands begin: settings from file, environment and flags; logs; one connection to the database.

Nothing heavy is imported before a command really needs it.
"""

import errno
import os
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from forager.errors import DatabaseUnreachableError

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.db.database import Database
    from forager.db.types import Connection

T = TypeVar("T")
LONGEST_TRY_S = 30.0
"""How long a deed waits for a database that went away."""
IGNORED = "FORAGER_FILE_IGNORED"
OURS = frozenset({errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""Errors of the file or pipe we write to, which the driver's own look like."""


def begin(**flags: Any) -> "Settings":
    """Settings of this command, with its logs going to standard error at the chosen level. It is no longer root."""
    from forager import logs
    from forager.cli.root import leave_root
    from forager.config.loader import find_home, load

    leave_root(find_home(flags))
    chosen = load(flags)
    logs.configure(level=chosen.log.level, as_json=chosen.log.format == "json")
    _warn_ignored_file(chosen)
    return chosen


def _warn_ignored_file(chosen: "Settings") -> None:
    """Once, and not by every process that this one starts."""
    from forager.cli import output
    from forager.config.loader import FILE_NAME, ignored_file

    if IGNORED not in os.environ and (path := ignored_file(chosen.home)):
        os.environ[IGNORED] = "1"
        own = chosen.home / FILE_NAME
        output.say(f"forager: {path} is ignored: settings come from {own}, and from a file named with --config.")


def require_bucket(settings: "Settings") -> None:
    """A mistake about the bucket is heard of before the first page, and not when its body is lost."""
    if settings.storage.bucket is None:
        return
    from forager.storage.factory import check_bucket

    check_bucket(settings)


def whoami() -> str:
    """Who gives orders on this command line, as histories name them."""
    import getpass

    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError):  # an account without a name, as in some containers
        return "cli"


def run_fast(work: Coroutine[Any, Any, T]) -> T:
    """On uvloop where there is one: about a third less of our own time per request."""
    import asyncio

    try:
        from uvloop import new_event_loop
    except ImportError:  # not on Windows
        return asyncio.run(work)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(work)


def run_query(settings: "Settings", command: str, question: Callable[[Any], Awaitable[T]]) -> T:
    """One read-only question to the database, answered from a single snapshot."""
    import asyncio

    return asyncio.run(_run_query(settings, command, question))


class Noted(NamedTuple):
    """What the audit log is told of a deed, in the words the API uses for the same one."""

    action: str
    kind: str
    which: object = None
    details: Mapping[str, Any] = {}


def run_action(
    settings: "Settings",
    command: str,
    deed: Callable[[Any], Awaitable[T]],
    *,
    noted: Callable[[T], Noted | None] | None,
) -> T:
    """One deed on one connection in one transaction, with its note in the audit log; once this returns it is done and
    will not be forgotten. `noted` tells from what was done what is to be noted: None for a trial. Without it the deed
    notes itself."""
    import asyncio

    from forager.db.database import open_database
    from forager.engine.transaction_retry import in_transaction

    async def with_note(connection: "Connection") -> T:
        done = await deed(connection)
        if noted is not None and (entry := noted(done)) is not None:
            await note_on(connection, entry)
        return done

    async def once() -> T:
        async with open_database(settings, size=1, application=f"forager {command}") as database:
            return await in_transaction(database, with_note, give_up_after_s=LONGEST_TRY_S)

    return asyncio.run(once())


async def note(database: "Database", entry: Noted) -> None:
    """Of work in many transactions, once it is done."""
    from forager.engine.transaction_retry import in_transaction

    await in_transaction(database, lambda connection: note_on(connection, entry), give_up_after_s=LONGEST_TRY_S)


async def note_on(connection: "Connection", entry: Noted) -> None:
    """In the transaction of whoever calls."""
    from forager.accounts import audit
    from forager.accounts.identity import operator

    which = None if entry.which is None else str(entry.which)
    who, said = operator(whoami()), {name: value for name, value in entry.details.items() if value is not None}
    await audit.note(connection, who, entry.action, kind=entry.kind, object_id=which, details=said)


def repair(
    settings: "Settings",
    command: str,
    work: Callable[[Any], Awaitable[T]],
    *,
    noted: Callable[[T], Noted | None] | None = None,
) -> T:
    """Work that opens transactions of its own, many of them: it is handed the pool. `noted` tells from what was done
    what the audit log is told once it is done: None where nothing was changed. Without it the work only looks, or
    notes itself."""
    import asyncio

    from forager.db.database import open_database
    from forager.db.pool import CONNECTION_LOST

    async def once() -> T:
        async with open_database(settings, size=2, application=f"forager {command}") as database:
            try:
                done = await work(database.pool)
                if noted is not None and (entry := noted(done)) is not None:
                    await note(database, entry)
                return done
            except CONNECTION_LOST as error:
                raise DatabaseUnreachableError(f"The database went away: {error}. Run it again.") from None

    return asyncio.run(once())


async def _run_query(settings: "Settings", command: str, question: Callable[[Any], Awaitable[T]]) -> T:
    from forager.db.database import open_database
    from forager.db.pool import CONNECTION_LOST

    async with open_database(settings, size=1, application=f"forager {command}") as database:
        try:
            async with (
                database.pool.acquire() as connection,
                connection.transaction(isolation="repeatable_read", readonly=True),
            ):
                return await question(connection)
        except CONNECTION_LOST as error:
            if isinstance(error, OSError) and error.errno in OURS:
                raise
            raise DatabaseUnreachableError(f"The database went away while it was asked: {error}. Try again.") from None
