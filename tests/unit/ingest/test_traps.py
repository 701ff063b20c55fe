"""URLs that real sites have must pass; shapes only machines make must not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.ingest.traps import LONGEST_URL, MOST_PARAMETERS, MOST_SEGMENTS, is_binary, is_trap

REAL = [
    "https://a.example/",
    "https://a.example/2024/01/01/a-new-year",
    "https://a.example/2024/2024/2024/2024/2024",
    "https://a.example/en/docs/en/guide/en/start",
    "https://a.example/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p",
    "https://a.example/shop?colour=red&size=m&sort=price&page=3&min=1&max=99",
    "https://a.example/wiki/Session_(computer_science)?action=history",
    "https://a.example/article?id=12345&inside=1",
    "https://a.example/users/sid=1/profile",
    "https://a.example/" + "x" * 1900,
    "https://a.example//double//slashes//here//there//everywhere/",
]
TRAPS = [
    "https://a.example/" + "x" * LONGEST_URL,
    "https://a.example/" + "/".join(f"s{n}" for n in range(MOST_SEGMENTS + 1)),
    "https://a.example/a/b/a/b/a/b/a/b",
    "https://a.example/calendar/next/next/next/next",
    "https://a.example/?" + "&".join(f"p{n}=1" for n in range(MOST_PARAMETERS + 1)),
    "https://a.example/x?PHPSESSID=0123456789abcdef",
    "https://a.example/x;jsessionid=0123456789ABCDEF?q=1",
    "https://a.example/x?q=1&sid=42",
    "https://a.example/x?session_id=42",
    "https://a.example/x?sessionid=42",
]


@pytest.mark.parametrize("url", REAL)
def test_a_real_url_passes(url: str) -> None:
    assert not is_trap(url)


@pytest.mark.parametrize("url", TRAPS)
def test_a_trap_does_not(url: str) -> None:
    assert is_trap(url)


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=13, max_size=40))
def test_a_path_that_goes_round_is_a_trap_however_it_turns(segments: list[str]) -> None:
    """Thirteen steps among three places come to one of them more than three times."""
    assert is_trap("https://a.example/" + "/".join(segments))


@pytest.mark.parametrize("name", ["a.pdf", "a.JPG", "style.css", "a.tar.gz", "x.woff2", "clip.mpeg", "a.7z", "a.m4v"])
def test_a_file_we_do_not_read_is_told_by_its_ending(name: str) -> None:
    assert is_binary(f"https://a.example/files/{name}")
    assert is_binary(f"https://a.example/files/{name}?v=2")


@pytest.mark.parametrize(
    "path",
    ["", "page", "page.html", "page.php", "v1.2", "a.jpg/view", "show?file=a.pdf", "node.js-guide", "pdf", "x.aspx"],
)
def test_a_page_is_not_taken_for_a_file(path: str) -> None:
    assert not is_binary(f"https://a.example/{path}")


@pytest.mark.parametrize("host", ["a.zip", "files.mov", "x.py"])
def test_a_host_is_no_file_although_its_name_ends_like_one(host: str) -> None:
    assert not is_binary(f"https://{host}/")
