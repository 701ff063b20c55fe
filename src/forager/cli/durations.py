"""Parses durations and daily windows as people type them: `90s`, `15m`, `6h`, `14d`, `2w`, `1d12h`, `22:00-06:00`."""

import re
from datetime import UTC, datetime, timedelta

from forager.config import durations
from forager.errors import UsageError

LONGEST_S = 3650 * durations.UNITS_S["d"]

_WINDOW = re.compile(r"\s*(\d{1,2}:\d{2})\s*[-–]\s*(\d{1,2}:\d{2})\s*", re.ASCII)


def parse_duration(text: str) -> float:
    """Returns seconds, more than zero and at most ten years."""
    seconds = durations.parse_duration(text)
    if not 0 < seconds <= LONGEST_S:
        raise ValueError(f"{text!r} is too {'short' if not seconds else 'long: ten years is the most'}")
    return seconds


def parse_window(text: str) -> tuple[str, str]:
    """Returns start and end of a daily window, as `HH:MM`. One that passes midnight ends the next day."""
    found = _WINDOW.fullmatch(text)
    edges = [_clock(edge) for edge in found.groups()] if found else [None]
    start, end = (edges[0], edges[-1])
    if start is None or end is None:
        raise ValueError(f"{text!r} is no window; write it like 22:00-06:00 (UTC)")
    if start == end:
        raise ValueError(f"{text!r} begins when it ends; `forager domain NAME pause` stops a domain altogether")
    return start, end


def _clock(text: str) -> str | None:
    hours, minutes = map(int, text.split(":"))
    return f"{hours:02}:{minutes:02}" if hours < 24 and minutes < 60 else None


def parse_past_time(text: str, now: datetime, option: str = "--since") -> datetime:
    """Parses a date or time (UTC unless it says otherwise), or how long ago."""
    try:
        return now - timedelta(seconds=parse_duration(text))
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(
            f"{option} {text!r} is no time; write it like 2026-01-31, 2026-01-31T12:00, 7d or 12h."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
