"""Parses a Retry-After header into seconds, with a maximum of one day."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_S = 24 * 3600.0


def parse_retry_after(value: str, now: datetime) -> float | None:
    """Parses both forms of RFC 9110, seconds and date, clamped to 0–24 h; returns None when it is neither."""
    value = value.strip()
    wait_s = _seconds(value) if value[:1].isdigit() or value[:1] in {"-", "+"} else _until(value, now)
    return None if wait_s is None else min(max(wait_s, 0.0), LONGEST_S)


def _seconds(value: str) -> float | None:
    """Parses seconds. Also accepts an imprecise `120.5` or `-1`; a number with more digits than a day has counts as
    a day."""
    if len(value) > 12 and value.isascii() and value.isdigit():
        return LONGEST_S
    try:
        wait_s = float(value)
    except ValueError:
        return None
    return wait_s if abs(wait_s) < float("inf") else None


def _until(value: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now).total_seconds()
