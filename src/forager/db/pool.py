"""Opens connections and pools, detects half-open connections on both sides, and translates driver errors into one
sentence.

Knows nothing of Forager's tables, and never shows a password.
"""

import asyncio
import contextlib
import os
import socket
import ssl
import sys
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import asyncpg

from forager.db import core_types
from forager.db.dsn import place_of
from forager.errors import ConfigurationError, DatabaseUnreachableError

CONNECT_TIMEOUT_S = 10.0
CLOSE_TIMEOUT_S = 10.0
OLDEST_SERVER = 15
QUIET_S, PROBE_S, PROBES = 10, 5, 3
"""TCP keepalive: idle time before the first probe, interval between probes and number of probes; 25 s in all."""
UNHEARD_S = QUIET_S + PROBE_S * PROBES
SERVER_WATCH = {
    "tcp_keepalives_idle": str(QUIET_S),
    "tcp_keepalives_interval": str(PROBE_S),
    "tcp_keepalives_count": str(PROBES),
    "tcp_user_timeout": f"{UNHEARD_S}s",
}
PLANS = {"plan_cache_mode": "force_custom_plan"}
T = TypeVar("T")

CONNECTION_LOST: tuple[type[BaseException], ...] = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.InternalClientError,  # the server was killed in mid-message: the driver finds its own state inconsistent
    DatabaseUnreachableError,
)
"""Raised by a statement when the server went away: call `Database.revive`, then retry."""
STATEMENT_FAILED: tuple[type[BaseException], ...] = (*CONNECTION_LOST, asyncpg.PostgresError)
"""Everything that a statement may raise; a timeout is an OSError."""


async def open_pool(
    dsn: str,
    *,
    size: int,
    application: str,
    idle_limit_s: float | None = None,
    statement_limit_s: float | None = None,
    keeps_statements: bool = True,
    resets: bool = True,
    greet: Callable[[Any], Awaitable[None]] | None = None,
) -> asyncpg.Pool:
    """Opens a pool with one connection, so that errors show here, and up to `size` later. `greet` is called with each
    new one.

    The server ends a transaction that is idle for `idle_limit_s`, which releases its locks, and cancels a statement
    that takes longer than `statement_limit_s`. Without `keeps_statements` no statement stays prepared after a
    transaction, for poolers that then give the connection to another client. Without `resets` a released connection
    keeps its session: this saves a round trip for callers that only run transactions, set nothing and hold no other
    lock.
    """

    async def open_one(options: dict[str, Any]) -> asyncpg.Pool:
        return await asyncpg.create_pool(dsn, min_size=1, max_size=size, init=partial(_welcome, greet), **options)

    with translate_errors(dsn):
        options = _options(application, idle_limit_s, statement_limit_s, keeps_statements=keeps_statements)
        if not resets:
            options["reset"] = _leave_as_it_is
        return await _watched_by_server(open_one, options)


async def _leave_as_it_is(_connection: Any) -> None:
    """Does nothing: the driver itself rolls back an open transaction."""


async def connect(dsn: str, *, application: str, keeps_statements: bool = True) -> asyncpg.Connection:
    """Opens a single connection, for work that must not wait for the pool."""

    async def open_one(options: dict[str, Any]) -> asyncpg.Connection:
        return await asyncpg.connect(dsn, **options)

    with translate_errors(dsn):
        connection = await _watched_by_server(open_one, _options(application, keeps_statements=keeps_statements))
        await _welcome(None, connection)
        return connection


async def close(connection: asyncpg.Connection) -> None:
    try:
        await connection.close(timeout=CLOSE_TIMEOUT_S)
    except CONNECTION_LOST:
        connection.terminate()


async def close_pool(pool: asyncpg.Pool) -> None:
    """Waits for running statements, with a limit: a dead server completes none."""
    try:
        await asyncio.wait_for(pool.close(), CLOSE_TIMEOUT_S)
    except CONNECTION_LOST:
        pool.terminate()


