"""Selects the next proxy of a domain's pool, and decides when one is switched off and when it is probed. Pure.

The proxy that was unused for longest comes next, so none is used again before the others of its pool. With a rotation
period it is the other way round: the proxy that was used last and has rested comes next, and a new one only when none
has rested, so that as few as possible are used. Consecutive failures switch off: 10 of a proxy, in all domains; 5 of a
proxy with one domain. Both are probed after a while, and one success switches them on.

    on ──(failures in a row)──> off ──(wait)──> tried ──(success)──> on
                                 └──────────────(failure, longer wait)──┘
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from forager.errors import DnsError, NetworkError, ProxyError, ResponseError, VisitError
from forager.proxies.models import Proxy, ProxyResult

MOST_FAILURES = 10
"""Maximum number of consecutive failures of a proxy."""
MOST_FAILURES_TOGETHER = 5
"""Maximum number of consecutive failures of a proxy with one domain."""
HOUR_S = 3600.0
FIRST_PROBE_S = 300.0
LONGEST_PROBE_S = 6 * HOUR_S
NEW_SHARE = 0.2
"""Weight of one response time in the moving average."""
SPARE = 1.2
FEWEST = 2
"""Minimum pool size: with one proxy there is no rotation."""


@dataclass(slots=True)
class ProxyState:
    """State of a proxy in a worker; all its domains share it."""

    proxy: Proxy
    country: str | None = None
    is_active: bool = True
    failures: int = 0
    """Consecutive failures."""
    hourly_cap: int | None = None
    hour_requests: int = 0
    hour_ends_at: float = 0.0
    unwritten: int = 0
    """How many of these requests this worker made and has not written to the database yet."""
    unusable: str | None = None
    """Why this worker cannot use it at all: its password cannot be decrypted here."""

    def reduce_pending(self, requests: int) -> None:
        self.unwritten = max(0, self.unwritten - requests)


@dataclass(slots=True)
class Member:
    """A proxy in the pool of one domain."""

    standing: ProxyState
    priority: int = 5
    is_active: bool = True
    failures: int = 0
    """Consecutive failures with this domain."""
    average_ms: float | None = None
    last_turn: float = float("-inf")
    """A greater value is later; a proxy that was never used comes first."""
    used_at: float | None = None
    hour_requests: int = 0
    """Requests to this domain in the hour that ends at `hour_ends_at`."""
    hour_ends_at: float = 0.0


def select_proxy(
    members: Iterable[Member],
    now: float,
    *,
    country: str | None = None,
    spacing_s: float = 0.0,
    most_per_hour: int | None = None,
    uses_few: bool = False,
) -> Member | None:
    """Returns the next proxy of those that may be used now. `spacing_s` is the delay between two uses of the same one,
    `uses_few` prefers those that were used before."""
    ready = [
        member
        for member in members
        if works(member, country) and ready_at(member, now, spacing_s, most_per_hour) <= now
    ]
    return min(ready, key=_few_key if uses_few else _sort_key, default=None)


def wait_s(
    members: Iterable[Member],
    now: float,
    *,
    country: str | None = None,
    spacing_s: float = 0.0,
    most_per_hour: int | None = None,
) -> float | None:
    """Returns the seconds until one may be used; None when waiting does not help."""
    moments = [ready_at(member, now, spacing_s, most_per_hour) for member in members if works(member, country)]
    return max(0.0, min(moments) - now) if moments else None


def works(member: Member, country: str | None = None) -> bool:
    standing = member.standing
    return (
        member.is_active
        and standing.is_active
        and standing.unusable is None
        and member.failures < MOST_FAILURES_TOGETHER
        and standing.failures < MOST_FAILURES
        and country in {None, standing.country}
    )


def ready_at(member: Member, now: float, spacing_s: float = 0.0, most_per_hour: int | None = None) -> float:
    """Returns when it may be used: after its delay, and at the end of the hour if an hourly limit is exhausted, its own
    or that of its requests to this domain."""
    standing = member.standing
    at = now if member.used_at is None or not spacing_s else member.used_at + spacing_s
    if standing.hourly_cap is not None and standing.hour_requests >= standing.hourly_cap:
        at = max(at, standing.hour_ends_at)
    if most_per_hour is not None and member.hour_requests >= most_per_hour:
        at = max(at, member.hour_ends_at)
    return at


def _sort_key(member: Member) -> tuple[float, int, float, int]:
    average_ms = float("inf") if member.average_ms is None else member.average_ms
    return member.last_turn, member.priority, average_ms, member.standing.proxy.id


def _few_key(member: Member) -> tuple[bool, float, tuple[float, int, float, int]]:
    return member.used_at is None, -member.last_turn, _sort_key(member)


def take(member: Member, turn: float, now: float) -> None:
    """Records a use: the proxy moves to the end of the rotation, and one request of its hourly limit is used."""
    standing = member.standing
    member.last_turn, member.used_at = turn, now
    if now >= standing.hour_ends_at:
        standing.hour_ends_at, standing.hour_requests, standing.unwritten = now + HOUR_S, 0, 0
    standing.hour_requests += 1
    standing.unwritten += 1
    if now >= member.hour_ends_at:
        member.hour_ends_at, member.hour_requests = now + HOUR_S, 0
    member.hour_requests += 1


def note(member: Member, passage: ProxyResult, response_time_ms: int | None = None) -> None:
    """Updates the state from a request's result at once; the database is updated with the next batch."""
    match passage:
        case ProxyResult.THROUGH:
            member.failures = member.standing.failures = 0
            if response_time_ms is not None:
                member.average_ms = average(member.average_ms, response_time_ms)
        case ProxyResult.NOT_THROUGH:
            member.failures += 1
        case ProxyResult.BROKEN:
            member.failures += 1
            member.standing.failures += 1


