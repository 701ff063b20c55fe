"""Which proxy of a domain's pool comes next, when one is switched off, and when it is tried again. Pure.

The one that was unused for longest comes next, so none comes again before the others of its pool had their turn.
Failures in a row switch off: 10 of a proxy, wherever it was used; 5 of a proxy with one domain. Both are tried again
after a while, and one success switches them on.

    on ──(failures in a row)──> off ──(wait)──> tried ──(success)──> on
                                 └──────────────(failure, longer wait)──┘
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from forager.errors import DnsError, NetworkError, ProxyError, ResponseError, VisitError
from forager.proxies.models import Proxy, ProxyResult

MOST_FAILURES = 10
"""Of a proxy, in a row."""
MOST_FAILURES_TOGETHER = 5
"""Of a proxy with one domain, in a row."""
HOUR_S = 3600.0
FIRST_PROBE_S = 300.0
LONGEST_PROBE_S = 6 * HOUR_S
NEW_SHARE = 0.2
"""How much of the moving average one response time is."""
SPARE = 1.2
FEWEST = 2
"""With one proxy there is nothing to take turns with."""


@dataclass(slots=True)
class ProxyState:
    """A proxy as a worker knows it; all its domains share this one."""

    proxy: Proxy
    country: str | None = None
    is_active: bool = True
    failures: int = 0
    """In a row."""
    hourly_cap: int | None = None
    hour_requests: int = 0
    hour_ends_at: float = 0.0
    unwritten: int = 0
    """Of these, what this worker made and the database does not know yet."""
    unusable: str | None = None
    """Why this worker cannot use it at all: its password cannot be opened here."""

    def reduce_pending(self, requests: int) -> None:
        self.unwritten = max(0, self.unwritten - requests)


@dataclass(slots=True)
class Member:
    """A proxy in the pool of one domain."""

    standing: ProxyState
    priority: int = 5
    is_active: bool = True
    failures: int = 0
    """In a row, with this domain."""
    average_ms: float | None = None
    last_turn: float = float("-inf")
    """Greater is later; never used is before everything."""
    used_at: float | None = None


def select_proxy(
    members: Iterable[Member], now: float, *, country: str | None = None, spacing_s: float = 0.0
) -> Member | None:
    """Whose turn it is, of those that may be used now. `spacing_s` is between two uses of the same one."""
    ready = [member for member in members if works(member, country) and ready_at(member, now, spacing_s) <= now]
    return min(ready, key=_sort_key, default=None)


def wait_s(
    members: Iterable[Member], now: float, *, country: str | None = None, spacing_s: float = 0.0
) -> float | None:
    """Seconds until one may be used; None when waiting does not help."""
    moments = [ready_at(member, now, spacing_s) for member in members if works(member, country)]
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


def ready_at(member: Member, now: float, spacing_s: float = 0.0) -> float:
    """When it may be used: by its own pace, and at the end of the hour if its cap is spent."""
    standing = member.standing
    rested_at = now if member.used_at is None or not spacing_s else member.used_at + spacing_s
    is_spent = standing.hourly_cap is not None and standing.hour_requests >= standing.hourly_cap
    return max(rested_at, standing.hour_ends_at) if is_spent else rested_at


def _sort_key(member: Member) -> tuple[float, int, float, int]:
    average_ms = float("inf") if member.average_ms is None else member.average_ms
    return member.last_turn, member.priority, average_ms, member.standing.proxy.id


def take(member: Member, turn: float, now: float) -> None:
    """It is used: the last in its pool from now on, and one request less in its hour."""
    standing = member.standing
    member.last_turn, member.used_at = turn, now
    if now >= standing.hour_ends_at:
        standing.hour_ends_at, standing.hour_requests, standing.unwritten = now + HOUR_S, 0, 0
    standing.hour_requests += 1
    standing.unwritten += 1


def note(member: Member, passage: ProxyResult, response_time_ms: int | None = None) -> None:
    """What a request through it taught, at once: the database hears of it with the next batch."""
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
    """What a visit says about the proxy it went through; None when it says nothing.

    Any answer of the site is a success, also one that refuses us: a refusal is never a reason to try another proxy.
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
    """A moving average; the first sample counts in full."""
    return float(new) if before is None else before + NEW_SHARE * (new - before)


def probe_wait_s(failed_probes: int) -> float:
    """Until something switched off is tried again: 5 minutes, doubled with each vain try, 6 hours at most."""
    return min(FIRST_PROBE_S * 2.0 ** min(failed_probes, 16), LONGEST_PROBE_S)


def proxies_needed(pages_per_hour: float, requests_per_proxy_hour: float) -> int:
    """How large a pool has to be: 100 pages an hour at 20 requests per proxy want 5, and one in reserve."""
    return max(FEWEST, ceil(round(pages_per_hour / requests_per_proxy_hour * SPARE, 6)))


def say_dead(members: Sequence[Member], country: str | None = None) -> str:
    """Why nothing of a pool can be used, in words for the person who has to mend it."""
    fits = [member for member in members if country in {None, member.standing.country}]
    if not fits:
        return f"none of its {len(members)} proxies is in {country}" if members else "its pool of proxies is empty"
    for member in fits:
        if member.standing.unusable:
            return member.standing.unusable
    many = "its only proxy is" if len(fits) == 1 else f"all {len(fits)} proxies of its pool are"
    return f"{many} switched off or failing"
