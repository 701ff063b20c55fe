"""What is said of tables, in plain words."""

from typing import Any

import pytest

from forager import clock
from forager.storage.usage import Table, list_hints


def a_table(**known: Any) -> Table:
    now = clock.now()
    sound: dict[str, Any] = {"size_bytes": 1, "index_bytes": 0, "dead_rows": 0, "changed_rows": 0, "growth_bytes": None}
    return Table("pages", **sound | {"rows": 10_000, "vacuumed_at": now, "analysed_at": now} | known)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({}, []),
        ({"dead_rows": 2000}, []),
        ({"dead_rows": 10_000}, ["50% of its rows are dead"]),
        ({"dead_rows": 10_000, "vacuumed_at": None}, ["never cleaned"]),
        ({"analysed_at": None}, ["the planner knows nothing of its 10,000 rows"]),
        ({"changed_rows": 5000}, ["5,000 rows changed"]),
        ({"dead_rows": 90_000, "analysed_at": None}, ["90% of its rows are dead", "the planner knows nothing"]),
        ({"rows": 10, "dead_rows": 900, "analysed_at": None}, []),
        ({"rows": 0, "dead_rows": 5000}, ["100% of its rows are dead"]),
    ],
)
def test_only_what_helps_is_said(known: dict[str, Any], said: list[str]) -> None:
    advice = list(list_hints(a_table(**known)))
    assert len(advice) == len(said)
    assert all(part in line for part, line in zip(said, advice, strict=True))
    assert all(line.startswith("pages: ") and "forager schedule run --once vacuum" in line for line in advice)
