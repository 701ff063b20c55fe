"""What the terms of a score say to people."""

from datetime import UTC, datetime, timedelta

from forager.domains.score_terms import LABELS, UNITS, explain_terms

NOW = datetime(2026, 5, 1, tzinfo=UTC)
ROW = {
    "idle_since": NOW - timedelta(days=2),
    "images_policy": "found",
    "seed_rank": 1200,
    "priority_boost": 50.0,
    "frontier_size": 3,
    "image_yield_rate": 2.0,
    "recent_error_rate": 0.04,
    **{f"score_{name}": number for number, name in enumerate(UNITS)},
}


def test_each_term_has_points_a_unit_and_a_reason() -> None:
    terms = {term.name: term for term in explain_terms(ROW, NOW)}
    assert list(terms) == list(UNITS) == list(LABELS)
    assert [term.points for term in terms.values()] == list(range(len(UNITS)))
    assert {name: term.explanation for name, term in terms.items()} == {
        "seed_rank": "rank 1,200",
        "boost": "set by an operator",
        "new_pages": "3 waiting",
        "staleness": "no visit for 2.0 days",
        "image_yield": "2.00 stored per page, but its policy is found",
        "recent_errors": "4% of the recent visits failed",
    }
