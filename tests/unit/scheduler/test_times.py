"""Times of day as settings write them."""

import pytest

from forager.config.loader import load
from forager.errors import ConfigurationError
from forager.runtime.schedule import DUTIES, times_of
from forager.scheduler.times import ANY_TIME, At, parse


@pytest.mark.parametrize(
    ("text", "at"),
    [("02:00", At("02:00", None)), ("Mon 23:59", At("23:59", 1)), ("Sun 04:00", At("04:00", 7)), ("never", ANY_TIME)],
)
def test_a_time_is_a_day_of_the_week_or_any_and_a_time_of_day(text: str, at: At) -> None:
    assert parse(text) == at


@pytest.mark.parametrize(
    "text", ["24:00", "2:00", "02:60", "sun 04:00", "Sun", "daily", "02:00\n", " 02:00", "Mon  02:00"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"backup\.schedule"):
        load({"backup.schedule": text}, {})


def test_the_duties_of_the_night_have_their_times() -> None:
    settings = load({"backup.schedule": "Tue 01:30", "archive.schedule": "never"}, {})
    assert times_of(settings) == {"backup": At("01:30", 2), "vacuum": At("04:00", 7)}
    assert {"backup", "retain", "vacuum"} <= set(DUTIES)
