from datetime import UTC, datetime, timedelta

import pytest

from forager.cli import format as words

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("size_bytes", "said"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 KB"),
        (9949, "9.9 KB"),
        (41_000_000, "41 MB"),
        (999_600, "1.0 MB"),
        (2e15, "2.0 PB"),
    ],
)
def test_sizes(size_bytes: float, said: str) -> None:
    assert words.size(size_bytes) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-1, "0.0 s"),
        (0.44, "0.4 s"),
        (42, "42 s"),
        (60, "1 m"),
        (185, "3 m 5 s"),
        (7800, "2 h 10 m"),
        (356_400, "4 d 3 h"),
    ],
)
def test_durations(seconds: float, said: str) -> None:
    assert words.duration(seconds) == said


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (timedelta(seconds=0.5), "now"),
        (timedelta(seconds=59), "59 s ago"),
        (timedelta(minutes=3, seconds=50), "3 m ago"),
        (timedelta(hours=-2), "in 2 h"),
        (timedelta(days=4000), "4,000 d ago"),
    ],
)
def test_ages(before: timedelta, said: str) -> None:
    assert words.format_relative(NOW - before, NOW) == said


def test_the_age_of_nothing_is_a_dash() -> None:
    assert words.format_relative(None, NOW) == "–"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (None, ""),
        ("plain [red]", "plain [red]"),
        ("a\n b\tc", "a b c"),
        ("\x1b[31mred\x07", "�[31mred�"),
        ("abc\N{RIGHT-TO-LEFT OVERRIDE}gpj.exe", "abc�gpj.exe"),
        ("日本 Ünïcode", "日本 Ünïcode"),
    ],
)
def test_crawled_text_cannot_steer_a_terminal(text: str | None, shown: str) -> None:
    assert words.clean(text) == shown


@pytest.mark.parametrize("width", range(1, 40))
def test_shortening_never_exceeds_its_width(width: int) -> None:
    assert len(words.truncate_middle("http://shop.example/a/b/c/blue-kettle.html", width)) <= width


def test_shortening_keeps_both_ends() -> None:
    assert (
        words.truncate_middle("http://shop.example/one/two/three/blue-kettle", 30) == "http://shop.exa…ee/blue-kettle"
    )


def test_things_know_their_plural() -> None:
    assert words.things(1, "page") == "1 page"
    assert words.things(1204, "page") == "1,204 pages"
