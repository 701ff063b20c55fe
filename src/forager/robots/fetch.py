"""robots.txt of an origin: fetched under the domain's pace, followed through redirects, tried three times for ten
seconds each.

Answers with a copy to keep; what it means is `robots.rules`' business.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from forager import clock
from forager.domains.store import RobotsCopy
from forager.errors import (
    AddressBlockedError,
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
"""A server that asks for a longer silence is not tried again within this lease."""

IsOurs = Callable[[VisitError | None], Awaitable[bool]]
"""Told how each request ended, None for an answer; whether our own network is at fault."""


async def never_local(_error: VisitError | None) -> bool:
    return False


Turn = Callable[[], AbstractAsyncContextManager[Callable[[], None]]]
"""Entered when a request may be made; gives what is to be called when it leaves."""


class RobotsClient(Protocol):
    """Whoever makes the requests: a client, or one that goes through proxies."""

    async def get(
        self, url: str, *, read_body: Callable[[str], bool], cut_at: int | None, on_sent: Callable[[], None]
    ) -> Fetched: ...


@asynccontextmanager
async def at_once() -> AsyncIterator[Callable[[], None]]:
    """The turn of a single question, which needs no pace."""
    yield lambda: None


MOST_SITEMAPS = 100
"""Kept of one file; some name every one of thousands, and the rest is still in its text."""


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
    """One copy, whatever the server does. Raises AddressRefusedError where the guard forbids to ask at all,
    LeaseLostError where the domain is no longer ours, ProxyError or ExhaustedError where our way there is broken, and
    NetworkDownError where `is_ours` says that our own network is at fault.

    Each request is made inside of a `turn`, the redirects' too.
    """
    error, silence_s = "", 0.0
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
            error = str(trouble)
            continue
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
    return RobotsCopy(domain_id, origin, None, None, error, ttl_s, silence_s=silence_s)


async def _fetch(client: RobotsClient, url: str, turn: Turn) -> tuple[int, str, float]:
    """Returns status, text and the seconds of its Retry-After, after at most five redirects; more of them mean that
    there is no robots.txt (RFC 9309 2.3.1.2)."""
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
