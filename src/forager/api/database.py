"""How routes reach the database: `look` for a question, `snapshot` for several that must agree, `change` for a deed.

A deed and its note in the audit log are one transaction, committed before the response is sent.
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
"""Nobody waits longer for a connection; so an API whose database is away says so within two seconds."""
OWN_WITHIN_S = 8.0
"""But an account waits longer for its own requests, which nobody else does: a page of the dashboard asks ten things."""
GRACE_S = 2.0
"""A server that is frozen cancels nothing: so long after its time a statement is given up by us."""

ANOTHER_QUESTION = "Another long question is being answered; ask again when it is done."
ANOTHER_DEED = "Another long order is being carried out; order again when it is done."


def get_forager(request: Request) -> "Forager":
    found: Forager = request.app.state.forager
    return found


class look:  # noqa: N801 (it is said like a verb: `async with look(request) as conn`)
    """One connection; each statement for itself. All of it takes no longer than one statement may, unless told."""

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
    """Several questions that see the same moment; nothing can be changed."""
    async with (
        look(request, within_s) as conn,
        conn.transaction(isolation="repeatable_read", readonly=True),
    ):
        await extend_timeout(request, conn, within_s)
        yield conn


async def extend_timeout(request: Request, conn: Connection, within_s: float | None) -> None:
    """A transaction whose route takes longer than others gives each of its statements as long. It ends with the
    transaction: the next one on this connection has the limit of all again."""
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
        """What was done goes into the audit log, in the same transaction."""
        object_id = None if which is None else str(which)
        await audit.note(self.conn, self._who, action, kind=kind, object_id=object_id, details=details, outcome=outcome)


@contextlib.asynccontextmanager
async def change(request: Request, who: Identity, within_s: float | None = None) -> AsyncIterator[Change]:
    async with look(request, within_s) as conn, conn.transaction():
        await extend_timeout(request, conn, within_s)
        yield Change(conn, who)


@contextlib.asynccontextmanager
async def exclusive_request(request: Request) -> AsyncIterator[None]:
    """Long questions one after the other, and long deeds: they must not take all connections. Each kind has its own
    turn, so that whoever may only look keeps no admin from a deed."""
    is_look = request.scope["method"] == "GET"
    lock: asyncio.Lock = request.app.state.long_question if is_look else request.app.state.long_deed
    if lock.locked():
        raise TooManyError(ANOTHER_QUESTION if is_look else ANOTHER_DEED)
    async with lock:
        yield


@contextlib.contextmanager
def url_error_as_not_found() -> Iterator[None]:
    """What is no URL names no page."""
    try:
        yield
    except UsageError as error:
        raise NotFoundError(f"There is no such page: {error}") from None
