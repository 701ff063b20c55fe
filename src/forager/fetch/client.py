"""One request per call, one `Fetched` or one typed error back. Follows no redirects, keeps no cookies.

Everything a server can do to us is bounded: time here, header size and body size in `answer.py`, growth in `decode.py`.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from forager import clock
from forager.errors import ConfigurationError, ConnectionLostError
from forager.fetch.answer import AnswerReader
from forager.fetch.decode import ACCEPTED, decode
from forager.fetch.dial import CheckAddress, Dialler, GuardedResolver
from forager.fetch.origin import Origin, build_request, is_sendable, split_url
from forager.fetch.pool import Pool
from forager.fetch.wire import Connection
from forager.records import Fetched

ACCEPT = "text/html,application/xhtml+xml;q=0.9,text/plain;q=0.5,*/*;q=0.1"
PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml", "text/plain", ""})
QUICK_REUSE_S = 0.5


def is_page(content_type: str) -> bool:
    """Whether a body of this type is worth reading; one without a type may well be a page."""
    return content_type.partition(";")[0].strip().lower() in PAGE_TYPES


@asynccontextmanager
async def open_client(
    *,
    user_agent: str,
    check_address: CheckAddress,
    timeout_s: float,
    connect_timeout_s: float,
    max_bytes: int,
    max_connections: int = 0,
) -> AsyncIterator["Client"]:
    """`max_connections` 0 means as many as there are requests; whoever calls bounds those."""
    if not is_sendable(user_agent):
        raise ConfigurationError(
            f"{user_agent!a} cannot be sent as User-Agent: use printable ASCII in contact and user_agent"
        )
    pool = Pool(Dialler(GuardedResolver(check_address)), max_connections)
    try:
        yield Client(pool, user_agent, timeout_s, connect_timeout_s, max_bytes)
    finally:
        await pool.close()


class Client:
    """Made by `open_client`; safe to use from many tasks at once."""

    def __init__(self, pool: Pool, user_agent: str, timeout_s: float, connect_timeout_s: float, max_bytes: int) -> None:
        self._pool = pool
        self._fixed_headers = f"User-Agent: {user_agent}\r\nAccept: {ACCEPT}\r\nAccept-Encoding: {ACCEPTED}\r\n"
        self._timeout_s = timeout_s
        self._connect_timeout_s = connect_timeout_s
        self._max_bytes = max_bytes

    async def get(
        self,
        url: str,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        read_body: Callable[[str], bool] = is_page,
        cut_at: int | None = None,
    ) -> Fetched:
        """`url` is normalised already. A body longer than `cut_at` is cut there; without it, too long is an error."""
        started_at = clock.monotonic()
        may_cut, limit = cut_at is not None, cut_at or self._max_bytes
        origin, target = split_url(url)
        request = build_request(origin, target, self._fixed_headers, etag, last_modified)

        def make_reader() -> AnswerReader:
            return AnswerReader(origin.authority, read_body, limit, may_cut=may_cut)

        async with self._pool.slot(self._connect_timeout_s):
            answer = await self._exchange(origin, request, make_reader, started_at)
        wire = bytes(answer.body)
        body, is_broken = decode(wire, answer.headers.get("content-encoding", ""), limit, may_cut=may_cut)
        return Fetched(
            url,
            answer.status_code,
            answer.headers,
            body,
            wire_bytes=len(wire),
            response_time_ms=round((clock.monotonic() - started_at) * 1000),
            is_truncated=answer.is_cut or is_broken,
        )

    async def _exchange(
        self, origin: Origin, request: bytes, make_reader: Callable[[], AnswerReader], started_at: float
    ) -> AnswerReader:
        """Asks twice only where the server was just closing a connection used a moment ago; else it has seen the
        request, and a second would break the pace."""
        ends_at = started_at + self._timeout_s
        kept = self._pool.take(origin)
        if kept is not None:
            reader = make_reader()
            may_ask_again = clock.monotonic() - kept.taken_at <= QUICK_REUSE_S
            try:
                return await self._ask(kept, request, reader, ends_at)
            except ConnectionLostError:
                if reader.has_begun or not may_ask_again:
                    raise
        wait_s = min(self._connect_timeout_s, ends_at - clock.monotonic())
        fresh = await self._pool.dial(origin, wait_s)
        return await self._ask(fresh, request, make_reader(), ends_at)

    async def _ask(self, connection: Connection, request: bytes, reader: AnswerReader, ends_at: float) -> AnswerReader:
        connection.taken_at = now = clock.monotonic()
        await connection.ask(request, reader, ends_at - now)
        self._pool.give_back(connection)
        return reader
