"""Times of day (UTC) as settings write them: `02:00`, `Sun 04:00`, or `never`. Pure; the database reads the clock."""

from typing import NamedTuple

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
NEVER = "never"


class TimeOfDay(NamedTuple):
    time: str | None
    """None: any time; the interval alone counts."""
    weekday: int | None
    """1 is Monday; None: every day."""


ANY_TIME = TimeOfDay(None, None)


def parse(text: str) -> TimeOfDay:
    """Parses the value of a setting; its form was checked when the settings were loaded."""
    if text == NEVER:
        return ANY_TIME
    *day, time = text.split()
    return TimeOfDay(time, WEEKDAYS.index(day[0]) + 1 if day else None)
