"""Where progress goes: nothing drawn without a terminal, one line per ten seconds."""

import io

import pytest
from rich.console import Console
from rich.live import Live
from tests.unit.cli.samples import a_progress

from forager.runs.commands.display import Display, LineDisplay, LiveDisplay, open_display
from forager.runs.commands.progress_view import Frame


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_without_a_terminal_there_is_one_line_per_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    display = LineDisplay(Frame("db"), monotonic=clock)
    for second in range(25):
        clock.now_s = float(second)
        display.show(a_progress(elapsed_s=float(second)))
    captured = capsys.readouterr()
    assert len(captured.err.splitlines()) == 3
    assert "\x1b" not in captured.err
    assert captured.out == ""


def test_a_notice_is_said_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    LineDisplay(Frame("db"), monotonic=Clock()).notice("stopping")
    assert capsys.readouterr().err == "stopping\n"


def test_on_a_terminal_the_picture_is_drawn_and_taken_away() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80, height=24)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        display = LiveDisplay(Frame("PostgreSQL 18"), live)
        display.show(a_progress())
        display.notice("stopping: finishing open requests…")
    assert "PostgreSQL 18" in screen.getvalue()
    assert "stopping: finishing" in screen.getvalue()
    assert "\x1b[2K" in screen.getvalue()


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with open_display(Frame("db"), is_quiet=True) as display:
        display.show(a_progress())
        display.notice("x")
    assert capsys.readouterr() == ("", "")


def test_the_display_fits_the_stream() -> None:
    with open_display(Frame("db")) as display:
        assert isinstance(display, LineDisplay)
    with open_display(Frame("db"), is_quiet=True) as quiet:
        assert type(quiet) is Display
