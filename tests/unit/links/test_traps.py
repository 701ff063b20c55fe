"""URLs that real sites have must pass; shapes only machines make must not, and each is told by its own rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.links.trap_descriptions import TRAP_WORDS
from forager.links.traps import (
    LONGEST_URL,
    MOST_OF_ONE_PARAMETER,
    MOST_PARAMETERS,
    MOST_SEGMENTS,
    RULES,
    SESSION_ID,
    calendar_year,
    has_session,
    is_binary,
    trap_in,
    without_session,
)
from forager.urls.normalize import normalize

LATEST = 2036
A = "https://a.example"
REAL = [
    f"{A}/",
    f"{A}/2024/01/01/a-new-year",
    f"{A}/2026/11/16/article",
    f"{A}/2024/2024/2024/2024/2024",
    f"{A}/a/b/a",
    f"{A}/en/docs/en/guide/en/start",
    f"{A}/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p",
    f"{A}/shop?colour=red&size=m&sort=price&page=3&min=1&max=99",
    f"{A}/shop?brand=a&brand=b&brand=c&colour=red",
    f"{A}/list?page=1734",
    f"{A}/archive/2011/page/12",
    f"{A}/wiki/Session_(computer_science)?action=history",
    f"{A}/wiki/S(5)",
    f"{A}/article?id=12345&inside=1",
    f"{A}/users/sid=1/profile",
    f"{A}/modules.php?file=article&name=News&sid=42",
    f"{A}/?s=session+id",
    f"{A}/login?next=%2Faccount%2Forders%2F2024",
    f"{A}/proxy?url=https%3A%2F%2Fb.example%2Fa%2Fb%2Fc",
    f"{A}/calendar",
    f"{A}/calendar/2026/11",
    f"{A}/calendar/2026-11-16",
    f"{A}/calendar/event/2150",
    f"{A}/events/1945/05/08",
    f"{A}/population?year=2050",
    f"{A}/calendars/wall-2150",
    f"{A}/report?date=2026-11-16&month=11",
    f"{A}/" + "x" * 1900,
    f"{A}//double//slashes//here//there//everywhere/",
]
TRAPS = [
    ("too_long", f"{A}/" + "x" * LONGEST_URL),
    ("too_deep_path", f"{A}/" + "/".join(f"s{n}" for n in range(MOST_SEGMENTS + 1))),
    ("repeating_path", f"{A}/a/b/a/b/a/b/a/b"),
    ("repeating_path", f"{A}/a/a/a/a?x=1"),
    ("repeating_path", f"{A}/guide/next/next/next/next"),
    ("growing_query", f"{A}/?" + "&".join(f"p{n}=1" for n in range(MOST_PARAMETERS + 1))),
    ("growing_query", f"{A}/?" + "&".join(f"p={n}" for n in range(MOST_OF_ONE_PARAMETER + 1))),
    ("growing_query", f"{A}/login?next=%2Flogin%3Fnext%3D%252Flogin%253Fnext%253D%25252Fp"),
    ("growing_query", f"{A}/show?path=/a/b/a/b/a/b/a"),
    ("growing_query", f"{A}/show?path=%2Fa%2Fb%2Fa%2Fb%2Fa%2Fb%2Fa"),
    ("calendar", f"{A}/calendar/2090/3"),
    ("calendar", f"{A}/Kalender/2037-01"),
    ("calendar", f"{A}/calendar/1712/3"),
    ("calendar", f"{A}/cal?month=3&year=2099"),
    ("calendar", f"{A}/agenda?date=2150-03-01"),
]
SESSIONS = [
    ("/x?PHPSESSID=0123456789abcdef", "/x"),
    ("/x?PHPSESSID=", "/x"),
    ("/x;jsessionid=0123456789ABCDEF?q=1", "/x?q=1"),
    ("/;jsessionid=0123456789ABCDEF", "/"),
    ("/x;jsessionid=1A2B.node1/y", "/x/y"),
    ("/x?q=1&sid=4f2a91c07b", "/x?q=1"),
    ("/x?a=1&sessionid=42&z=9", "/x?a=1&z=9"),
    ("/x?session_id=42", "/x"),
    ("/x?CFID=123&CFTOKEN=456&p=1", "/x?p=1"),
    ("/x?osCsid=8a7b6c5d4e3f2a1b", "/x"),
    ("/(S(lit3py55t21z5v55vlm25s55))/x.aspx", "/x.aspx"),
    ("/(X(1)S(lit3py55t21z5v55vlm25s55))/x.aspx", "/x.aspx"),
    ("/S(abc1)/x", "/x"),
]


@pytest.mark.parametrize("url", REAL)
def test_a_real_url_passes(url: str) -> None:
    assert trap_in(url, LATEST) is None


@pytest.mark.parametrize(("rule", "url"), TRAPS)
def test_a_trap_does_not_and_its_rule_is_named(rule: str, url: str) -> None:
    assert trap_in(url, LATEST) == rule


@pytest.mark.parametrize(("rule", "url"), TRAPS)
def test_a_released_rule_does_not_count(rule: str, url: str) -> None:
    assert trap_in(url, LATEST, frozenset({rule})) is None


@pytest.mark.parametrize(("path", "clean"), SESSIONS)
def test_a_session_id_is_taken_off(path: str, clean: str) -> None:
    assert trap_in(A + path, LATEST) == SESSION_ID
    assert without_session(A + path) == A + clean
    assert normalize(A + clean) == A + clean
    assert not has_session(A + clean)


def test_every_rule_has_its_words() -> None:
    assert set(RULES) <= set(TRAP_WORDS)


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=13, max_size=24))
def test_a_path_that_goes_round_is_a_trap_however_it_turns(segments: list[str]) -> None:
    """Thirteen steps among three places come to one of them more than three times."""
    assert trap_in(f"{A}/" + "/".join(segments), LATEST) == "repeating_path"


SEGMENT = st.sampled_from(
    [
        *("a", "B", "calendar", "Agenda", "2026", "2099", "11", "", "long" * 200),
        *("x;sid=12345678", "(S(ab12cd34))", "S(abcd)"),
    ]
)
PIECE = st.sampled_from(
    [
        *("a=1", "b", "month=3", "YEAR=2099", "date=20990101", "p=/a/a/a/a", "n=%2525", "q=%2Fa%2Fa%2Fa%2Fa"),
        *("sid=1", "sid=12345678", "SID=abcdefg1", "cfid=1", "PHPSESSID=x", "zenid=1", "s_id=a1b2c3d4"),
        "asp.net_sessionid=1",
    ]
)
URLS = st.builds(
    lambda path, query: f"{A}/{'/'.join(path)}" + (f"?{'&'.join(query)}" if query else ""),
    st.lists(SEGMENT, max_size=30),
    st.lists(PIECE, max_size=20),
)


@given(URLS)
def test_the_quick_look_overlooks_nothing(url: str) -> None:
    assert trap_in(url, LATEST) == next((rule for rule, holds in RULES.items() if holds(url, LATEST)), None)


@given(URLS)
def test_taking_off_a_session_once_is_enough(url: str) -> None:
    clean = without_session(url)
    assert without_session(clean) == clean
    assert len(clean) <= len(url)


@given(st.text(max_size=60))
def test_any_text_is_judged_without_trouble(text: str) -> None:
    trap_in(f"{A}/{text}", LATEST)
    without_session(f"{A}/{text}")


@pytest.mark.parametrize(
    ("path", "year"),
    [
        ("/calendar/2026/11", 2026),
        ("/calendar/2026/11/16", 2026),
        ("/events/calendar/2026-11", 2026),
        ("/kalender?month=11&year=2026", 2026),
        ("/agenda?date=20261116", 2026),
        ("/2026/11/16/article", None),
        ("/events/2026/11/16/concert", None),
        ("/calendar", None),
        ("/list?year=2026", None),
    ],
)
def test_a_page_of_a_calendar_is_told_from_an_article_with_a_date(path: str, year: int | None) -> None:
    assert calendar_year(A + path) == year


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
