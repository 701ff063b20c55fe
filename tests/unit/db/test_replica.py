"""How far a replica is behind, by what was noted, and when it may be asked. Pure."""

import pytest

from forager.db.replica import MOST_NOTES, Found, Progress, State, judge


def found(**facts: object) -> Found:
    usual: dict[str, object] = {"written": 9, "replayed": 9, "is_replica": True, "is_same": True, "has_schema": True}
    return Found(**{**usual, "keeps_rows": True, **facts})  # type: ignore[arg-type]


def test_one_that_has_all_is_as_old_as_the_last_note() -> None:
    progress = Progress()
    progress.note(10.0, 100)
    progress.note(11.0, 200)
    progress.reach(200)
    assert progress.lag_s(11.5) == 0.5


def test_an_idle_primary_makes_nobody_late() -> None:
    progress = Progress()
    for second in range(1000):
        progress.note(float(second), 100)
        progress.reach(100)
    assert progress.lag_s(999.0) == 0.0


def test_it_is_behind_since_the_last_note_it_has_reached() -> None:
    progress = Progress()
    for second in range(10):
        progress.note(float(second), second * 100)
    progress.reach(350)
    assert progress.lag_s(9.0) == 6.0


def test_nothing_is_known_before_it_reached_what_was_noted_first() -> None:
    progress = Progress()
    progress.note(10.0, 100)
    progress.reach(99)
    assert progress.lag_s(10.0) is None


def test_notes_of_a_long_absence_do_not_pile_up() -> None:
    progress = Progress()
    progress.note(0.0, 0)
    progress.reach(0)
    for second in range(1, 5 * MOST_NOTES):
        progress.note(float(second), second)
    assert len(progress._notes) <= MOST_NOTES
    progress.reach(10 * MOST_NOTES)
    assert progress.lag_s(5.0 * MOST_NOTES) < 100  # type: ignore[operator]


@pytest.mark.parametrize(
    ("facts", "lag_s", "state"),
    [
        ({}, 1.0, State.IN_STEP),
        ({}, 10.0, State.IN_STEP),
        ({}, 10.1, State.BEHIND),
        ({}, None, State.BEHIND),
        ({"has_schema": False}, 1.0, State.SCHEMA),
        ({"is_same": False}, 1.0, State.FOREIGN),
        ({"is_replica": False}, 1.0, State.NO_REPLICA),
    ],
)
def test_it_is_asked_only_if_all_is_well(facts: dict[str, object], lag_s: float | None, state: State) -> None:
    assert judge(found(**facts), lag_s, 10.0) is state
