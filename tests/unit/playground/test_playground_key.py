import pytest

from forager.urls.resolve import resolve_link
from forager_playground import Fate, SitePage, make_answer_key, read_key
from forager_playground.key import measure_depths, normalize_href

BASE = "http://site"


@pytest.mark.parametrize(
    ("path", "href", "expected"),
    [
        ("/", "/p/1", "/p/1"),
        ("/a/b/c.html", "../d/", "/a/d/"),
        ("/a/b/c.html", "./d.html#part", "/a/b/d.html"),
        ("/a/b", "#part", "/a/b"),
        ("/a", "?sort=price&page=2&utm_source=x", "/a?page=2&sort=price"),
        ("/a", "/b?ref=1&source=2", "/b"),
        ("/", "/ru/сад", "/ru/%D1%81%D0%B0%D0%B4"),
        ("/", "/ru/%D1%81%D0%B0%D0%B4", "/ru/%D1%81%D0%B0%D0%B4"),
        ("/", "https://www.example.org/", None),
        ("/", "mailto:a@b.example", None),
        ("/", "javascript:void(0)", None),
    ],
)
def test_links_are_normalised_as_the_crawler_does(path: str, href: str, expected: str | None) -> None:
    assert normalize_href(path, href) == expected
    if expected is not None:
        assert resolve_link(BASE + path, href) == BASE + expected


def test_a_redirect_target_has_the_depth_of_the_redirect() -> None:
    listed = {
        "/": SitePage("/"),
        "/old": SitePage("/old", 301, redirect_to="/new"),
        "/new": SitePage("/new"),
        "/far": SitePage("/far"),
        "/no": SitePage("/no", fate=Fate.FORBIDDEN),
        "/hidden": SitePage("/hidden", fate=Fate.NOT_FOLLOWED),
    }
    links: dict[str, tuple[tuple[str, bool], ...]] = dict.fromkeys(listed, ())
    links["/"] = (("/old", False), ("/no", False), ("/hidden", True))
    links["/new"] = (("/far", False), ("/", False))
    assert measure_depths(listed, links) == {"/": 0, "/old": 1, "/new": 1, "/far": 2}


def test_a_key_survives_json() -> None:
    key = make_answer_key(port=8000, seed=3)
    assert read_key(key.to_json()) == key


def test_the_sets_of_a_key_divide_its_pages() -> None:
    key = make_answer_key(port=8000)
    success, redirects, failures = key.expected_success(), set(key.expected_redirects()), set(key.expected_failures())
    assert success | redirects | failures == key.expected_visits()
    assert len(success) + len(redirects) + len(failures) == len(key.expected_visits())
    assert key.forbidden() < key.must_not_fetch()
    assert key.expected_visits() | key.must_not_fetch() == set(key.by_url)
    assert set(key.expected_redirects().values()) <= key.expected_visits()
    assert sorted(key.expected_failures().values()) == [403, 404, 404, 410, 500]


def test_traps_are_known_by_their_address() -> None:
    key = make_answer_key(["shop", "trap"], port=8000)
    shop, trap = (site.base_url for site in key.sites)
    assert key.is_trap(f"{trap}/calendar/2050/3")
    assert key.is_trap(f"{trap}/p/3?sid=ab")
    assert not key.is_trap(f"{trap}/p/3")
    assert not key.is_trap(f"{shop}/calendar/2050/3")
