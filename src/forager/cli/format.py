"""Formats numbers, times and crawled text for people. Pure; programs get the plain values instead."""

import unicodedata
from datetime import datetime
from typing import Any

UNITS = ("B", "KB", "MB", "GB", "TB", "PB")


def count(number: int) -> str:
    return f"{number:,}"


def things(number: int, one: str, many: str | None = None) -> str:
    """`1 page`, `1,204 pages`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(size_bytes: float) -> str:
    """`84 B`, `41 MB`, `1.2 GB`: two digits are enough for a person."""
    value = float(size_bytes)
    for unit in UNITS:
        if value < 999.5 or unit == UNITS[-1]:
            digits = 1 if unit != "B" and value < 9.95 else 0
            return f"{value:,.{digits}f} {unit}"
        value /= 1000
    raise AssertionError


def rate(per_second: float) -> str:
    """`0.3/s`, `9.8/s`, `1,231/s`."""
    return f"{per_second:,.1f}/s" if per_second < 99.95 else f"{per_second:,.0f}/s"


def duration(seconds: float) -> str:
    """The two largest units: `0.4 s`, `42 s`, `3 m 5 s`, `2 h 10 m`, `4 d 3 h`."""
    if seconds < 9.95:
        return f"{max(seconds, 0):.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return _two(whole // 60, "m", whole % 60, "s")
    if whole < 86_400:
        return _two(whole // 3600, "h", whole % 3600 // 60, "m")
    return _two(whole // 86_400, "d", whole % 86_400 // 3600, "h")


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large:,} {large_unit} {small} {small_unit}" if small else f"{large:,} {large_unit}"


def format_relative(moment: datetime | None, now: datetime) -> str:
    """`3 m ago`, `in 2 h`; one unit only, since ages are compared at a glance."""
    if moment is None:
        return "–"
    seconds = (now - moment).total_seconds()
    distance = _one_unit(abs(seconds))
    return "now" if abs(seconds) < 1 else f"{distance} ago" if seconds > 0 else f"in {distance}"


def format_day(moment: datetime, now: datetime) -> str:
    """`1 Dec`, `1 Dec 2027`; of the next two days the time too: `18 Nov 14:05 UTC`."""
    if (moment - now).total_seconds() < 2 * 86_400:
        return f"{moment.day} {moment:%b %H:%M} UTC"
    return f"{moment.day} {moment:%b}" + ("" if moment.year == now.year else f" {moment.year}")


def _one_unit(seconds: float) -> str:
    for length_s, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if seconds >= length_s:
            return f"{int(seconds // length_s):,} {unit}"
    return f"{int(seconds)} s"


def clean(text: str | None) -> str:
    """Makes crawled text safe for a terminal: on one line, and unable to move the cursor, colour or reverse what
    follows."""
    if not text:
        return ""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character if _is_safe_char(character) else "\N{REPLACEMENT CHARACTER}" for character in _one_line(text)
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _is_safe_char(character: str) -> bool:
    """Rejects categories: Cc are controls such as ESC, Cf formatting such as bidi overrides; Cs, Co and Cn have no
    glyphs in any font."""
    return character == "\N{ZERO WIDTH JOINER}" or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co", "Cn"}


def truncate_middle(text: str, width: int) -> str:
    """Keeps both ends of a URL: the host and the last path segment identify it, the folders between do not."""
    if len(text) <= width:
        return text
    if width < 8:
        return text[: max(width, 1) - 1] + "…"
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}…{text[-tail:]}"


def plain_reason(code: str | None) -> str:
    """Returns a stored code such as `robots_denied` as words; a sentence stays unchanged."""
    return code if code and " " in code else (code or "").replace("_", " ")


Row = dict[str, Any]


def visit_result(row: Row) -> str:
    """Returns the status code, or the error if there was no response."""
    return str(row["status_code"]) if row["status_code"] is not None else plain_reason(row["error_code"]) or "–"


def short_url(url: str, domain: str | None) -> str:
    """Removes scheme and host if all rows share them."""
    return clean(url if domain is None else "/" + url.split("/", 3)[3])