def get_proxy_result(error: VisitError | None) -> ProxyResult | None:
    """Returns what a visit shows about the proxy it used; None when it shows nothing.

    Any response of the site is a success, also one that denies access: a denial is never a reason to try another proxy.
    """
    match error:
        case None | ResponseError():
            return ProxyResult.THROUGH
        case ProxyError():
            return ProxyResult.BROKEN
        case DnsError():
            return None
        case NetworkError():
            return ProxyResult.NOT_THROUGH
        case _:
            return None


def average(before: float | None, new: float) -> float:
    """Returns the moving average; the first sample counts in full."""
    return float(new) if before is None else before + NEW_SHARE * (new - before)


def probe_wait_s(failed_probes: int) -> float:
    """Returns the seconds until the next probe: 5 minutes, doubled with each failed probe, 6 hours at most."""
    return min(FIRST_PROBE_S * 2.0 ** min(failed_probes, 16), LONGEST_PROBE_S)


def requests_allowed(
    limits: Iterable[float | None], *, rotation_s: float | None, spacing_s: float | None = None
) -> float | None:
    """Returns how many requests one proxy may make to a domain in an hour: the lowest of its hourly limits and of what
    its rest between two requests allows; None: any number."""
    found = [limit for limit in limits if limit]
    found += [HOUR_S / rest_s for rest_s in (rotation_s, spacing_s) if rest_s]
    return min(found, default=None)


def proxies_needed(pages_per_hour: float, requests_per_proxy_hour: float) -> int:
    """Returns the required pool size: 100 pages an hour at 20 requests per proxy need 5, and one in reserve."""
    return max(FEWEST, ceil(round(pages_per_hour / requests_per_proxy_hour * SPARE, 6)))


def say_dead(members: Sequence[Member], country: str | None = None, *, is_default: bool = False) -> str:
    """Returns why no proxy of a pool can be used, as text for the operator who has to fix it."""
    fits = [member for member in members if country in {None, member.standing.country}]
    if not fits:
        many = f"its {len(members)} proxies" if not is_default else f"the {len(members)} proxies of the default pool"
        return f"none of {many} is in {country}" if members else "its pool of proxies is empty"
    for member in fits:
        if member.standing.unusable:
            return member.standing.unusable
    only = "the only proxy of the default pool is" if is_default else "its only proxy is"
    many = only if len(fits) == 1 else f"all {len(fits)} proxies of {'the default' if is_default else 'its'} pool are"
    return f"{many} switched off or failing"
