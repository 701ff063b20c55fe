"""Which page of a domain comes first."""

import pytest

from forager.frontier.page_priority import HIGH, LOW, MEDIUM, SEED, priority_of


@pytest.mark.parametrize(
    ("url", "depth", "priority"),
    [
        ("http://a.example/", 0, HIGH),
        ("http://a.example/tea/green", 2, HIGH),
        ("http://a.example/tea/green", 3, MEDIUM),
        ("http://a.example/tea/green", 6, LOW),
        ("http://a.example/tea?page=2", 1, LOW),
        ("http://a.example/tea?colour=red&sort=price", 1, LOW),
        ("http://a.example/blog/page/7", 1, LOW),
        ("http://a.example/tag/green", 1, LOW),
        ("http://a.example/archives", 1, LOW),
        ("http://a.example/calendar/2024", 1, LOW),
        ("http://a.example/pages/about", 1, HIGH),
        ("http://a.example/tagine", 1, HIGH),
        ("http://a.example/tea?homepage=1", 1, HIGH),
    ],
)
def test_shallow_content_comes_before_deep_content_and_pagination(url: str, depth: int, priority: int) -> None:
    assert priority_of(url, depth) == priority


def test_a_seed_comes_first_whatever_it_looks_like() -> None:
    assert priority_of("http://a.example/tag/x?page=9", 9, is_seed=True) == SEED
    assert SEED < HIGH < MEDIUM < LOW
