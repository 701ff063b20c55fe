"""What a running crawl looks like at one moment, as a picture or as a line. Pure, so tests see it at any width.

A terminal too narrow loses the least important part first; nothing is ever wrapped.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forager import __version__
from forager.cli import format as words
from forager.runs.commands.outcome_counts import LabelCount, count_by_label
from forager.runs.models import DomainCount, Progress

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text

WINDOW_S = 10.0
"""Rates are of the last ten seconds: steady enough to read, quick enough to see a change."""
BLOCKS = " ▏▎▍▌▋▊▉█"
FIXED_LINES = 10
"""Lines of the picture that are no domains, and one for the prompt."""


class History:
    """The last seconds of a run, for rates."""

    def __init__(self, window_s: float = WINDOW_S) -> None:
        self._window_s = window_s
        self._samples: deque[tuple[float, int, int]] = deque()

    def add(self, progress: Progress) -> None:
        self._samples.append((progress.elapsed_s, progress.pages_done, progress.wire_bytes))
        while len(self._samples) > 2 and self._samples[1][0] <= progress.elapsed_s - self._window_s:
            self._samples.popleft()

    @property
    def pages_per_s(self) -> float:
        return self._compute_rate(1)

    @property
    def bytes_per_s(self) -> float:
        return self._compute_rate(2)

    def _compute_rate(self, column: int) -> float:
        if not self._samples:
            return 0.0
        first = self._samples[0] if len(self._samples) > 1 else (0.0, 0, 0)
        last = self._samples[-1]
        elapsed_s = last[0] - first[0]
        return (last[column] - first[column]) / elapsed_s if elapsed_s > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Frame:
    """What surrounds the numbers: who crawls, into what, how far, and what to say at the bottom."""

    database: str
    max_pages: int | None = None
    height: int = 24
    notice: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    """Domain → what it is called here; the demo's sites have only addresses."""


def total_of(progress: Progress, max_pages: int | None) -> int:
    """Pages the run will have visited as far as is known now."""
    known = progress.pages_done + progress.frontier
    return max(progress.pages_done, min(known, max_pages) if max_pages is not None else known)


def eta_s(progress: Progress, history: History, max_pages: int | None) -> float | None:
    """Seconds to the end at the present rate; None while there is no rate."""
    if history.pages_per_s <= 0:
        return None
    return (total_of(progress, max_pages) - progress.pages_done) / history.pages_per_s


