"""Tells tables of data from those that lay out a page, and writes the former as GitHub's Markdown has them."""

from collections.abc import Sequence
from dataclasses import dataclass

from forager.parsing.tree_types import Event

MOST_COLUMNS = 50
LONGEST_CELL = 300
"""Average bytes of a cell; longer ones are paragraphs side by side."""
STRUCTURE = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "hr"})
"""A table with one of these lays out a page."""
LISTS = frozenset({"ul", "ol", "dl"})


@dataclass(slots=True)
class Cell:
    text: str
    is_header: bool
    columns: int = 1
    rows: int = 1


@dataclass(slots=True)
class _Found:
    """What a table consists of."""

    start: int
    rows: int = 0
    cells: int = 0
    widest: int = 0
    headers: int = 0
    structure: int = 0
    text: int = 0
    in_row: int = 0
    is_layout: bool = False


def find_data_tables(events: Sequence[Event], roles: Sequence[str | None]) -> dict[int, int]:
    """Returns the tables of data by where they begin in the stream: where they end. `roles` are those of all tables in
    their order."""
    found: dict[int, int] = {}
    open_tables: list[_Found] = []
    given = iter(roles)
    for at, (name, value) in enumerate(events):
        if name == "table":
            if value is not None:
                for around in open_tables[-1:]:
                    around.is_layout = True
                is_layout = (next(given, None) or "").lower() in {"presentation", "none"}
                open_tables.append(_Found(at, is_layout=is_layout))
            elif open_tables:
                table = open_tables.pop()
                if _is_data(table):
                    found[table.start] = at
        elif open_tables and value is not None:
            _count(open_tables[-1], name, value)
    return found


def _count(table: _Found, name: str, value: str | int) -> None:
    if isinstance(value, str):
        table.text += len(value)
    elif name == "tr":
        table.in_row = 0
    elif name in {"td", "th"}:
        table.rows += not table.in_row
        table.in_row += 1
        table.cells += 1
        table.headers += name == "th"
        table.widest = max(table.widest, table.in_row)
    elif name in STRUCTURE or (name in LISTS and not table.headers):
        table.structure += 1


def _is_data(table: _Found) -> bool:
    if table.is_layout or table.rows < 2 or not 2 <= table.widest <= MOST_COLUMNS or table.structure:
        return False
    return table.text <= table.cells * LONGEST_CELL or table.headers >= table.widest


def format_table(rows: Sequence[Sequence[Cell]]) -> str:
    """Returns a table; empty if no cell says anything. Cells that span columns or rows leave the others empty."""
    grid, headers = _lay_out(rows)
    width = max((len(row) for row in grid), default=0)
    if not width or not any(any(row) for row in grid):
        return ""
    lines = [row + [""] * (width - len(row)) for row in grid]
    head, body = (lines[0], lines[1:]) if headers[0] else ([""] * width, lines)
    return "\n".join([_line(head), _line(["---"] * width), *map(_line, body)])


def _lay_out(rows: Sequence[Sequence[Cell]]) -> tuple[list[list[str]], list[bool]]:
    """Returns the texts by row and column without empty rows, and whether each row consists of headers."""
    grid: list[list[str]] = []
    headers: list[bool] = []
    held: dict[int, int] = {}
    for cells in rows:
        row, held = _fill(cells, held)
        if any(row):
            grid.append(row)
            headers.append(bool(cells) and all(cell.is_header for cell in cells))
    return grid, headers


def _fill(cells: Sequence[Cell], covered: dict[int, int]) -> tuple[list[str], dict[int, int]]:
    """Returns the texts of a row, and the columns that its cells and those above cover in the next ones."""
    row: list[str] = []
    held = {column: left - 1 for column, left in covered.items() if left > 1}
    for cell in cells:
        while len(row) in covered:
            row.append("")
        at = len(row)
        if at >= MOST_COLUMNS:
            break
        row += [cell.text, *[""] * (min(cell.columns, MOST_COLUMNS - at) - 1)]
        if cell.rows > 1:
            held |= dict.fromkeys(range(at, len(row)), cell.rows - 1)
    return row, held


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
