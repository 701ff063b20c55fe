"""Fetches the robots.txt of an origin within the domain's rate limit, follows redirects, and makes three attempts of
ten seconds each.

Returns a copy to store; `robots.rules` interprets it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from forager import clock
from forager.domains.store import RobotsCopy
from forager.errors import (
    AddressBlockedError,
    ConnectError,
    ConnectionLostError,
    ExhaustedError,
    LeaseLostError,
    NetworkDownError,
    ProxyError,
    TlsError,
    VisitError,
    VisitTimeoutError,
)
from forager.fetch.models import Fetched
from forager.fetch.retry_after import parse_retry_after
from forager.robots import rules as robots
from forager.robots.parser import MAX_BYTES, text_of
from forager.urls.resolve import resolve_links

MOST_REDIRECTS = 5
RETRY_WAITS_S = (2.0, 4.0)
ROBOTS_TRIES = 1 + len(RETRY_WAITS_S)
TIMEOUT_S = 10.0
UNREACHABLE_TTL_S = 3600.0
LONGEST_WAIT_S = 10.0
"""A server that asks for a longer Retry-After is not tried again within this lease."""

IsOurs = Callable[[VisitError | None], Awaitable[bool]]
"""Called with the result of each request, None for a response; returns whether our own network is at fault."""


async def never_local(_error: VisitError | None) -> bool:
    return False


Turn = Callable[[], AbstractAsyncContextManager[Callable[[], None]]]
"""Entered when a request may be made; yields the callback to call when it is sent."""


class RobotsClient(Protocol):
    """The client that makes the requests, directly or through proxies."""

    async def get(
        self, url: str, *, read_body: Callable[[str], bool], cut_at: int | None, on_sent: Callable[[], None]
    ) -> Fetched: ...


@asynccontextmanager
async def at_once() -> AsyncIterator[Callable[[], None]]:
    """The turn for a single check, which needs no rate limit."""
    yield lambda: None


MOST_SITEMAPS = 1000
"""Stored and followed per file; some files list thousands, and the rest remains in the stored text."""


async def fetch_robots(
    client: RobotsClient,
    domain_id: int,
    origin: str,
    *,
    ttl_s: float,
    turn: Turn,
    waits_s: tuple[float, ...] = RETRY_WAITS_S,
    is_ours: IsOurs = never_local,
) -> RobotsCopy:
    """Returns one copy, whatever the server does. Raises AddressBlockedError if the guard forbids the request,
    LeaseLostError if this worker no longer holds the domain, ProxyError or ExhaustedError if the proxies fail, and
    NetworkDownError if `is_ours` reports that our own network is at fault.

    Each request, including redirects, is made inside a `turn`.
    """
    error, silence_s, is_refused = "", 0.0, False
    for wait_s in (0.0, *waits_s):
        if silence_s > LONGEST_WAIT_S:
            break
        await asyncio.sleep(max(wait_s, silence_s))
        silence_s = 0.0
        try:
            status_code, text, silence_s = await _fetch(client, f"{origin}/robots.txt", turn)
        except (AddressBlockedError, LeaseLostError, ProxyError, ExhaustedError):
            raise
        except TlsError as trouble:
            return RobotsCopy(domain_id, origin, None, None, str(trouble), UNREACHABLE_TTL_S, is_insecure=True)
        except VisitError as trouble:
            if await is_ours(trouble):
                raise NetworkDownError("our own network is down") from None
            error, is_refused = (
                str(trouble),
                isinstance(trouble, ConnectError | ConnectionLostError | VisitTimeoutError),
            )
            continue
        is_refused = False
        await is_ours(None)
        match robots.policy_for(status_code):
            case "parse":
                sitemaps = robots.parse(text).sitemaps[:MOST_SITEMAPS]
                return RobotsCopy(domain_id, origin, text, status_code, None, ttl_s, sitemaps=sitemaps)
            case "allow_all":
                return RobotsCopy(domain_id, origin, None, status_code, None, ttl_s)
            case "unreachable":
                error = f"the server answered {status_code}"
    ttl_s = max(UNREACHABLE_TTL_S, silence_s)
    return RobotsCopy(domain_id, origin, None, None, error, ttl_s, silence_s=silence_s, is_refused=is_refused)


async def _fetch(client: RobotsClient, url: str, turn: Turn) -> tuple[int, str, float]:
    """Returns status, text and Retry-After seconds, after at most five redirects; more redirects mean that there is no
    robots.txt (RFC 9309 2.3.1.2)."""
    for _ in range(MOST_REDIRECTS + 1):
        async with turn() as on_sent:
            fetched = await _get(client, url, on_sent)
        location = fetched.headers.get("location")
        if not (300 <= fetched.status_code < 400 and location):
            silence_s = parse_retry_after(fetched.headers.get("retry-after", ""), clock.now()) or 0.0
            return fetched.status_code, text_of(fetched.body, is_cut=fetched.is_truncated), silence_s
        target = resolve_links(url, [location])[0]
        if target is None:
            return 404, "", 0.0
        url = target
    return 404, "", 0.0


async def _get(client: RobotsClient, url: str, on_sent: Callable[[], None]) -> Fetched:
    try:
        async with asyncio.timeout(TIMEOUT_S):
            return await client.get(url, read_body=lambda _content_type: True, cut_at=MAX_BYTES, on_sent=on_sent)
    except TimeoutError:
        raise VisitTimeoutError(f"it took longer than {TIMEOUT_S:g} s") from None
