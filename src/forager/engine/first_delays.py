"""Spreads the first requests of domains that are leased together over their delay."""

import os
import random
from collections import deque

from forager.politeness.throttle import first_wait_s


class FirstDelays:
    def __init__(self) -> None:
        self._opened: deque[float] = deque()
        """When domains were leased whose last request was long ago, on the monotonic clock."""
        self._rng = random.Random(os.urandom(8))  # noqa: S311 (jitter, keeps no secret)

    def next_s(self, delay_s: float, now: float) -> float:
        """Returns the initial wait of the domain leased now, spread among those leased within the last `delay_s`."""
        while self._opened and self._opened[0] < now - delay_s:
            self._opened.popleft()
        wait_s = first_wait_s(delay_s, len(self._opened), self._rng)
        self._opened.append(now)
        return wait_s
