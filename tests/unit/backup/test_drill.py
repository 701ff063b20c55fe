"""What a fire drill makes of a copy that is smaller than its original."""

import pytest

from forager.backup.commands.drill import compare_sizes
from forager.backup.drill import Sizes

EMPTY = Sizes(domains=0, pages=0, waiting=0, tasks=0, products=0)
SMALL = Sizes(domains=1, pages=10, waiting=3, tasks=9, products=0)
LARGE = Sizes(domains=1, pages=12, waiting=0, tasks=1200, products=0)


@pytest.mark.parametrize(
    ("copy", "original", "is_ok"),
    [(SMALL, LARGE, True), (LARGE, SMALL, True), (EMPTY, EMPTY, True), (EMPTY, LARGE, False), (SMALL, None, True)],
)
def test_only_an_empty_copy_of_one_that_is_not_is_a_fault(copy: Sizes, original: Sizes | None, is_ok: bool) -> None:
    assert {step.is_ok for step in compare_sizes(copy, original)} == {is_ok}


def test_what_differs_is_said() -> None:
    told = {step.name: step.result for step in compare_sizes(SMALL, LARGE)}
    assert (told["domains"], told["tasks"]) == ("1; the original has as many", "9; now 1,200")
    assert {step.result for step in compare_sizes(EMPTY, None)} == {"0"}
