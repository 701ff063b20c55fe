"""The live picture, rendered to text at several widths."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console
from tests.unit.cli.samples import DOMAINS, a_progress

from forager.runs.commands.progress_view import Frame, History, bar, domain_state, eta_s, plain_line, render, total_of
from forager.runs.models import DomainCount, Progress

FRAME = Frame("PostgreSQL 18 (embedded)")


def shown(progress: Progress, width: int, frame: Frame = FRAME) -> list[str]:
    history = History()
    history.add(a_progress(pages_done=1104, elapsed_s=110.0))
    history.add(progress)
    console = Console(file=io.StringIO(), width=width, highlight=False, markup=False)
    with console.capture() as capture:
        console.print(render(progress, history, width, frame))
    return capture.get().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    for line in shown(a_progress(last_url="http://shop.example/" + "x" * 300), width):
        assert cell_len(line.rstrip()) <= width


def test_the_picture_at_80_columns() -> None:
    text = "\n".join(shown(a_progress(), 80))
    for piece in (
        "run 12 · PostgreSQL 18 (embedded) · 2 workers",
        "1,204 / 12,560 pages",
        "10.0/s",
        "eta 18 m",
        "41 MB",
        "new URLs +12,408",
        "ok 1,176",
        "redirect 14",
        "404 9",
        "robots 3",
        "connection lost 2",
        "crawling",
        "blocked: robots denied",
        "last http://shop.example/p/blue-kettle  200  84 ms",
    ):
        assert piece in text


def test_a_low_terminal_shows_fewer_domains() -> None:
    tall, low = shown(a_progress(), 80), shown(a_progress(), 80, Frame("db", height=9))
    assert len(tall) > len(low)
    assert "quiet.example" in "\n".join(tall)
    assert "quiet.example" not in "\n".join(low)


def test_the_notice_comes_last() -> None:
    assert "stopping" in shown(a_progress(), 80, Frame("db", notice="stopping: wait"))[-1]


def test_markup_and_escapes_in_crawled_names_stay_text() -> None:
    text = "\n".join(shown(a_progress(last_url="http://a.example/[bold]\x1b[2J"), 80))
    assert "[bold]" in text
    assert "\x1b" not in text


def test_a_run_that_has_done_nothing_yet() -> None:
    empty = a_progress(
        pages_done=0, frontier=0, outcomes=(), domains=(), domain_states={}, last_url=None, elapsed_s=0.0, workers=1
    )
    history = History()
    history.add(empty)
    assert history.pages_per_s == 0
    assert "waiting for the first page" in "\n".join(shown(empty, 80))
    assert plain_line(empty, history, None).startswith("run 12: 0 of 0 pages known")


def test_rates_are_of_the_last_seconds() -> None:
    history = History(window_s=10)
    for second in range(100):
        history.add(a_progress(elapsed_s=float(second), pages_done=second if second < 80 else 80 + (second - 80) * 5))
    assert history.pages_per_s == pytest.approx(5.0)


def test_the_first_measurement_counts_from_the_start() -> None:
    history = History()
    history.add(a_progress(elapsed_s=2.0, pages_done=10, wire_bytes=4000))
    assert history.pages_per_s == pytest.approx(5.0)
    assert history.bytes_per_s == pytest.approx(2000.0)


def test_a_limit_is_the_end_of_the_bar() -> None:
    assert total_of(a_progress(), None) == 12_560
    assert total_of(a_progress(), 2000) == 2000
    assert total_of(a_progress(), 1000) == 1204  # quick tries may pass a limit, the bar never runs over


def test_no_rate_no_eta() -> None:
    assert eta_s(a_progress(), History(), None) is None


@pytest.mark.parametrize("fraction", [-1.0, 0.0, 0.01, 0.5, 0.999, 1.0, 2.0])
def test_a_bar_is_always_as_wide_as_asked(fraction: float) -> None:
    done, empty = bar(fraction, 20)
    assert len(done + empty) == 20


def test_states_of_domains() -> None:
    assert [domain_state(domain)[0] for domain in DOMAINS] == ["crawling", "blocked: robots denied", "done"]
    waits = DomainCount("w.example", "active", 0, 0, 3, False, "waits until 2026-01-01 10:00 UTC")
    assert domain_state(waits)[0] == "waits until 2026-01-01 10:00 UTC"


def test_the_plain_line_says_the_same() -> None:
    history = History()
    history.add(a_progress())
    line = plain_line(a_progress(), history, None)
    assert line.startswith("run 12: 1,204 of 12,560 pages known, 10.0/s, 41 MB, 12,408 new URLs (ok 1,176, ")
    assert "\n" not in line


def test_a_pause_is_told_with_its_reason_in_the_line_and_in_the_picture() -> None:
    paused, history = a_progress(pause="bodies cannot be stored (No space left on device)"), History()
    history.add(paused)
    says = "paused: bodies cannot be stored (No space left on device); resumes by itself"
    assert plain_line(paused, history, None).endswith(says)
    assert says in "\n".join(shown(paused, 100))
