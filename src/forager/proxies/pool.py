"""The pool of one leased domain, in its worker's memory: selects the next proxy and keeps results that are not
written yet."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from forager.config.crawl_settings import CrawlSettings
from forager.errors import VisitError
from forager.proxies import rotation as choose
from forager.proxies.models import Proxy, ProxyResult, ProxyUse
from forager.proxies.rotation import Member, ProxyState


@dataclass(frozen=True, slots=True)
class PoolRules:
    """The crawl settings of a domain that concern proxies."""

    mode: str = "auto"
    country: str | None = None
    paces_per_proxy: bool = False
    rotation_s: float = 0.0
    """How long a proxy rests after a request to the domain."""
    max_per_hour: int | None = None
    """Requests of one proxy to the domain in an hour."""

    @classmethod
    def of(cls, settings: CrawlSettings) -> "PoolRules":
        return cls(
            settings.proxy,
            settings.proxy_country,
            settings.delay_per_proxy,
            settings.proxy_rotation or 0.0,
            settings.proxy_max_per_hour,
        )


class ProxyPool:
    """A pool of its own has members only. The default pool is a reserve that all domains share: a proxy becomes a
    member when it is used for the domain for the first time."""

    def __init__(
        self,
        domain_id: int,
        members: Sequence[Member],
        rules: PoolRules = PoolRules(),
        reserve: Sequence[ProxyState] | None = None,
    ) -> None:
        self._domain_id = domain_id
        self._rules = rules
        self._members = {member.standing.proxy.id: member for member in members}
        self._reserve = reserve
        self._turns = 0
        self._uses: list[ProxyUse] = []
        self.paces_per_proxy = rules.paces_per_proxy
        self.spacing_s = 0.0
        """Delay between two uses of the same proxy; 0: the domain's pace is enough."""

    @property
    def size(self) -> int:
        """Returns how many proxies work."""
        country = self._rules.country
        spare = sum(choose.works(member, country) for member in self._spare())
        return spare + sum(choose.works(member, country) for member in self._members.values())

    @property
    def may_go_direct(self) -> bool:
        """Returns whether there is no proxy at all, and the domain may be requested without."""
        return self._rules.mode != "always" and not self._members and not self._reserve

    @property
    def is_default(self) -> bool:
        return self._reserve is not None

    def split_delay(self, delay_s: float) -> float:
        """Applies the delay to each proxy; returns the resulting delay for the domain as a whole."""
        self.spacing_s = delay_s
        return delay_s / max(1, self.size)

    def wait_s(self, now: float) -> float | None:
        """Returns the seconds until a request may be sent; None when no proxy works."""
        waits = [
            choose.wait_s(
                members,
                now,
                country=self._rules.country,
                spacing_s=self._rest_s,
                most_per_hour=self._rules.max_per_hour,
            )
            for members in (self._members.values(), self._spare())
        ]
        return min((wait for wait in waits if wait is not None), default=None)

    def wait_reason(self) -> str:
        """Returns why all proxies wait, as text for the operator."""
        if self._rules.rotation_s and not self._rules.max_per_hour:
            return "its proxies rest between two requests, by its setting proxy_rotation"
        return "its proxies have made all requests they may make in this hour"

    def take(self, now: float) -> Proxy | None:
        """Returns the next proxy; None when none may be used now."""
        few = bool(self._rules.rotation_s)
        member = self._select(self._members.values(), now)
        if self._reserve and not (few and member):
            spare = min(self._ready(self._spare(), now), key=_load, default=None)
            member = spare or member
        if member is None:
            return None
        self._members.setdefault(member.standing.proxy.id, member)
        self._turns += 1
        choose.take(member, self._turns, now)
        return member.standing.proxy

    def note_sent(self, proxy: Proxy, now: float) -> None:
        """Restarts the rest of a proxy when its request is sent: connecting may have taken a while."""
        member = self._members.get(proxy.id)
        if member is not None and member.used_at is not None:
            member.used_at = max(member.used_at, now)

    def note(
        self,
        proxy: Proxy,
        passage: ProxyResult | None,
        *,
        at: datetime,
        response_time_ms: int | None = None,
        error: str | None = None,
    ) -> None:
        member = self._members.get(proxy.id)
        if passage is None:
            if member is not None:
                member.standing.reduce_pending(1)  # it is never written
            return
        if member is not None:
            choose.note(member, passage, response_time_ms)
        self._uses.append(ProxyUse(self._domain_id, proxy.id, at, passage, response_time_ms, error, self.is_default))

    def record(
        self, proxy: Proxy, error: VisitError | None, *, at: datetime, response_time_ms: int | None = None
    ) -> None:
        """Updates the health of a proxy by how a request through it ended."""
        passage, words = choose.get_proxy_result(error), str(error) if error else None
        self.note(proxy, passage, at=at, response_time_ms=response_time_ms, error=words)

    def take_pending(self) -> tuple[ProxyUse, ...]:
        """Returns the results since the last call."""
        uses, self._uses = tuple(self._uses), []
        return uses

    def renew(self, members: Sequence[Member], reserve: Sequence[ProxyState] | None = None) -> None:
        """Updates the pool from the database: other workers use these proxies too, and operators change pools. The
        rotation order stays, and so do the members that came from the default pool and are still in it."""
        renewed = {member.standing.proxy.id: member for member in members}
        for number, member in renewed.items():
            known = self._members.get(number)
            if known is not None:
                member.last_turn, member.used_at = known.last_turn, known.used_at
                member.hour_requests, member.hour_ends_at = known.hour_requests, known.hour_ends_at
        if reserve is not None:
            for state in reserve:
                if (known := self._members.get(state.proxy.id)) is not None:
                    known.standing = state
                    renewed.setdefault(state.proxy.id, known)
        self._members, self._reserve = renewed, reserve

    def exhausted_reason(self) -> str:
        if not self._members and not self._reserve:
            return "it has no proxy and the default pool is empty, and it is never requested directly (proxy=always)"
        members = [*self._members.values(), *self._spare()]
        return choose.say_dead(members, self._rules.country, is_default=self.is_default)

    @property
    def _rest_s(self) -> float:
        return max(self.spacing_s, self._rules.rotation_s)

    def _spare(self) -> list[Member]:
        """Returns the proxies of the default pool that were not used for this domain yet."""
        return [Member(state) for state in self._reserve or () if state.proxy.id not in self._members]

    def _ready(self, members: Sequence[Member], now: float) -> list[Member]:
        country = self._rules.country
        return [member for member in members if choose.works(member, country) and choose.ready_at(member, now) <= now]

    def _select(self, members: Iterable[Member], now: float) -> Member | None:
        return choose.select_proxy(
            members,
            now,
            country=self._rules.country,
            spacing_s=self._rest_s,
            most_per_hour=self._rules.max_per_hour,
            uses_few=bool(self._rules.rotation_s),
        )


def _load(member: Member) -> tuple[int, int]:
    """Of the default pool, the proxy with the fewest requests in this hour comes first, so that domains spread."""
    state = member.standing
    return state.hour_requests, state.proxy.id
