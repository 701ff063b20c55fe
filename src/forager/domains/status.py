"""The life cycle of a domain as a transition table. The database has the same table and rejects all other transitions.

                ┌────────── new pages, refresh ──────────┐
                ▼                                        │
pending ──> active ──> exhausted ────────────────────────┘
   │          │
   └──────────┴──> blocked · unreachable ── cooldown over, or an operator ──> pending · active
"""

from enum import StrEnum


class DomainStatus(StrEnum):
    PENDING = "pending"
    """Known, never crawled."""
    ACTIVE = "active"
    """Partly crawled; more is known."""
    EXHAUSTED = "exhausted"
    """Nothing is left in its frontier."""
    BLOCKED = "blocked"
    """It rejects us: robots.txt disallows everything, or requests keep being refused."""
    UNREACHABLE = "unreachable"
    """It does not respond."""


_S = DomainStatus
MOVES: dict[DomainStatus, frozenset[DomainStatus]] = {
    _S.PENDING: frozenset({_S.ACTIVE, _S.BLOCKED, _S.UNREACHABLE}),
    _S.ACTIVE: frozenset({_S.EXHAUSTED, _S.BLOCKED, _S.UNREACHABLE}),
    _S.EXHAUSTED: frozenset({_S.PENDING, _S.ACTIVE}),
    _S.BLOCKED: frozenset({_S.PENDING, _S.ACTIVE}),
    _S.UNREACHABLE: frozenset({_S.PENDING, _S.ACTIVE}),
}


def can_transition(now: DomainStatus, then: DomainStatus) -> bool:
    return then in MOVES[now]
