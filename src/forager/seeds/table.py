"""Reads lists of URLs or domains: one per line, or a column of a CSV file, with the rank if there is one.

The first line decides the format: `rank,domain` as published by Tranco and Cisco, a header with a URL column as in
Majestic and CrUX, or neither; then every line is a seed.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from forager.errors import BadListError, BadUrlError
from forager.seeds.found import BadLine, Seed, is_bare_host, to_seed
from forager.seeds.lines import read_lines

Shape = Literal["auto", "lines", "csv"]
DELIMITERS = ",;\t"
URL_COLUMNS = ("url", "uri", "origin", "domain", "domainname", "rootdomain", "host", "hostname", "site", "website")
"""Best first; lower case, letters only."""
RANK_COLUMNS = ("rank", "globalrank", "position")
BEST_RANK, WORST_RANK = 1, 2**31 - 1
COMMENT = re.compile(r"\s#.*")
NUMBER = re.compile(r"\d+\.\d+")
"""Looks like a host with one dot, but is a number."""


class ColumnSpec(NamedTuple):
    """Which column of a line holds what."""

    delimiter: str | None
    """None: the whole line is the seed."""
    url_at: int
    rank_at: int | None
    has_header: bool = False


LINES = ColumnSpec(None, 0, None)
UNKNOWN: dict[Shape, ColumnSpec] = {"auto": LINES, "lines": LINES, "csv": ColumnSpec(",", 0, None)}
"""The layout used to read, and reject, a line that does not reveal the format."""


def read_list(pieces: Iterable[bytes], shape: Shape = "auto") -> Iterator[Seed | BadLine]:
    """Yields each seed with its rank and line number, and invalid lines with the reason. Skips comments and blank
    lines."""
    layout: ColumnSpec | None = None
    for line in read_lines(pieces):
        if isinstance(line, BadLine):
            yield line
            continue
        number, text = line
        if text.startswith("#"):
            continue
        if layout is None:
            layout = detect_columns(text, shape)
            if layout is not None and layout.has_header:
                continue
        yield _read(text, number, layout or UNKNOWN[shape])


def detect_columns(line: str, shape: Shape = "auto") -> ColumnSpec | None:
    """Returns the layout this line implies for the list; None if it is neither a header, nor a row, nor a seed."""
    if shape == "lines":
        return LINES
    delimiter = next((mark for mark in DELIMITERS if mark in line), DELIMITERS[0])
    cells = _cells_or_none(line, delimiter)
    names = ["".join(filter(str.isalpha, cell.lower())) for cell in cells]
    url_at = next((index for index, cell in enumerate(cells) if _is_seed(cell)), None)
    if url_at is None:
        url_at = _first_of(URL_COLUMNS, names)
        return (
            None if url_at is None else ColumnSpec(delimiter, url_at, _first_of(RANK_COLUMNS, names), has_header=True)
        )
    if shape == "csv" or _is_row(cells) or line.startswith('"'):
        return ColumnSpec(delimiter, url_at, _find_rank_column(cells, url_at))
    return LINES


def split_row(text: str, delimiter: str) -> list[str]:
    """Splits one line as one row, so that an unclosed quote cannot swallow the following lines."""
    try:
        cells = next(csv.reader([text], delimiter=delimiter)) if '"' in text else text.split(delimiter)
    except csv.Error as error:
        raise BadListError(f"it is no row of a CSV file: {error}.") from None
    return [cell.strip() for cell in cells]


def _read(text: str, number: int, layout: ColumnSpec) -> Seed | BadLine:
    try:
        if layout.delimiter is None:
            return to_seed(COMMENT.sub("", text) if "#" in text else text, None, number)
        cells = split_row(text, layout.delimiter)
        if layout.url_at >= len(cells) or not cells[layout.url_at]:
            return BadLine(number, f"its column {layout.url_at + 1}, the URL or domain, is empty.")
        return to_seed(cells[layout.url_at], _rank_of(cells, layout.rank_at), number)
    except (BadUrlError, BadListError) as error:
        return BadLine(number, str(error))


def _rank_of(cells: list[str], rank_at: int | None) -> int | None:
    if rank_at is None or rank_at >= len(cells) or not cells[rank_at]:
        return None
    text = cells[rank_at]
    if text.isdecimal() and len(text) <= 10 and BEST_RANK <= (rank := int(text)) <= WORST_RANK:
        return rank
    raise BadListError(f"its rank {text[:20]!r} is no whole number from {BEST_RANK} to {WORST_RANK:,}.")


def _first_of(wanted: tuple[str, ...], names: list[str]) -> int | None:
    return next((names.index(name) for name in wanted if name in names), None)


def _find_rank_column(cells: list[str], url_at: int) -> int | None:
    beside = (index for index in (url_at - 1, url_at + 1) if 0 <= index < len(cells))
    return next((index for index in beside if cells[index].isdecimal()), None)


def _cells_or_none(line: str, delimiter: str) -> list[str]:
    try:
        return split_row(line, delimiter)
    except BadListError:
        return []


def _is_seed(cell: str) -> bool:
    return cell.startswith(("http://", "https://")) or (is_bare_host(cell) and not NUMBER.fullmatch(cell))


def _is_row(cells: list[str]) -> bool:
    """Whether it is `7,a.example` or `a.example,7`, and not a URL with a comma and a number in its path."""
    if len(cells) < 2:
        return False
    return cells[0].isdecimal() or (cells[1].isdecimal() and is_bare_host(cells[0]) and not set("/?#") & set(cells[0]))
