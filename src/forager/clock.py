"""The one door through which time comes, so that tests can move it.

`now` is for moments people see; the database's clock decides leases. `monotonic` is for pace and timeouts:
it never jumps when somebody sets the machine's clock.
"""

import time
from datetime import UTC, datetime


def now() -> datetime:
    return datetime.now(UTC)


def monotonic() -> float:
    return time.monotonic()
