"""Times as CDX servers take them."""

from datetime import UTC, datetime

import pytest

from forager.captures.cdx import parse_time


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026", "2026-01-01T00:00:00", "2026-12-31T23:59:59"),
        ("202602", "2026-02-01T00:00:00", "2026-02-28T23:59:59"),
        ("20260131", "2026-01-31T00:00:00", "2026-01-31T23:59:59"),
        ("2026013112", "2026-01-31T12:00:00", "2026-01-31T12:59:59"),
        ("20260131121530", "2026-01-31T12:15:30", "2026-01-31T12:15:30"),
        ("2026-01-31", "2026-01-31T00:00:00", "2026-01-31T23:59:59"),
        ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00", "2026-01-31T12:00:00"),
    ],
)
def test_a_span_that_is_less_exact_ends_with_its_last_second(text: str, start: str, end: str) -> None:
    assert parse_time(text) == datetime.fromisoformat(start).replace(tzinfo=UTC)
    assert parse_time(text, is_end=True) == datetime.fromisoformat(end).replace(tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "x", "20", "20261301", "2026-13-01", "202601311", "9" * 20])
def test_what_is_no_time_is_rejected(text: str) -> None:
    with pytest.raises(ValueError):
        parse_time(text)
