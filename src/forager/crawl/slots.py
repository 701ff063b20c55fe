"""Who may open a request when a worker's requests run short: sites that keep one open for long take few.

Pure but for what it is told. While there is plenty, everybody may open. In a crowd a domain that is not prompt has one
open request at most; an eighth of all is kept for prompt domains, so that hundreds of dripping servers cannot hold up
the others, and as much is owed to those that are not prompt, so that new and slow sites are never shut out either.
"""

from enum import Enum

PROMPT_S = 2.0
"""A site whose last answer took no longer, and which has kept us waiting no longer now, is prompt."""
FEWEST_IN_A_CROWD = 16


class Wait(Enum):
    """What a domain that may not open a request waits for."""

    ANY = "any slot"
    OPEN_TO_ALL = "a slot that is not kept for prompt domains"
    NO_CROWD = "the end of the crowd, or of its own open request"


class Tenant:
    """What one domain has open, and whether it is prompt."""

    __slots__ = ("_opened_at", "_took_s")

    def __init__(self, took_s: float | None = None) -> None:
        """`took_s`: how long it takes as a rule, where that is known."""
        self._opened_at: list[float] = []
        self._took_s = took_s

    @property
    def open(self) -> int:
        return len(self._opened_at)

    def is_prompt(self, now: float) -> bool:
        if self._took_s is None or self._took_s > PROMPT_S:
            return False
        return not self._opened_at or now - self._opened_at[0] <= PROMPT_S

    def enter(self, now: float) -> None:
        self._opened_at.append(now)

    def leave(self, opened_at: float, took_s: float) -> None:
        self._opened_at.remove(opened_at)
        self._took_s = took_s


class Slot:
    """One open request."""

    __slots__ = ("is_prompt", "opened_at", "tenant")

    def __init__(self, tenant: Tenant, opened_at: float, *, is_prompt: bool) -> None:
        self.tenant = tenant
        self.opened_at = opened_at
        self.is_prompt = is_prompt


class Slots:
    def __init__(self, most: int) -> None:
        self._most = most
        self._crowd = min(most, max(FEWEST_IN_A_CROWD, most // 2))
        self._kept = most // 8
        self.taken = 0
        self._taken_by_slow = 0

    @property
    def has_any(self) -> bool:
        return self.taken < self._most

    @property
    def is_crowded(self) -> bool:
        return self.taken >= self._crowd

    @property
    def owes_slow(self) -> bool:
        """Whether those that are not prompt have less than their own eighth, and there is one to give."""
        return self._taken_by_slow < self._kept and self.has_any

    @property
    def is_open_to_all(self) -> bool:
        """Whether there is one that a domain may have which is not prompt and has no other."""
        return self.taken < max(self._crowd, self._most - self._kept) or self.owes_slow

    def why_wait(self, tenant: Tenant, now: float) -> Wait | None:
        """None: it may open one now."""
        if self.taken < self._crowd:
            return None
        if self._crowd == self._most:  # too few to keep some for anybody: first come, first served
            return Wait.ANY
        if tenant.is_prompt(now):
            return None if self.has_any else Wait.ANY
        if tenant.open:
            return Wait.NO_CROWD
        return None if self.is_open_to_all else Wait.OPEN_TO_ALL

    def open(self, tenant: Tenant, now: float) -> Slot:
        is_prompt = tenant.is_prompt(now)
        tenant.enter(now)
        self.taken += 1
        self._taken_by_slow += not is_prompt
        return Slot(tenant, now, is_prompt=is_prompt)

    def close(self, slot: Slot, took_s: float) -> None:
        """`took_s`: how long its site kept us waiting."""
        slot.tenant.leave(slot.opened_at, took_s)
        self.taken -= 1
        self._taken_by_slow -= not slot.is_prompt
