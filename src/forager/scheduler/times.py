"""Times of day (UTC) as settings write them: `02:00`, `Sun 04:00`, or `never`. Pure; the database reads the clock."""

from typing import NamedTuple

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
NEVER = "never"


class At(NamedTuple):
    time: str | None
    """None: at any time, every so often."""
    weekday: int | None
    """1 is Monday; None: every day."""


ANY_TIME = At(None, None)


def parse(text: str) -> At:
    """What a setting says; its form was checked when it was read."""
    if text == NEVER:
        return ANY_TIME
    *day, time = text.split()
    return At(time, WEEKDAYS.index(day[0]) + 1 if day else None)
