"""Durations as people write them: `500ms`, `90s`, `1h30m`, `14d`, `2w`. In Python they are seconds."""

import re

UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}

_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|[smhdw])\s*", re.IGNORECASE | re.ASCII)
_DURATION = re.compile(rf"\s*(?:{_PART.pattern})+", re.IGNORECASE | re.ASCII)


def parse_duration(text: str) -> float:
    """Returns the seconds of a text in which every number has a unit."""
    if not _DURATION.fullmatch(text):
        raise ValueError(f"{text!r} is not a duration; write it like 500ms, 90s, 15m, 6h, 14d, 2w or 1d12h")
    return sum(float(number) * UNITS_S[unit.lower()] for number, unit in _PART.findall(text))


def format_duration(seconds: float) -> str:
    """Returns the shortest such text, in days at most: `500ms`, `1h30m`, `14d`."""
    if 0 < seconds < 1:
        return f"{seconds * 1000:g}ms"
    parts = []
    for unit in ("d", "h", "m"):
        count, seconds = divmod(seconds, UNITS_S[unit])
        if count:
            parts.append(f"{count:.0f}{unit}")
    if seconds or not parts:
        parts.append(f"{seconds:g}s")
    return "".join(parts)
