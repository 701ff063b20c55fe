"""Explains one setting: what it accepts, in which unit, within which bounds. Pure."""

import difflib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, get_args

from forager.config.durations import format_duration
from forager.config.settings import FIELDS, PATHS, SECTIONS
from forager.config.values import TIME_OF_DAY, Schemes, Unit, format_size

ENUMERATION = re.compile(r"\^\(([A-Za-z0-9_]+(?:\|[A-Za-z0-9_]+)*)\)\$")
DURATION_UNITS = "ms, s, m, h, d, w; a plain number is seconds"
SIZE_UNITS = "kB, MB, GB, KiB, MiB, GiB; a plain number is bytes"
MOST_SUGGESTED = 3


class Accepted(NamedTuple):
    """What a setting accepts."""

    type: str
    unit: str | None
    bounds: str | None


def accepted(path: str) -> Accepted:
    field = FIELDS[path]
    parts = field.metadata
    unit = next((each for each in parts if isinstance(each, Unit)), None)
    if unit is not None and unit.is_duration:
        return Accepted("duration", DURATION_UNITS, _bounds(parts, format_duration))
    if unit is not None:
        return Accepted("size", SIZE_UNITS, _bounds(parts, format_size))
    return Accepted(_type_of(field.annotation, parts), None, _bounds(parts, _plain))


def _plain(value: Any) -> str:
    return f"{value:g}"


def _type_of(annotation: Any, parts: list[Any]) -> str:
    pattern = next((text for each in parts if (text := getattr(each, "pattern", None))), None)
    if pattern == TIME_OF_DAY:
        return "time of day (UTC), such as 04:00 or Sun 04:00, or never"
    if pattern and (found := ENUMERATION.fullmatch(pattern)):
        return f"one of {', '.join(found[1].split('|'))}"
    optional = ", or none" if type(None) in get_args(annotation) else ""
    if schemes := next((func for each in parts if isinstance(func := getattr(each, "func", None), Schemes)), None):
        return f"URL that starts with {' or '.join(schemes.schemes)}{optional}"
    kinds = {bool: "true or false", int: "whole number", float: "number", Path: "path"}
    plain = next((each for each in (annotation, *get_args(annotation)) if each in kinds), None)
    if getattr(annotation, "__origin__", None) is tuple:
        return f"list of {'numbers' if plain is int else 'texts'}"
    return (kinds[plain] if plain else "text") + optional


def _bounds(parts: list[Any], write: Callable[[Any], str]) -> str | None:
    """Returns the bounds in words. A type may narrow another, so the narrowest of several counts."""

    def values_of(name: str) -> list[float]:
        return [value for each in parts if (value := getattr(each, name, None)) is not None]

    lower = [(value, 0) for value in values_of("ge")] + [(value, 1) for value in values_of("gt")]
    upper = [(value, 1) for value in values_of("le")] + [(value, 0) for value in values_of("lt")]
    words = []
    if lower:
        value, is_open = max(lower)
        words.append(f"{'more than' if is_open else 'at least'} {write(value)}")
    if upper:
        value, is_closed = min(upper)
        words.append(f"{'at most' if is_closed else 'less than'} {write(value)}")
    return ", ".join(words) or None


def find_settings(name: str) -> list[str]:
    """Returns the settings that a name means: one by its full name, as in the file or the environment; all of a
    section; or those with this last part."""
    plain = name.strip().strip("[]").lower().removeprefix("forager_")
    if plain in FIELDS or plain.replace(".", "_") in PATHS:
        return [plain if plain in FIELDS else PATHS[plain.replace(".", "_")]]
    if plain in SECTIONS:
        return [path for path in FIELDS if path.startswith(f"{plain}.")]
    return [path for path in FIELDS if path.rpartition(".")[2] == plain.replace("-", "_")]


def suggest_settings(name: str) -> list[str]:
    """Returns settings with a similar name, the nearest first; then those that contain it."""
    plain = name.strip().lower().removeprefix("forager_").replace("-", "_")
    known = {path.rpartition(".")[2]: path for path in FIELDS} | {**PATHS} | {path: path for path in FIELDS}
    close = [known[each] for each in difflib.get_close_matches(plain, known, n=MOST_SUGGESTED)]
    containing = [path for path in FIELDS if plain and plain in path]
    return list(dict.fromkeys([*close, *containing]))[:MOST_SUGGESTED]
