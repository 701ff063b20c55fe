"""Tables that are readable at 80 columns: numbers to the right, and only columns that may shrink are cut. Extra columns
are shown where the terminal has room for them.

`lay_out` is pure. Without a terminal nothing is cut, so that `grep` and `awk` see everything.
"""

import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from forager.cli import format as words
from forager.cli import output

if TYPE_CHECKING:
    from rich.text import Text

GAP = 2
NARROWEST = 8
NOTE_INDENT = 5
FULL = 1_000_000
READABLE_URL, READABLE_PROSE = 32, 16


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    is_number: bool = False
    gives_way: int = 0
    """Its share of the remaining width when the terminal is too narrow; the others are never cut."""
    is_prose: bool = False
    """Cut at its end; a URL is cut in the middle."""
    room: int | None = None
    """Makes it an extra column: shown where it gets this width, or what it needs if that is less, and the columns that
    shrink keep a width that can be read."""


class Cell(NamedTuple):
    """Text with a colour."""

    text: str
    style: str = ""


class Note(NamedTuple):
    """A line below a row that belongs to it; it has no columns and is wrapped at the width of the terminal."""

    text: str
    style: str = "dim"
    indent: int = NOTE_INDENT


Row = Sequence[str | Cell]


def number(title: str) -> Column:
    return Column(title, is_number=True)


def wrap_column(title: str) -> Column:
    return Column(title, gives_way=2)


def text_column(title: str) -> Column:
    return Column(title, gives_way=1, is_prose=True)


def extra(column: Column | str, room: int | None = None) -> Column:
    """Returns the column as one that a wide terminal shows; by default in its full width."""
    plain = column if isinstance(column, Column) else Column(column)
    return replace(plain, room=FULL if room is None else room)


def write(columns: Sequence[Column | str], rows: Iterable[Row | Note]) -> None:
    """Prints on standard output; bold titles and colours on a terminal only."""
    heads = [column if isinstance(column, Column) else Column(column) for column in columns]
    titles = [Cell(head.title, "bold") for head in heads]
    lines = [titles, *(row if isinstance(row, Note) else _cells_of(row) for row in rows)]
    screen = output.console()
    cells = [line for line in lines if not isinstance(line, Note)]
    width = screen.width if sys.stdout.isatty() else None
    shown = choose_columns(heads, cells[1:], width)
    heads = [heads[index] for index in shown]
    lines = [line if isinstance(line, Note) else [line[index] for index in shown] for line in lines]
    widths = compute_widths(heads, [line for line in lines[1:] if not isinstance(line, Note)], width)
    for line in lines:
        screen.print(_note(line, screen.width) if isinstance(line, Note) else _line(line, heads, widths))


def width() -> int:
    """Returns the columns of the terminal; without one, so many that nothing is wrapped."""
    return output.console().width


def fits(titles: Sequence[str], rows: Sequence[Row]) -> bool:
    """Returns whether a table has room for everything it says."""
    needs = compute_widths([Column(title) for title in titles], [_cells_of(row) for row in rows], None)
    return sum(needs) + GAP * (len(needs) - 1) <= width()


def _cells_of(row: Row) -> list[Cell]:
    return [cell if isinstance(cell, Cell) else Cell(cell) for cell in row]


def _line(row: Sequence[Cell], heads: Sequence[Column], widths: Sequence[int]) -> "Text":
    from rich.text import Text

    line = Text(no_wrap=True)
    for head, cell, width in zip(heads, row, widths, strict=True):
        line.append(_format_cell(cell.text, width, head), style=cell.style).append(" " * GAP)
    line.rstrip()
    return line


def _note(note: Note, width: int) -> "Text":
    from rich.text import Text

    return Text(wrap_text(note.text, width, note.indent), style=note.style)


def wrap_text(text: str, width: int, indent: int) -> str:
    """Wraps lines with the indent of the first; the caller's text begins with its own indent."""
    return textwrap.fill(text, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)


def choose_columns(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int | None) -> list[int]:
    """Returns which columns are shown: all but the extra ones, and of those as many as fit, the first ones first."""
    if width is None:
        return list(range(len(columns)))
    needs = compute_widths(columns, rows, None)
    shown = {index for index, column in enumerate(columns) if column.room is None}
    used = sum(min(needs[index], _readable_width(columns[index])) + GAP for index in shown) - GAP
    for index, column in enumerate(columns):
        if column.room is not None and used + GAP + min(needs[index], column.room) <= width:
            used += GAP + min(needs[index], column.room)
            shown.add(index)
    return sorted(shown)


def _readable_width(column: Column) -> int:
    if not column.gives_way:
        return FULL
    return READABLE_PROSE if column.is_prose else READABLE_URL


def compute_widths(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int | None) -> list[int]:
    """Returns the width of each column: what it needs, or its fair share of what the fixed ones leave."""
    needs = [
        max(map(_cells, (column.title, *(row[index].text for row in rows)))) for index, column in enumerate(columns)
    ]
    giving = [index for index, column in enumerate(columns) if column.gives_way]
    if width is None or not giving or sum(needs) + GAP * (len(needs) - 1) <= width:
        return needs
    room = width - GAP * (len(needs) - 1) - sum(need for index, need in enumerate(needs) if index not in giving)
    shares = sum(columns[index].gives_way for index in giving)
    for index in sorted(giving, key=lambda index: needs[index] / columns[index].gives_way):
        share = columns[index].gives_way
        needs[index] = min(needs[index], max(NARROWEST, room * share // shares))
        room -= needs[index]
        shares -= share
    return needs


def _format_cell(text: str, width: int, column: Column) -> str:
    if _cells(text) > width:
        room = width
        while _cells(text) > width:  # wide characters take two cells each
            text = text[: room - 1].rstrip(" …") + "…" if column.is_prose else words.truncate_middle(text, room)
            room -= 1
    padding = " " * (width - _cells(text))
    return padding + text if column.is_number else text + padding


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


COLOURS = {
    **dict.fromkeys(("active", "fetched", "success", "completed", "finished", "crawling", "running"), "green"),
    **dict.fromkeys(("blocked", "blocked_robots", "blocked_4xx", "gone", "stopped", "paused"), "yellow"),
    **dict.fromkeys(("unreachable", "failed", "timeout", "blocked_5xx"), "red"),
    **dict.fromkeys(("exhausted", "cancelled"), "dim"),
}


def color_cell(word: str) -> Cell:
    return Cell(word, COLOURS.get(word, "cyan"))


def say_more(rows: Sequence[Any], limit: int, things: str, when_none: str) -> None:
    if not rows:
        output.say(when_none)
    elif len(rows) == limit:
        output.say(f"The first {words.things(limit, things.removesuffix('s'))}; --limit shows more.")
