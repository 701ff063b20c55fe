"""The words and commands of `why`."""

import shlex
from datetime import UTC, datetime, timedelta

import pytest

from forager.explain.conditions import Gate, after, crawl_command, format_time, latest_opening, resume_command, span
from forager.runs.models import RunSpec, Scope

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.5, "0.5 s"), (1, "1 s"), (90, "1.5 min"), (7200, "2 h"), (86_400, "1 d"), (14 * 86_400, "14 d")],
)
def test_spans(seconds: float, words: str) -> None:
    assert span(seconds) == words


def test_moments_have_a_date_where_it_is_another_day() -> None:
    assert format_time(NOW, NOW) == "12:00:00 UTC"
    assert format_time(NOW + timedelta(hours=12), NOW) == "2026-03-02 00:00 UTC"


def test_the_end_of_all_calendars() -> None:
    assert after(NOW, 1e15).year == 9999


def test_the_last_closed_gate_counts_and_open_ones_do_not() -> None:
    gates = [
        Gate("a", False, "", NOW + timedelta(hours=1)),
        Gate("b", False, "", NOW - timedelta(hours=1)),
        Gate("c", True, "", NOW + timedelta(hours=9)),
        Gate("d", None, "", NOW + timedelta(hours=9)),
    ]
    assert latest_opening(gates, NOW) == NOW + timedelta(hours=1)
    assert latest_opening(gates[1:], NOW) == NOW


def test_a_url_survives_the_shell() -> None:
    url = "http://a.example/x?a=1&b='2'"
    assert shlex.split(crawl_command(url)) == ["forager", "crawl", url]


@pytest.mark.parametrize(
    ("spec", "command"),
    [
        (RunSpec(("http://a.example/",)), "forager crawl http://a.example/"),
        (
            RunSpec(("http://a.example/",), Scope.DOMAIN, exclude=("*/x*",), max_depth=3, max_pages=9, delay_s=0.5),
            "forager crawl http://a.example/ --scope domain --exclude '*/x*' --depth 3 --max-pages 9 --delay 0.5",
        ),
        (RunSpec(tuple(f"http://a.example/{n}" for n in range(4))), "forager worker --run 7"),
        (RunSpec(("http://a.example/",), seeds_total=100_000), "forager worker --run 7"),
    ],
)
def test_how_a_run_is_resumed(spec: RunSpec, command: str) -> None:
    assert resume_command(7, spec) == command
