import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.cli import format as words
from forager.cli.durations import LONGEST_S, parse_duration, parse_window
from forager.config.durations import UNITS_S, format_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("15m", 900),
        ("6h", 21_600),
        ("14d", 14 * 86_400),
        ("2w", 14 * 86_400),
        ("1.5h", 5400),
        ("1d12h", 129_600),
        (" 2 H 10 m ", 7800),
    ],
)
def test_spans_of_time(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "90", "h", "-3h", "6 hours", "1e3s", "6h!", "h6", "٣h ", "0s", "0.0d", "3651d", "9" * 400 + "w"]
)
def test_what_is_no_span_is_refused_in_words(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a duration; write it like|is too short|is too long"):
        parse_duration(text)


@given(st.floats(min_value=10, max_value=LONGEST_S))
def test_what_is_shown_can_be_typed(seconds: float) -> None:
    """Of what people read only the two largest units are left."""
    shown = words.duration(seconds).replace(",", "")
    assert parse_duration(shown) == pytest.approx(seconds, rel=0.05, abs=1)


@given(st.integers(min_value=1, max_value=9999), st.sampled_from(sorted(UNITS_S)))
def test_what_the_history_says_can_be_typed(number: int, unit: str) -> None:
    seconds = number * UNITS_S[unit]
    if seconds <= LONGEST_S:
        assert parse_duration(format_duration(seconds)) == pytest.approx(seconds, rel=1e-5)


@given(st.text(alphabet="0123456789.smhdw -x٣", max_size=12))
def test_any_text_is_seconds_or_a_sentence(text: str) -> None:
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        told = str(error)
    else:
        told = "" if 0 < seconds <= LONGEST_S else "wrong"
    assert not told or "is not a duration" in told or "is too" in told


@pytest.mark.parametrize(
    ("text", "window"),
    [("22:00-06:00", ("22:00", "06:00")), ("9:30 – 10:00", ("09:30", "10:00")), ("00:00-23:59", ("00:00", "23:59"))],
)
def test_windows(text: str, window: tuple[str, str]) -> None:
    assert parse_window(text) == window


@pytest.mark.parametrize(
    "text", ["", "22-6", "24:00-06:00", "22:60-06:00", "22:00", "22:00-06:00-07:00", "06:00-06:00"]
)
def test_what_is_no_window_is_refused_in_words(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no window|begins when it ends"):
        parse_window(text)
