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
        ("http://a.example/", 3, HIGH),
        ("http://a.example/", 9, HIGH),
        ("https://a.example:8443", 9, HIGH),
        ("http://a.example/index.html", 9, HIGH),
        ("http://a.example/?page=2", 1, LOW),
        ("http://a.example/?utm=1", 3, MEDIUM),
        ("http://a.example/?p=123", 1, HIGH),
        ("http://a.example/?p=123", 3, MEDIUM),
        ("http://a.example/blog?paged=3", 1, LOW),
        ("http://a.example/about", 7, MEDIUM),
        ("http://a.example/en/contact-us/", 9, MEDIUM),
        ("http://a.example/about/history", 7, LOW),
        ("http://a.example/aboutness", 7, LOW),
    ],
)
def test_shallow_content_comes_before_deep_content_and_pagination(url: str, depth: int, priority: int) -> None:
    assert priority_of(url, depth) == priority


def test_a_seed_comes_first_whatever_it_looks_like() -> None:
    assert priority_of("http://a.example/tag/x?page=9", 9, is_seed=True) == SEED
    assert SEED < HIGH < MEDIUM < LOW
