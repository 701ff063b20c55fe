"""Flags whose value may also be a word that clears an earlier value: `--delay 2`, `--delay default`."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import typer

from forager.cli import durations
from forager.config.durations import parse_duration

T = TypeVar("T")
DEFAULT = "default"
DAY_S = 86_400.0
CLEARING = frozenset({DEFAULT, "none", "never"})


class Given(NamedTuple):
    """A flag that was given; the value None clears."""

    value: Any


def span(text: str) -> float:
    """Returns seconds, from `6h`."""
    return _parse_or_reject(durations.parse_duration, text)


def delay(text: str) -> float:
    """Returns seconds, from `500ms` or a plain number of seconds, up to a day."""
    return _parse_or_reject(_delay, text)


def span_or_none(text: str) -> Given:
    return _parse_or_clear(durations.parse_duration, text)


def number_or_none(text: str) -> Given:
    return _parse_or_clear(_number, text)


def count_or_none(text: str) -> Given:
    return _parse_or_clear(_count, text)


def window_or_none(text: str) -> Given:
    return _parse_or_clear(durations.parse_window, text)


def parse_country(text: str) -> Given:
    return _parse_or_clear(lambda given: given.strip().upper(), text)


def word(text: str) -> Given:
    """Returns the text unchanged; `none` and `never` are ordinary words here."""
    return Given(None if text == DEFAULT else text)


def switch(is_on: bool | None) -> Given | None:
    return None if is_on is None else Given(is_on)


def _parse_or_clear(parse: Callable[[str], Any], text: str) -> Given:
    return Given(None) if text.strip().lower() in CLEARING else Given(_parse_or_reject(parse, text))


def _parse_or_reject(parse: Callable[[str], T], text: str) -> T:
    try:
        return parse(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _delay(text: str) -> float:
    plain = text.strip()
    try:
        seconds = float(plain) if plain.replace(".", "", 1).isdecimal() else parse_duration(plain)
    except ValueError:
        raise ValueError(f"{text!r} is no delay; write it like 500ms, 2s or 0.5") from None
    if seconds > DAY_S:
        raise ValueError(f"{text!r} is too long; a day is the most")
    return seconds


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number; write one, or `default`") from None


def _count(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is no whole number; write one, or `default`") from None
