"""The only source of time, so that tests can control it.

`now` is for timestamps that people see; the database's clock decides leases. `monotonic` is for pacing and timeouts: it
never jumps when the machine's clock is set.
"""

import time
from datetime import UTC, datetime, timedelta

TIMER_GRAIN_S = 0.001
"""uvloop's timers may fire up to a millisecond early."""


def now() -> datetime:
    return datetime.now(UTC)


def monotonic() -> float:
    return time.monotonic()


def at(moment: float) -> datetime:
    """Returns this machine's wall-clock time at a moment of the monotonic clock."""
    return now() + timedelta(seconds=moment - monotonic())
