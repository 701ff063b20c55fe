from forager.frontier.models import OutcomeKind
from forager.runs.commands.outcome_counts import count_by_label
from forager.runs.models import OutcomeCount


def test_outcomes_are_grouped_as_people_count_them() -> None:
    groups = count_by_label(
        [
            OutcomeCount("success", "200", 5, 0, 0),
            OutcomeCount("success", "204", 1, 0, 0),
            OutcomeCount("success", "301", 2, 0, 0),
            OutcomeCount("success", "302", 2, 0, 0),
            OutcomeCount("timeout", "timeout", 1, 0, 0),
            OutcomeCount("blocked_4xx", "404", 3, 0, 0),
            OutcomeCount("blocked_robots", "robots_denied", 9, 0, 0),
        ]
    )
    assert [(group.label, group.pages) for group in groups] == [
        ("ok", 6),
        ("redirect", 4),
        ("robots", 9),
        ("404", 3),
        ("timeout", 1),
    ]


def test_every_outcome_has_a_word() -> None:
    for kind in OutcomeKind:
        assert count_by_label([OutcomeCount(kind.value, "503", 1, 0, 0)])[0].label
