"""Dates as pages and feeds write them → moments in UTC. What is no date, or none of our time, is None."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache

EARLIEST, LATEST = 1970, 2100
LONGEST = 60
PARTS = re.compile(
    r"\s*(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2})(?:[T\s]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?)?(?!\d)|(\d{4})年(\d{1,2})月(\d{1,2})日"
)
IN_PATH = re.compile(r"/((?:19|20)\d\d)[/-](0[1-9]|1[0-2])[/-](0[1-9]|[12]\d|3[01])(?=[/-])")


@lru_cache(maxsize=1024)
def parse_date(text: str) -> datetime | None:
    """ISO 8601 in its many spellings, RFC 822 as in feeds, `2024/3/5 10:00` and the like. Without a zone: UTC."""
    text = text.strip()[:LONGEST]
    moment = _read(datetime.fromisoformat, text) or _read(_from_parts, text) or _read(_from_mail, text)
    return moment if moment is not None and EARLIEST <= moment.year <= LATEST else None


def date_in_path(url: str) -> datetime | None:
    """`/2024/03/05/…`, as blogs and newspapers have it."""
    match = IN_PATH.search(url)
    return parse_date("-".join(match.groups())) if match else None


def _read(read: object, text: str) -> datetime | None:
    try:
        moment: datetime | None = read(text)  # type: ignore[operator]
        if moment is None:
            return None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def _from_parts(text: str) -> datetime | None:
    match = PARTS.match(text)
    if match is None:
        return None
    numbers = [int(part) for part in match.groups() if part is not None]
    return datetime(*(numbers + [1] * (3 - len(numbers))))  # type: ignore[arg-type]  # noqa: DTZ001 (_read gives it one)


def _from_mail(text: str) -> datetime | None:
    return parsedate_to_datetime(text) if "," in text or ":" in text else None
