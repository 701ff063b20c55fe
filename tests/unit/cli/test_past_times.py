"""`--since`: a date, a time, or how long ago."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from forager.cli.durations import parse_past_time
from forager.errors import UsageError

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        (" 2026-01-31T08:30 ", datetime(2026, 1, 31, 8, 30, tzinfo=UTC)),
        ("2026-01-31T08:30+02:00", datetime(2026, 1, 31, 8, 30, tzinfo=timezone(timedelta(hours=2)))),
        ("7d", NOW - timedelta(days=7)),
        ("1d12h", NOW - timedelta(hours=36)),
        ("30 m", NOW - timedelta(minutes=30)),
    ],
)
def test_moments(text: str, moment: datetime) -> None:
    assert parse_past_time(text, NOW) == moment


@pytest.mark.parametrize("text", ["", "soon", "7", "-7d", "2026-02-30", "9999999999d"])
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--since"):
        parse_past_time(text, NOW)
