"""Parses the dates of a query: `2026-11`, `2026-11-01..2026-11-07`, `..2025`, `7d`. Days are those of UTC. Pure."""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from forager.config.durations import parse_duration

PERIOD = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?", re.ASCII)
BETWEEN = ".."
DAY = timedelta(days=1)


class Span(NamedTuple):
    """A time from `start` up to, but without, `end`; None: without a limit on that side."""

    start: datetime | None = None
    end: datetime | None = None

    def intersect(self, other: "Span") -> "Span":
        starts = [each for each in (self.start, other.start) if each is not None]
        ends = [each for each in (self.end, other.end) if each is not None]
        return Span(max(starts, default=None), min(ends, default=None))


def read_span(field: str, text: str, now: datetime) -> Span | None:
    """Returns the time that `date:`, `since:` or `until:` with this value means; None if it is no date."""
    first, dots, last = text.partition(BETWEEN)
    if field != "date":
        period = _read_period(text, now)
        if period is None:
            return None
        return Span(period.start, None) if field == "since" else Span(None, period.end or period.start)
    if not dots:
        return _read_period(text, now)
    start, end = _read_period(first, now), _read_period(last, now)
    if (first and start is None) or (last and end is None) or not (first or last):
        return None
    return Span(start.start if start else None, (end.end or end.start) if end else None)


def _read_period(text: str, now: datetime) -> Span | None:
    """Returns a year, a month, a day, or the time since so long ago."""
    found = PERIOD.fullmatch(text)
    try:
        if found is None:
            return Span(now - timedelta(seconds=parse_duration(text)))
        year, month, day = (int(part) if part else None for part in found.groups())
        assert year is not None
        start = datetime(year, month or 1, day or 1, tzinfo=UTC)
        if day:
            return Span(start, start + DAY)
        if month:
            return Span(start, datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC))
        return Span(start, datetime(year + 1, 1, 1, tzinfo=UTC))
    except (ValueError, OverflowError):
        return None
