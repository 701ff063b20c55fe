"""Database access for routes: `look` for single reads, `snapshot` for several consistent reads, `change` for writes.

A change and its audit log entry are one transaction, committed before the response is sent.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastapi import Request

from forager.accounts import audit
from forager.accounts.identity import Identity
from forager.api.access import too_many
from forager.api.errors import TooManyError
from forager.api.read_pool import AccountLimitError, ReadPool
from forager.db import statements
from forager.db.types import Connection
from forager.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from forager.instance import Forager

SQL = statements.load("forager.api", "database.sql")
FREE_WITHIN_S = 2.0
"""The limit for acquiring a connection; so an API whose database is unavailable reports it within two seconds."""
OWN_WITHIN_S = 8.0
"""The limit for a connection while the account's own requests hold all of its share. It is longer, as no other account
waits: a dashboard page sends ten requests."""
GRACE_S = 2.0
"""A frozen server cancels no statement: we abandon it this long after its timeout."""

ANOTHER_QUESTION = "Another long question is being answered; ask again when it is done."
ANOTHER_DEED = "Another long order is being carried out; order again when it is done."


def get_forager(request: Request) -> "Forager":
    found: Forager = request.app.state.forager
    return found


class look:  # noqa: N801 (it is said like a verb: `async with look(request) as conn`)
    """Acquires one connection, without a transaction. The whole block is limited to the timeout of one statement,
    unless `within_s` is given."""

    __slots__ = ("_account", "_conn", "_desk", "_limit", "_request", "_share", "_within_s")

    def __init__(self, request: Request, within_s: float | None = None) -> None:
        self._request = request
        self._within_s = (within_s or get_forager(request).settings.api.statement_timeout) + GRACE_S
        who: Identity | None = getattr(request.state, "who", None)
        self._account = who.user_id if who is not None else None

    async def __aenter__(self) -> Any:
        self._conn = await self._take()
        self._limit = asyncio.timeout(self._within_s)
        await self._limit.__aenter__()
        return self._conn

    async def __aexit__(self, *error: Any) -> None:
        try:
            await self._limit.__aexit__(*error)
        finally:
            try:
                await self._desk.give_back(self._conn, within_s=FREE_WITHIN_S)
            finally:
                await self._share.__aexit__(None, None, None)

    async def _take(self) -> Any:
        desk: ReadPool = self._request.app.state.desk
        share = desk.share_of(self._account, within_s=OWN_WITHIN_S)
        try:
            await share.__aenter__()
        except AccountLimitError as error:
            raise too_many(round(FREE_WITHIN_S), str(error)) from None
        try:
            conn = await desk.take(within_s=FREE_WITHIN_S)
        except BaseException:
            await share.__aexit__(None, None, None)
            raise
        self._desk, self._share = desk, share
        return conn


@contextlib.asynccontextmanager
async def snapshot(request: Request, within_s: float | None = None) -> AsyncIterator[Any]:
    """Opens a read-only transaction whose queries see the same snapshot."""
    async with (
        look(request, within_s) as conn,
        conn.transaction(isolation="repeatable_read", readonly=True),
    ):
        await extend_timeout(request, conn, within_s)
        yield conn


async def extend_timeout(request: Request, conn: Connection, within_s: float | None) -> None:
    """Raises the statement timeout for a route that takes longer than others. It applies until the end of the
    transaction: the next one on this connection has the default timeout again."""
    if within_s is not None and within_s > get_forager(request).settings.api.statement_timeout:
        await conn.execute(SQL["extend_timeout"], f"{round(within_s * 1000)}ms")


@dataclass(frozen=True, slots=True)
class Change:
    conn: Connection
    _who: Identity

    @property
    def by(self) -> str:
        return self._who.signature

    async def note(
        self, action: str, kind: str, which: object = None, *, outcome: str = audit.DONE, **details: Any
    ) -> None:
        """Writes an audit log entry in the same transaction."""
        object_id = None if which is None else str(which)
        await audit.note(self.conn, self._who, action, kind=kind, object_id=object_id, details=details, outcome=outcome)


@contextlib.asynccontextmanager
async def change(request: Request, who: Identity, within_s: float | None = None) -> AsyncIterator[Change]:
    async with look(request, within_s) as conn, conn.transaction():
        await extend_timeout(request, conn, within_s)
        yield Change(conn, who)


@contextlib.asynccontextmanager
async def exclusive_request(request: Request) -> AsyncIterator[None]:
    """Allows one long read and one long change at a time: they must not take all connections. Each kind has its own
    lock, so that a caller with read access cannot block an admin's change."""
    is_look = request.scope["method"] == "GET"
    lock: asyncio.Lock = request.app.state.long_question if is_look else request.app.state.long_deed
    if lock.locked():
        raise TooManyError(ANOTHER_QUESTION if is_look else ANOTHER_DEED)
    async with lock:
        yield


@contextlib.contextmanager
def url_error_as_not_found() -> Iterator[None]:
    """Converts an invalid URL into a NotFoundError: it names no page."""
    try:
        yield
    except UsageError as error:
        raise NotFoundError(f"There is no such page: {error}") from None
