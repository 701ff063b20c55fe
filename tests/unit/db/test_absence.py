"""When the database counts as away: after three failures in a row, said once; and how long it was."""

from forager.db.availability import Absence


def test_three_failures_in_a_row_are_said_once() -> None:
    absence = Absence()
    assert [absence.note_failure(float(at)) for at in range(5)] == [False, False, True, False, False]
    assert absence.is_known


def test_an_answer_in_between_starts_the_count_anew() -> None:
    absence = Absence()
    absence.note_failure(0.0)
    absence.note_failure(1.0)
    assert absence.record_success(2.0) is None
    assert [absence.note_failure(3.0) for _ in range(3)] == [False, False, True]


def test_who_comes_back_hears_how_long_it_was_away() -> None:
    absence = Absence()
    for at in (10.0, 11.0, 12.0):
        absence.note_failure(at)
    assert absence.record_success(70.0) == 60.0
    assert absence.record_success(71.0) is None
    assert not absence.is_known
