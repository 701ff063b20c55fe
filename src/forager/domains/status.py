"""The life of a domain, as a table one can read. The database holds the same table and refuses every other move.

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
    """It does not want us: robots.txt forbids everything, or it keeps refusing."""
    UNREACHABLE = "unreachable"
    """Nobody answers."""


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
