"""The one door through which time comes, so that tests can move it.

`now` is for moments people see; the database's clock decides leases. `monotonic` is for pace and timeouts:
it never jumps when somebody sets the machine's clock.
"""

import time
from datetime import UTC, datetime, timedelta

TIMER_GRAIN_S = 0.001
"""uvloop's timers may ring up to a millisecond early."""


def now() -> datetime:
    return datetime.now(UTC)


def monotonic() -> float:
    return time.monotonic()


def at(moment: float) -> datetime:
    """What time it was, on this machine, when the monotonic clock showed that moment."""
    return now() + timedelta(seconds=moment - monotonic())
