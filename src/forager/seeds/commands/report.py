"""Reports on seed lists: progress while they load, bad lines by number, totals at the end."""

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from forager import clock
from forager.cli import format as words
from forager.cli import output

if TYPE_CHECKING:
    from forager.seeds.found import ReadCounts
    from forager.seeds.service import Loaded

MOST_SHOWN = 20
LINE_EVERY_S = 10.0

OnCount = Callable[[int], None]


def bad_lines(tallies: Sequence["ReadCounts"]) -> list[str]:
    """The first bad lines, each with its number and reason."""
    shown = [f"{tally.where(bad)}: {words.clean(bad.why)}" for tally in tallies for bad in tally.remembered]
    more = sum(tally.bad for tally in tallies) - MOST_SHOWN
    return shown[:MOST_SHOWN] + ([f"and {words.count(more)} more"] if more > 0 else [])


def say_bad_lines(tallies: Sequence["ReadCounts"]) -> None:
    for line in bad_lines(tallies):
        output.complain(line)


def as_documents(tallies: Sequence["ReadCounts"]) -> list[dict[str, Any]]:
    """Bad lines for a program; a thousand of each list at most."""
    return [{"list": tally.name, tally.unit: bad.line, "why": bad.why} for tally in tallies for bad in tally.remembered]


def sum_up(loaded: "Loaded", tallies: Sequence["ReadCounts"], elapsed_s: float) -> list[str]:
    """What came of everything that was read."""
    read = sum(tally.lines for tally in tallies)
    bad = sum(tally.bad for tally in tallies)
    rate = words.rate(read / elapsed_s) if elapsed_s > 0 else "–"
    rows = [
        (loaded.new_domains, "new domain", "new domains"),
        (loaded.new_pages, "new page", "new pages"),
        (loaded.known, "page known before, or named twice", "pages known before, or named twice"),
        (bad, "bad line", "bad lines"),
    ]
    if loaded.denied:
        rows.append((loaded.denied, "page of a domain on the deny list", "pages of domains on the deny list"))
    return [
        f"{words.things(read, 'line')} read in {words.duration(elapsed_s)} ({rate})",
        *(f"{words.count(number):>11}  {one if number == 1 else many}" for number, one, many in rows),
    ]


class SeedProgress:
    """Says how many seeds are loaded, and how fast."""

    def __init__(self, monotonic: Callable[[], float] = clock.monotonic) -> None:
        self._monotonic = monotonic
        self._began_at = monotonic()
        self._next_line_at = self._began_at + LINE_EVERY_S

    def sentence(self, seeds: int) -> str:
        elapsed_s = self._monotonic() - self._began_at
        rate = f" ({words.rate(seeds / elapsed_s)})" if elapsed_s > 0 else ""
        return f"loading seeds: {words.count(seeds)}{rate}"

    def is_line_due(self) -> bool:
        """Without a terminal, a line per ten seconds is enough."""
        if self._monotonic() < self._next_line_at:
            return False
        self._next_line_at = self._monotonic() + LINE_EVERY_S
        return True


@contextlib.contextmanager
def open_progress(*, is_quiet: bool = False) -> Iterator[OnCount]:
    """A line that changes on a terminal, a line per ten seconds without one; on standard error."""
    meter = SeedProgress()
    if is_quiet:
        yield lambda _seeds: None
    elif sys.stderr.isatty():
        with output.console("stderr").status("loading seeds…", spinner="dots") as status:
            yield lambda seeds: status.update(meter.sentence(seeds))
    else:
        yield lambda seeds: output.say(meter.sentence(seeds)) if meter.is_line_due() else None
