"""robots.txt of an origin: fetched under the domain's pace, followed through redirects, tried three times (R238).

Answers with a copy to keep; what it means is `politeness.robots`' business.
"""

import asyncio
from collections.abc import Awaitable, Callable

from forager.domains.store import RobotsCopy
from forager.errors import AddressRefusedError, VisitError
from forager.fetch import Client
from forager.politeness import robots
from forager.politeness.robots_file import MAX_BYTES
from forager.urls import resolve_links

MOST_REDIRECTS = 5
RETRY_WAITS_S = (2.0, 4.0)
UNREACHABLE_TTL_S = 3600.0


async def ask_robots(
    client: Client,
    domain_id: int,
    origin: str,
    *,
    ttl_s: float,
    turn: Callable[[], Awaitable[None]],
    waits_s: tuple[float, ...] = RETRY_WAITS_S,
) -> RobotsCopy:
    """One copy, whatever the server does. Raises AddressRefusedError where the guard forbids to ask at all.

    `turn` is awaited before each request, the redirects' too.
    """
    error = ""
    for wait_s in (0.0, *waits_s):
        await asyncio.sleep(wait_s)
        try:
            status_code, text = await _fetch(client, f"{origin}/robots.txt", turn)
        except AddressRefusedError:
            raise
        except VisitError as trouble:
            error = str(trouble)
            continue
        match robots.policy_for(status_code):
            case "parse":
                return RobotsCopy(domain_id, origin, text, status_code, None, ttl_s)
            case "allow_all":
                return RobotsCopy(domain_id, origin, None, status_code, None, ttl_s)
            case "unreachable":
                error = f"the server answered {status_code}"
    return RobotsCopy(domain_id, origin, None, None, error, UNREACHABLE_TTL_S)


async def _fetch(client: Client, url: str, turn: Callable[[], Awaitable[None]]) -> tuple[int, str]:
    """Status and text after at most five redirects; more of them mean there is no robots.txt (RFC 9309 2.3.1.2)."""
    for _ in range(MOST_REDIRECTS + 1):
        await turn()
        fetched = await client.get(url, read_body=lambda _content_type: True, cut_at=MAX_BYTES)
        location = fetched.headers.get("location")
        if not (300 <= fetched.status_code < 400 and location):
            return fetched.status_code, fetched.body.decode("utf-8", "replace").replace("\0", "")
        target = resolve_links(url, [location])[0]
        if target is None:
            return 404, ""
        url = target
    return 404, ""
