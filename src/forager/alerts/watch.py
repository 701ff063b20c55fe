"""Decides when an alert is raised and when it is resolved, with hysteresis against flapping. Pure; it reads no clock.

              bad for hold_s                        good for quiet_s
    quiet ─────────────────────> open (raised) ─────────────────────> quiet (resolved)

A rule reports good, bad, or between: too bad to resolve an alert, not bad enough to raise one. Between resets both
timers. A gap in the evaluations resets them too: the state during the gap is unknown.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

LONGEST_GAP = timedelta(minutes=5)
"""The longest time between two evaluations; a longer gap resets the timers."""


class Level(StrEnum):
    GOOD = "good"
    BETWEEN = "between"
    BAD = "bad"


class Move(StrEnum):
    RAISE = "raise"
    RESOLVE = "resolve"


@dataclass(frozen=True, slots=True)
class Watch:
    """The state of one rule and subject between two evaluations."""

    is_open: bool = False
    bad_since: datetime | None = None
    quiet_since: datetime | None = None
    seen_at: datetime | None = None

    @property
    def is_pending(self) -> bool:
        return self.bad_since is not None or self.quiet_since is not None


def step(watch: Watch, level: Level, now: datetime, *, hold: timedelta, quiet: timedelta) -> tuple[Watch, Move | None]:
    """Applies one evaluation. An open alert has no `bad_since`, a closed one no `quiet_since`."""
    if watch.seen_at is not None and not timedelta() <= now - watch.seen_at <= LONGEST_GAP:
        watch = Watch(watch.is_open)
    if watch.is_open:
        return _step_open(watch, level, now, quiet)
    if level is not Level.BAD:
        return Watch(seen_at=now), None
    since = watch.bad_since or now
    if now - since >= hold:
        return Watch(is_open=True, seen_at=now), Move.RAISE
    return Watch(bad_since=since, seen_at=now), None


def _step_open(watch: Watch, level: Level, now: datetime, quiet: timedelta) -> tuple[Watch, Move | None]:
    if level is not Level.GOOD:
        return Watch(is_open=True, seen_at=now), None
    since = watch.quiet_since or now
    if now - since >= quiet:
        return Watch(seen_at=now), Move.RESOLVE
    return Watch(is_open=True, quiet_since=since, seen_at=now), None
