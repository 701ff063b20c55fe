"""Where a crawl's progress goes: a picture that changes on a terminal, one plain line per ten seconds without one.

Everything goes to standard error; nothing here decides about the crawl. `picture` says what it looks like.
"""

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from forager import clock
from forager.cli import output, verbosity
from forager.runs.commands.progress_view import Frame, History, plain_line, render, wait_message
from forager.runs.models import Progress
from forager.seeds.commands.report import SeedProgress

LINE_EVERY_S = 10.0


class Display:
    """Where a crawl's progress goes. `show` is called for every measurement, `notice` when the person did something."""

    def __init__(self, frame: Frame) -> None:
        self.history = History()
        self._frame = frame
        self._last: Progress | None = None

    def show(self, progress: Progress) -> None:
        self.history.add(progress)
        self._last = progress
        self.draw()

    def notice(self, sentence: str) -> None:
        self._frame = replace(self._frame, notice=sentence)
        self.draw()

    def show_loading(self, seeds: int) -> None:
        """A long list of seeds goes in before the first page comes."""

    def draw(self) -> None:
        """Quiet: keeps the history only."""


class LiveDisplay(Display):
    """On a terminal."""

    def __init__(self, frame: Frame, live: Any) -> None:
        super().__init__(frame)
        self._live = live
        self._meter = SeedProgress()

    def show_loading(self, seeds: int) -> None:
        self._live.update(self._meter.sentence(seeds), refresh=True)

    def draw(self) -> None:
        if self._last is None:
            return
        size = self._live.console.size
        frame = replace(self._frame, height=size.height)
        self._live.update(render(self._last, self.history, size.width, frame), refresh=True)


class LineDisplay(Display):
    """Without a terminal: the first measurement, then a line per ten seconds."""

    def __init__(self, frame: Frame, monotonic: Callable[[], float] = clock.monotonic) -> None:
        super().__init__(frame)
        self._monotonic = monotonic
        self._next_at = monotonic()
        self._told_wait: str | None = None
        self._meter = SeedProgress(monotonic)

    def show_loading(self, seeds: int) -> None:
        if self._meter.is_line_due():
            output.say(self._meter.sentence(seeds))

    def draw(self) -> None:
        if self._last is None:
            return
        wait = wait_message(self._last)
        is_news = wait is not None and wait != self._told_wait
        if self._monotonic() < self._next_at and not is_news:
            return
        self._told_wait = wait
        self._next_at = self._monotonic() + LINE_EVERY_S
        output.say(plain_line(self._last, self.history, self._frame.max_pages))

    def notice(self, sentence: str) -> None:
        output.say(sentence)


@contextlib.contextmanager
def open_display(frame: Frame, *, is_quiet: bool = False) -> Iterator[Display]:
    """The display that suits this process's standard error."""
    if is_quiet:
        yield Display(frame)
    elif not sys.stderr.isatty() or verbosity.is_verbose():
        yield LineDisplay(frame)
    else:
        from rich.live import Live

        with Live(console=output.console("stderr"), auto_refresh=False, transient=True) as live:
            yield LiveDisplay(frame, live)


@contextlib.contextmanager
def show_waiting(sentence: str, *, is_quiet: bool = False) -> Iterator[None]:
    """Something turns while there is no progress to show yet; only on a terminal."""
    if is_quiet or output.is_quiet() or verbosity.is_verbose() or not sys.stderr.isatty():
        yield
        return
    with output.console("stderr").status(sentence, spinner="dots"):
        yield
