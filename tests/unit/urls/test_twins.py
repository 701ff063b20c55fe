"""URLs that differ only in scheme and www."""

import pytest

from forager.urls.twins import are_twins, twin_origins, under_origin


@pytest.mark.parametrize(
    ("origin", "family"),
    [
        (
            "http://a.example",
            {"http://a.example", "https://a.example", "http://www.a.example", "https://www.a.example"},
        ),
        (
            "https://www.a.example",
            {"http://a.example", "https://a.example", "http://www.a.example", "https://www.a.example"},
        ),
        ("http://a.example:8080", {"http://a.example:8080"}),
        ("http://127.0.0.1", {"http://127.0.0.1", "https://127.0.0.1"}),
        ("http://[::1]", {"http://[::1]"}),
        ("http://www.com", {"http://www.com", "https://www.com"}),
        ("http://localhost", {"http://localhost", "https://localhost"}),
    ],
)
def test_origins_of_one_site(origin: str, family: set[str]) -> None:
    assert set(twin_origins(origin)) == family


def test_a_url_is_taken_under_the_origin_of_its_site() -> None:
    assert under_origin("http://a.example/x?q=1", "https://www.a.example") == "https://www.a.example/x?q=1"
    assert under_origin("https://www.a.example/x", "https://www.a.example") == "https://www.a.example/x"
    assert under_origin("http://b.a.example/x", "https://a.example") == "http://b.a.example/x"
    assert under_origin("http://a.example:81/x", "https://a.example") == "http://a.example:81/x"
    assert under_origin("http://a.example/x", None) == "http://a.example/x"


def test_twins_have_the_same_path_and_query() -> None:
    assert are_twins("http://a.example/x?q", "https://www.a.example/x?q")
    assert not are_twins("http://a.example/x?q", "https://www.a.example/x")
    assert not are_twins("http://a.example/x", "http://a.example/x")
    assert not are_twins("http://a.example/x", "https://b.example/x")
