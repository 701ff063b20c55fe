"""The table of moves of a task."""

from itertools import pairwise

from forager.frontier.task_status import CLOSED, MOVES, TaskStatus

PAUSED, PENDING, CANCELLED = TaskStatus.PAUSED, TaskStatus.PENDING, TaskStatus.CANCELLED


def test_nothing_leads_out_of_a_closed_state_and_every_other_ends_in_one() -> None:
    assert all(not MOVES[status] for status in CLOSED)
    assert all(CANCELLED in MOVES[status] for status in TaskStatus if status not in CLOSED)


def test_what_waits_or_is_under_way_may_be_paused() -> None:
    assert {status for status in TaskStatus if PAUSED in MOVES[status]} == {"pending", "crawling"}


def test_what_is_paused_waits_or_is_cancelled_and_nothing_else() -> None:
    assert MOVES[PAUSED] == {PENDING, CANCELLED}


def test_the_line_leads_from_order_to_end() -> None:
    line = ["pending", "crawling", "completed"]
    assert all(then in MOVES[TaskStatus(now)] for now, then in pairwise(line))
