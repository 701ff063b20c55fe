"""Flags whose value may also be a word that clears an earlier value: `--delay 2`, `--delay default`."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import typer

from forager.cli import durations

T = TypeVar("T")
DEFAULT = "default"
CLEARING = frozenset({DEFAULT, "none", "never"})


class Given(NamedTuple):
    """A flag that was given; the value None clears."""

    value: Any


def span(text: str) -> float:
    """Returns seconds, from `6h`."""
    return _parse_or_reject(durations.parse_duration, text)


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
