"""Times of day as settings write them."""

import pytest

from forager.config.loader import load
from forager.errors import ConfigurationError
from forager.runtime.schedule import JOBS
from forager.scheduler.times import ANY_TIME, TimeOfDay, parse


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("02:00", TimeOfDay("02:00", None)),
        ("Mon 23:59", TimeOfDay("23:59", 1)),
        ("Sun 04:00", TimeOfDay("04:00", 7)),
        ("never", ANY_TIME),
    ],
)
def test_a_time_is_a_day_of_the_week_or_any_and_a_time_of_day(text: str, at: TimeOfDay) -> None:
    assert parse(text) == at


@pytest.mark.parametrize(
    "text", ["24:00", "2:00", "02:60", "sun 04:00", "Sun", "daily", "02:00\n", " 02:00", "Mon  02:00"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"backup\.schedule"):
        load({"backup.schedule": text}, {})


def test_jobs_have_the_times_of_the_settings() -> None:
    settings = load({"backup.schedule": "Tue 01:30", "archive.schedule": "never"}, {})
    found = {job.name: at for job in JOBS if (at := job.time_of_day(settings)) != ANY_TIME}
    assert found == {"backup": TimeOfDay("01:30", 2), "vacuum": TimeOfDay("04:00", 7)}
    assert {job.name for job in JOBS if job.time_of_day(load({}, {})) != ANY_TIME} == {"backup", "retain", "vacuum"}