def _options(
    application: str,
    idle_limit_s: float | None = None,
    statement_limit_s: float | None = None,
    *,
    keeps_statements: bool = True,
) -> dict[str, Any]:
    settings = {"application_name": application[:63], "timezone": "UTC", "jit": "off"}
    if idle_limit_s is not None:
        settings["idle_in_transaction_session_timeout"] = f"{round(idle_limit_s * 1000)}ms"
    if statement_limit_s is not None:
        settings["statement_timeout"] = f"{round(statement_limit_s * 1000)}ms"
        # Callers with a statement limit query lists with optional filters: a generic plan would scan the whole table.
        settings |= PLANS
    options: dict[str, Any] = {"timeout": CONNECT_TIMEOUT_S, "server_settings": settings}
    return options if keeps_statements else options | {"statement_cache_size": 0}


async def _watched_by_server(open_one: Callable[[dict[str, Any]], Awaitable[T]], options: dict[str, Any]) -> T:
    """Has the server check that its client still exists; otherwise it keeps the locks of a vanished client for hours.
    PgBouncer rejects the setting, and does its own checks."""
    watched = options | {"server_settings": options["server_settings"] | SERVER_WATCH}
    try:
        return await open_one(watched)
    except asyncpg.ProtocolViolationError:
        bare = {name: value for name, value in options["server_settings"].items() if name not in PLANS}
        return await open_one(options | {"server_settings": bare})


async def _welcome(greet: Callable[[Any], Awaitable[None]] | None, connection: Any) -> None:
    _enable_keepalive(connection)
    core_types.register_types(connection)
    if greet is not None:
        await greet(connection)


def _enable_keepalive(connection: Any) -> None:
    """Detects a server that vanished silently within 25 s, whichever side is waiting for the other."""
    found = connection._transport.get_extra_info("socket")  # noqa: SLF001 (asyncpg has no public door to its socket)
    if found is None or found.family not in {socket.AF_INET, socket.AF_INET6}:
        return
    with socket.socket(fileno=os.dup(found.fileno())) as tcp:
        for level, option, value in tcp_options():
            tcp.setsockopt(level, option, value)


def tcp_options() -> Iterator[tuple[int, int, int]]:
    """Yields level, option and value of each socket option; the server sets the same on its side."""
    yield socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1
    yield socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, PROBE_S
    yield socket.IPPROTO_TCP, socket.TCP_KEEPCNT, PROBES
    if sys.platform == "linux":
        yield socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, QUIET_S
        yield socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNHEARD_S * 1000
    elif sys.platform == "darwin":
        yield socket.IPPROTO_TCP, 0x10, QUIET_S  # TCP_KEEPALIVE, the name of the idle time here


@contextlib.contextmanager
def translate_errors(dsn: str) -> Iterator[None]:
    """Translates the driver's errors into Forager's. Raises `from None`: a traceback could show the URL."""
    place = place_of(dsn)
    try:
        yield
    except (ValueError, asyncpg.ClientConfigurationError):
        raise ConfigurationError(
            f"The database URL for {place} cannot be understood: write it like postgresql://user:password@host:5432/name."
        ) from None
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        reason, advice = _explain(error)
        raise DatabaseUnreachableError(f"The database at {place} {reason}: {advice}.") from None


def _explain(error: Exception) -> tuple[str, str]:
    match error:
        case socket.gaierror():
            return "has a host name nobody knows", "check the name in FORAGER_DATABASE_URL"
        case ssl.SSLError():
            return "does not agree on TLS", "check sslmode in FORAGER_DATABASE_URL"
        case TimeoutError():
            return f"did not answer within {CONNECT_TIMEOUT_S:.0f} s", "check that it is up and not behind a firewall"
        case asyncpg.InvalidAuthorizationSpecificationError():
            return "refused the user or password", "check both in FORAGER_DATABASE_URL"
        case asyncpg.InvalidCatalogNameError():
            return "does not exist", "create it (createdb), or check the name in FORAGER_DATABASE_URL"
        case asyncpg.TooManyConnectionsError():
            return "has no connection left", "raise max_connections there, or start fewer workers"
        case asyncpg.CannotConnectNowError():
            return "is starting or stopping", "try again in a moment"
        case asyncpg.PostgresError():
            return f"refused the connection ({error.args[0] if error.args else error.sqlstate})", "see its log"
        case OSError():
            return "does not answer", "check that the server is running and that host and port are right"
        case _:
            return "closed the connection", "see its log"
