"""Starts commands: settings from file, environment and flags; logs; one connection to the database.

Nothing heavy is imported before a command needs it.
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
"""How long an action waits for a database that became unavailable."""
IGNORED = "FORAGER_FILE_IGNORED"
OURS = frozenset({errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""Errors of the file or pipe we write to, which resemble the driver's own."""


def begin(**flags: Any) -> "Settings":
    """Returns the settings of this command, and sends logs to standard error at the chosen level. Root privileges are
    dropped: the program may be started anew by another account, so standard input is read only after this."""
    from forager import logs
    from forager.cli.root import leave_root
    from forager.config.loader import find_home, load
    from forager.plugins.config import use_plugins

    leave_root(find_home(flags))
    chosen = load(flags)
    use_plugins(chosen)
    logs.configure(level=chosen.log.level, as_json=chosen.log.format == "json")
    _warn_ignored_file(chosen)
    return chosen


def read_settings(**flags: Any) -> "Settings":
    """Returns the settings of this command, for one that only shows them: nothing is created, and root stays root."""
    from forager import logs
    from forager.config.loader import load

    chosen = load(flags, is_only_shown=True)
    logs.configure(level=chosen.log.level, as_json=chosen.log.format == "json")
    _warn_ignored_file(chosen)
    return chosen


def _warn_ignored_file(chosen: "Settings") -> None:
    """Warns once, and not in every child process."""
    from forager.cli import output
    from forager.config.loader import FILE_NAME, ignored_file

    if IGNORED not in os.environ and (path := ignored_file(chosen.home)):
        os.environ[IGNORED] = "1"
        own = chosen.home / FILE_NAME
        output.complain(f"{path} is ignored: settings come from {own}, and from a file named with --config.")


def require_bucket(settings: "Settings") -> None:
    """Checks the bucket, so that a mistake is reported before the first page, and not when its body is lost."""
    if settings.storage.bucket is None:
        return
    from forager.storage.factory import check_bucket

    check_bucket(settings)


def whoami() -> str:
    """Returns who runs this command, as histories name them."""
    import getpass

    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError):  # an account without a name, as in some containers
        return "cli"


def run_fast(work: Coroutine[Any, Any, T]) -> T:
    """Runs on uvloop if available: about a third less of our own time per request."""
    import asyncio

    try:
        from uvloop import new_event_loop
    except ImportError:  # not on Windows
        return asyncio.run(work)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(work)


def run_query(settings: "Settings", command: str, question: Callable[[Any], Awaitable[T]]) -> T:
    """Runs one read-only query against a single snapshot of the database."""
    import asyncio

    return asyncio.run(_run_query(settings, command, question))


class Noted(NamedTuple):
    """An entry of the audit log for an action, with the names the API uses for the same one."""

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
    """Runs one action on one connection in one transaction, with its entry in the audit log; it is durable once this
    returns. `noted` builds the entry from the result: None for a dry run. Without it the action writes its own
    entry."""
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
    """Adds the entry for work in many transactions, once it is done."""
    from forager.engine.transaction_retry import in_transaction

    await in_transaction(database, lambda connection: note_on(connection, entry), give_up_after_s=LONGEST_TRY_S)


async def note_on(connection: "Connection", entry: Noted) -> None:
    """Adds the entry in the caller's transaction."""
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
    """Runs work that opens many transactions of its own: it gets the pool. `noted` builds the audit entry from the
    result: None if nothing was changed. Without it the work only reads, or writes its own entry."""
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
