"""What joining links has in C does what its Python does, to the letter, whatever it is given, and loses no memory."""

import sys
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from forager.urls import compiled
from forager.urls.resolve import join_simple_in_python

if compiled.join_simple is None:
    pytest.skip("nothing was compiled here", allow_module_level=True)

JOIN = compiled.join_simple
ORIGINS = ["http://a.example", "https://a.example", "https://a.example:8443", "http://[::1]"]
STARTS = ["", "/", "//", "///", "//b.example", "//b.example/", "http", "http:/", "https://b.example", "./", "#", "?"]
PIECES = [*"abZ09-_.~!$&()*+,;=:@/?#%'\\ é\0", "/.", "//", "b.example/", "x" * 260]
ESCAPES = st.integers(0, 255).map("%{:02X}".format) | st.integers(0, 255).map("%{:02x}".format)
HREFS = st.builds(
    lambda start, rest: start + "".join(rest),
    st.sampled_from([*ORIGINS, *STARTS]),
    st.lists(st.sampled_from(PIECES) | ESCAPES | st.text(max_size=2), max_size=8),
)


@given(st.sampled_from(ORIGINS), st.sampled_from(["/", "/a/", "/%/"]), st.integers(0, 300), st.lists(HREFS, max_size=9))
@example("http://a.example", "/", 300, ["//" + "b" * n + "/" for n in (0, 1, 2, 260, 261, 262, 263, 264, 265)])
@example("http://a.example", "/", 300, ["http://" + "b" * n + "/" for n in (0, 1, 2, 260, 261, 262, 263)])
@settings(max_examples=1000)
def test_links_are_joined_alike(origin: str, directory: str, room: int, hrefs: list[str]) -> None:
    for is_canonical in (lambda _origin: True, lambda _origin: False, lambda origin: "b.example" in origin):
        made = JOIN(origin, directory, room, hrefs, is_canonical)
        assert made == join_simple_in_python(origin, directory, room, hrefs, is_canonical)


def test_an_origin_is_asked_about_once_in_a_row() -> None:
    asked: list[str] = []

    def is_canonical(origin: str) -> bool:
        asked.append(origin)
        return True

    hrefs = ["/x", "http://b.example/x", "//b.example/y", "http://a.example/x", "http://b.example/z", "//c.example/"]
    JOIN("http://a.example", "/", 99, hrefs, is_canonical)
    assert asked == ["http://b.example", "http://c.example"]


def _fail(_origin: str) -> bool:
    raise LookupError


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ((), TypeError),
        (("http://é", "/", 9, [], bool), TypeError),
        (("http://a", None, 9, [], bool), TypeError),
        (("http://a", "/", "9", [], bool), TypeError),
        (("http://a", "/", 9, None, bool), TypeError),
        (("http://a", "/", 9, ["/x", 1], bool), TypeError),
        (("http://a", "/", 10**30, [], bool), OverflowError),
        (("http://a", "/", 99, ["/x", "http://b.example/"], _fail), LookupError),
    ],
)
def test_what_is_wrong_is_refused(wrong: tuple[Any, ...], error: type[Exception]) -> None:
    with pytest.raises(error):
        JOIN(*wrong)


def test_no_memory_is_lost() -> None:
    origin, directory, links = "http://" + "a" * 9, "/" + "b" * 9, ["/x" * 9, "y" * 9, "http://b.example/", "%"]
    held = [origin, directory, *links]

    def work() -> None:
        JOIN(origin, directory, 99, links, bool)
        with pytest.raises(LookupError):
            JOIN(origin, directory, 99, links, _fail)

    work()
    counts = [sys.getrefcount(thing) for thing in held]
    for _ in range(200):
        work()
    assert [sys.getrefcount(thing) for thing in held] == counts
