"""The pool of one leased domain, in its worker's memory: selects the next proxy and keeps results that are not
written yet."""

from collections.abc import Sequence
from datetime import datetime

from forager.errors import VisitError
from forager.proxies import rotation as choose
from forager.proxies.models import Proxy, ProxyResult, ProxyUse
from forager.proxies.rotation import Member


class ProxyPool:
    def __init__(
        self, domain_id: int, members: Sequence[Member], *, country: str | None = None, paces_per_proxy: bool = False
    ) -> None:
        self._domain_id = domain_id
        self._country = country
        self._members = {member.standing.proxy.id: member for member in members}
        self._turns = 0
        self._uses: list[ProxyUse] = []
        self.paces_per_proxy = paces_per_proxy
        self.spacing_s = 0.0
        """Delay between two uses of the same proxy; 0: the domain's pace is enough."""

    @property
    def size(self) -> int:
        """Returns how many proxies work."""
        return sum(choose.works(member, self._country) for member in self._members.values())

    @property
    def is_empty(self) -> bool:
        """Returns whether an operator removed all proxies: requests to the domain are then sent directly."""
        return not self._members

    def split_delay(self, delay_s: float) -> float:
        """Applies the delay to each proxy; returns the resulting delay for the domain as a whole."""
        self.spacing_s = delay_s
        return delay_s / max(1, self.size)

    def wait_s(self, now: float) -> float | None:
        """Returns the seconds until a request may be sent; None when no proxy works."""
        return choose.wait_s(self._members.values(), now, country=self._country, spacing_s=self.spacing_s)

    def take(self, now: float) -> Proxy | None:
        """Returns the next proxy; None when none may be used now."""
        member = choose.select_proxy(self._members.values(), now, country=self._country, spacing_s=self.spacing_s)
        if member is None:
            return None
        self._turns += 1
        choose.take(member, self._turns, now)
        return member.standing.proxy

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
        self._uses.append(ProxyUse(self._domain_id, proxy.id, at, passage, response_time_ms, error))

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

    def renew(self, members: Sequence[Member], *, country: str | None) -> None:
        """Updates the pool from the database: other workers use these proxies too, and operators change pools. The
        rotation order stays."""
        for member in members:
            known = self._members.get(member.standing.proxy.id)
            if known is not None:
                member.last_turn, member.used_at = known.last_turn, known.used_at
        self._members = {member.standing.proxy.id: member for member in members}
        self._country = country

    def exhausted_reason(self) -> str:
        return choose.say_dead(list(self._members.values()), self._country)