def render(progress: Progress, history: History, width: int, frame: Frame) -> "Group":
    """The whole picture."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [
        _heading(progress, frame, width),
        _bar_line(progress, history, width, frame.max_pages),
        _build_details(progress, history, width),
        _render_counts(count_by_label(progress.outcomes), width),
    ]
    rows = max(0, min(len(progress.domains), frame.height - FIXED_LINES))
    if rows:
        parts += [Text(""), _domain_table(progress, rows, width, frame.labels)]
    parts += [Text(""), _last_page(progress, width)]
    if wait := wait_message(progress):
        parts.append(Text(f" {wait}", style="bold yellow", overflow="ellipsis", no_wrap=True))
    if progress.pause:
        parts.append(Text(f" {pause_message(progress.pause)}", style="bold red", overflow="ellipsis", no_wrap=True))
    if frame.notice:
        parts.append(Text(f" {frame.notice}", style="bold yellow", overflow="ellipsis", no_wrap=True))
    return Group(*parts)


def plain_line(progress: Progress, history: History, max_pages: int | None) -> str:
    """The same in one line, for logs and pipes."""
    counts = ", ".join(f"{group.label} {words.count(group.pages)}" for group in count_by_label(progress.outcomes))
    total = total_of(progress, max_pages)
    return (
        f"run {progress.run_id}: {words.count(progress.pages_done)} of {words.things(total, 'page')} known, "
        f"{words.rate(history.pages_per_s)}, {words.size(progress.wire_bytes)}, "
        f"{words.count(progress.pages_learned)} new URLs"
        + (f" ({counts})" if counts else "")
        + (f"; {pause_message(progress.pause)}" if progress.pause else "")
        + (f"; {wait}" if (wait := wait_message(progress)) else "")
    )


def wait_message(progress: Progress) -> str | None:
    """Why nothing moves: every domain that is not done waits. None while one of them gets on."""
    open_domains = [domain for domain in progress.domains if domain.status in {"pending", "active"}]
    waiting = [domain for domain in open_domains if domain.reason]
    if not waiting or len(waiting) < len(open_domains):
        return None
    more = f"; {words.things(len(waiting) - 1, 'more domain')} too" if len(waiting) > 1 else ""
    return f"waiting: {words.clean(waiting[0].name)}: {words.plain_reason(waiting[0].reason)}{more}"


def pause_message(pause: str) -> str:
    return f"paused: {words.clean(pause)}; resumes by itself"


def _heading(progress: Progress, frame: Frame, width: int) -> "Text":
    from rich.text import Text

    line = Text(" ", no_wrap=True, overflow="ellipsis")
    line.append(f"forager {__version__}", style="bold")
    workers = words.things(progress.workers, "worker") if progress.workers else "no worker yet"
    for part in (f"run {progress.run_id}", frame.database, workers):
        line.append(f" · {part}", style="dim")
    line.truncate(width, overflow="ellipsis")
    return line


def bar(fraction: float, width: int) -> tuple[str, str]:
    """A bar in eighths of a character: what is done, and the empty rest."""
    eighths = round(max(0.0, min(1.0, fraction)) * width * 8)
    done = BLOCKS[8] * (eighths // 8) + (BLOCKS[eighths % 8] if eighths % 8 else "")
    return done, " " * (width - len(done))


def _bar_line(progress: Progress, history: History, width: int, max_pages: int | None) -> "Text":
    from rich.text import Text

    total = total_of(progress, max_pages)
    fraction = progress.pages_done / total if total else 0.0
    left_s = eta_s(progress, history, max_pages)
    figures = f" {words.count(progress.pages_done)} / {words.count(total)} pages"
    rest = f"  {words.rate(history.pages_per_s)}" + (f"  eta {words.duration(left_s)}" if left_s is not None else "")
    done, empty = bar(fraction, max(8, min(40, width - len(figures) - len(rest) - 8)))
    line = Text(" ▕", style="dim", no_wrap=True)
    line.append(done, style="not dim green").append(empty, style="on grey15 not dim").append("▏")
    line.append(figures, style="not dim bold").append(f" {fraction:.0%}", style="not dim cyan").append(
        rest, style="not dim"
    )
    line.truncate(width, overflow="ellipsis")
    return line


def _build_details(progress: Progress, history: History, width: int) -> "Text":
    facts = [
        ("time", words.duration(progress.elapsed_s)),
        ("read", f"{words.size(progress.wire_bytes)} ({words.size(history.bytes_per_s)}/s)"),
        ("new URLs", f"+{words.count(progress.pages_learned)}"),
        ("links", words.count(progress.links_seen)),
        ("domains", _domain_states(progress)),
    ]
    return _pairs([(name, value, "") for name, value in facts if value], width)


def _domain_states(progress: Progress) -> str:
    return ", ".join(f"{words.count(number)} {state}" for state, number in progress.domain_states.items() if number)


def _render_counts(groups: list[LabelCount], width: int) -> "Text":
    return _pairs([(group.label, words.count(group.pages), group.colour) for group in groups], width)


def _pairs(pairs: list[tuple[str, str, str]], width: int) -> "Text":
    """`ok 1,176   redirect 14`: what does not fit is left out rather than cut in the middle."""
    from rich.text import Text

    line = Text(" ", no_wrap=True)
    for name, value, style in pairs:
        if line.cell_len + len(name) + len(value) + 4 > width:
            break
        line.append(name + " ", style="dim").append(value, style=style or "default").append("   ")
    return line


def _domain_table(progress: Progress, rows: int, width: int, labels: Mapping[str, str]) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", width=min(width, 100))
    table.add_column(" domain", no_wrap=True, overflow="ellipsis", ratio=1)
    for title in ("done", "waiting", "errors"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("state", no_wrap=True, overflow="ellipsis", max_width=max(10, width // 3))
    for domain in progress.domains[:rows]:
        state, style = domain_state(domain)
        errors = Text(words.count(domain.errors), style="red" if domain.errors else "dim")
        label = labels.get(domain.name)
        name = Text(f" {label}  " if label else " ").append(words.clean(domain.name), style="dim" if label else "")
        table.add_row(
            name, words.count(domain.pages_crawled), words.count(domain.frontier), errors, Text(state, style=style)
        )
    return table


def domain_state(domain: DomainCount) -> tuple[str, str]:
    """One word or a reason, and its colour."""
    if domain.status in {"blocked", "unreachable"}:
        return f"{domain.status}: {words.plain_reason(domain.reason)}" if domain.reason else domain.status, "red"
    if domain.reason:
        return words.plain_reason(domain.reason), "yellow"
    if domain.is_leased:
        return "crawling", "green"
    return ("done", "dim") if domain.status == "exhausted" or not domain.frontier else ("ready", "cyan")


def _last_page(progress: Progress, width: int) -> "Text":
    from rich.text import Text

    if progress.last_url is None:
        return Text(" waiting for the first page…", style="dim")
    parts = [str(progress.last_status_code)] if progress.last_status_code is not None else []
    if progress.last_response_time_ms is not None:
        parts.append(f"{words.count(progress.last_response_time_ms)} ms")
    ending = "  ".join(parts)
    url = words.truncate_middle(words.clean(progress.last_url), max(10, width - len(ending) - 9))
    line = Text(" last ", style="dim", no_wrap=True)
    return line.append(url, style="not dim").append(f"  {ending}", style="dim")
