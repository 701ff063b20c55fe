"""Splits bytes into numbered lines of text, with any line ending. Undecodable or overlong lines are yielded as bad
lines."""

from collections.abc import Iterable, Iterator

from forager.errors import BadListError
from forager.seeds.found import BadLine

LONGEST_LINE = 64 * 1024
UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_lines(pieces: Iterable[bytes]) -> Iterator[tuple[int, str] | BadLine]:
    """Yields the non-blank lines. If the bytes become unreadable, yields a bad line and ends."""
    number = 0
    try:
        for number, line in enumerate(split_lines(pieces), start=1):
            if number == 1 and line.startswith(UTF16_MARKS):
                raise BadListError("the list is UTF-16 and no UTF-8 text; save it as UTF-8")
            found = _decode(number, line.removeprefix(UTF8_MARK) if number == 1 else line)
            if found is not None:
                yield found
    except BadListError as error:
        yield BadLine(max(number, 1), f"{error}.")


def split_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Splits at \\n, \\r\\n or \\r. Keeps just enough of an overlong line to recognise it as such."""
    rest = b""
    for piece in pieces:
        lines = (rest + piece).splitlines(keepends=True)
        rest = lines.pop()[: LONGEST_LINE + 1] if lines and not lines[-1].endswith(b"\n") else b""
        yield from lines
    if rest:
        yield rest


def _decode(number: int, line: bytes) -> tuple[int, str] | BadLine | None:
    if len(line) > LONGEST_LINE:
        return BadLine(number, f"it is longer than {LONGEST_LINE:,} bytes.")
    try:
        text = line.decode().strip()
    except UnicodeDecodeError:
        return BadLine(number, "it is no UTF-8 text.")
    return (number, text) if text else None
