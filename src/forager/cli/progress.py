"""Progress of long operations: a line that updates on a terminal, a line per ten seconds without one."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import cast

from forager import clock
from forager.cli import format as words
from forager.cli import output

LINE_EVERY_S = 10.0
LOOK_EVERY_S = 0.2

OnCount = Callable[[int], None]


def format_progress(what: str, done: int, expected: int, elapsed_s: float) -> str:
    """`exporting pages: 120,000 of about 300,000 (40 %, 21,000/s, 9 s left)`; a total that was too low is left out."""
    rate = done / elapsed_s if elapsed_s > 0 else 0.0
    if done > expected or not rate:
        return f"{what}: {words.count(done)} ({words.rate(rate)})"
    left = words.duration((expected - done) / rate)
    return (
        f"{what}: {words.count(done)} of about {words.count(expected)}"
        f" ({100 * done // max(expected, 1)} %, {words.rate(rate)}, {left} left)"
    )


@contextlib.contextmanager
def open_progress(what: str, expected: int, *, is_quiet: bool = False) -> Iterator[OnCount]:
    """Reports progress on standard error: continuously on a terminal, with a line now and then in a log."""
    if is_quiet or output.is_quiet():
        yield lambda _done: None
        return
    began_at = clock.monotonic()
    with contextlib.ExitStack() as stack:
        if sys.stderr.isatty():
            status = stack.enter_context(output.console("stderr").status(f"{what}…", spinner="dots"))
            say, every_s = cast("Callable[[str], None]", status.update), LOOK_EVERY_S
        else:
            say, every_s = output.say, LINE_EVERY_S
        next_at = began_at + every_s

        def show(done: int) -> None:
            nonlocal next_at
            now = clock.monotonic()
            if now >= next_at:
                next_at = now + every_s
                say(format_progress(what, done, expected, now - began_at))

        yield show
