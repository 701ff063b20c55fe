from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.fetch.retry_after import parse_retry_after

NOW = datetime(2025, 7, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "wait_s"),
    [
        ("120", 120.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("-5", 0.0),
        ("1.5", 1.5),
        ("999999999", 86400.0),
        ("9" * 5000, 86400.0),
        ("Tue, 01 Jul 2025 12:01:00 GMT", 60.0),
        ("Tue, 01 Jul 2025 11:00:00 GMT", 0.0),
        ("Tue, 01 Jul 2035 11:00:00 GMT", 86400.0),
        ("Tuesday, 01-Jul-25 12:00:30 GMT", 30.0),
        ("Tue Jul  1 12:00:10 2025", 10.0),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("1e999", None),
        ("Tue, 99 Jul 2025 12:01:00 GMT", None),
    ],
)
def test_both_forms_are_read_and_clamped(value: str, wait_s: float | None) -> None:
    assert parse_retry_after(value, NOW) == wait_s


@given(st.text(max_size=60))
def test_any_text_gives_a_sane_wait_or_none(value: str) -> None:
    wait_s = parse_retry_after(value, NOW)
    assert wait_s is None or 0 <= wait_s <= 86400
