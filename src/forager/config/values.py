"""The types of settings: what each accepts, and how its value is written in a file or shown.

A duration is a float in seconds and a size an int in bytes; both accept a plain number, or one with units.
"""

import ipaddress
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from forager.config.durations import format_duration, parse_duration

UNITS_BYTES = {
    "gib": 1024**3,
    "mib": 1024**2,
    "kib": 1024,
    "gb": 1000**3,
    "mb": 1000**2,
    "kb": 1000,
    "b": 1,
}
SHOWN_UNITS = ("GiB", "MiB", "KiB", "GB", "MB", "kB")
MIN_KEY_LENGTH = 32
MIN_KEY_CHARACTERS = 8
GUESSABLE_KEY_WORDS = (
    *(
        "changeme",
        "change-me",
        "change_me",
        "password",
        "passw0rd",
        "secretkey",
        "secret-key",
        "secret_key",
        "mysecret",
    ),
    *("supersecret", "topsecret", "notsecret", "your-", "your_", "yoursecret", "example", "replace", "insecure"),
    *("default", "qwerty", "letmein", "iloveyou", "deadbeef", "lorem"),
)
TIME_OF_DAY = r"^(never|((Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?([01][0-9]|2[0-3]):[0-5][0-9])$"
PLUGIN_PLACE = re.compile(r"(?!(?:s3|https?|file):)[a-z][a-z0-9+.-]{1,30}:.{1,2000}")
LABEL = r"^[a-z0-9][a-z0-9._-]{0,62}$"

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmg]i?b|b)?\s*", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Unit:
    """Marks a type whose numbers are shown with a unit."""

    is_duration: bool


def parse_size(text: str) -> int:
    """Returns the bytes of `10MB`, `1.5GiB` or a plain number."""
    found = _SIZE.fullmatch(text)
    size = float(found[1]) * UNITS_BYTES[(found[2] or "b").lower()] if found else 0.5
    if not size.is_integer():
        raise ValueError(f"{text!r} is not a size; write it like 500kB, 10MB or 1GiB")
    return int(size)


def format_size(size: int) -> str:
    """Returns the size in the largest unit that has no fraction."""
    for unit in SHOWN_UNITS:
        if size and size % UNITS_BYTES[unit.lower()] == 0:
            return f"{size // UNITS_BYTES[unit.lower()]}{unit}"
    return str(size)


def _read_duration(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        return parse_duration(value)


def _read_size(value: object) -> object:
    return parse_size(value) if isinstance(value, str) else value


def _split_list(value: object) -> object:
    """Reads a list from the environment, where it is written with commas."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _check_header(value: str | None) -> str | None:
    if value and not (value.isascii() and value.isprintable()):
        raise ValueError("it is sent as a header, so it may hold printable ASCII characters only")
    return value or None


def _check_network(value: str) -> str:
    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        raise ValueError(f"{value!r} is not a network; write it like 127.0.0.0/8 or 10.1.2.3") from None
    return value


def _check_keys(value: tuple[str, ...]) -> tuple[str, ...]:
    """Only the first key has to be random: the others decrypt existing values until they are encrypted again."""
    if any(len(key) < MIN_KEY_LENGTH for key in value):
        raise ValueError(f"a key has at least {MIN_KEY_LENGTH} characters, such as `openssl rand -hex 32` prints")
    if value and _is_guessable(value[0]):
        raise ValueError("a key is random, such as `openssl rand -hex 32` prints; this one can be guessed")
    return value


def _is_guessable(key: str) -> bool:
    """Returns whether the key is an example from documentation, a repeated text, or a sequence of characters."""
    lower = key.lower()
    steps = [ord(after) - ord(before) for before, after in pairwise(lower)]
    return (
        len(set(lower)) < MIN_KEY_CHARACTERS
        or lower in (lower * 2)[1:-1]
        or any(word in lower for word in GUESSABLE_KEY_WORDS)
        or max(steps.count(1), steps.count(-1), steps.count(0)) > len(steps) / 2
    )


@dataclass(frozen=True, slots=True)
class Schemes:
    """Checks that a URL begins with one of these; an empty one becomes None."""

    schemes: tuple[str, ...]
    example: str = ""

    def __call__(self, value: str | None) -> str | None:
        if value and not value.startswith(self.schemes):
            *most, last = self.schemes
            named = f"{', '.join(most)} or {last}" if most else last
            raise ValueError(f"must start with {named}{self.example}")
        return value or None


def _check_place(value: str | None) -> str | None:
    """Checks the form of a place for bodies; which schemes there are is known to plug-ins."""
    if not value or value.startswith("s3://"):
        return _strip_slash(value)
    if not PLUGIN_PLACE.fullmatch(value) or not value.isprintable():
        raise ValueError(
            "must start with s3://, such as s3://bucket/folder, or with the scheme of a plug-in and a colon"
        )
    return value


def _strip_slash(value: str | None) -> str | None:
    return value.rstrip("/") if value else None


Duration = Annotated[float, Field(ge=0, allow_inf_nan=False), BeforeValidator(_read_duration), Unit(is_duration=True)]
"""Seconds; 0 is allowed."""
PositiveDuration = Annotated[Duration, Field(gt=0)]
Size = Annotated[int, Field(ge=1), BeforeValidator(_read_size), Unit(is_duration=False)]
"""Bytes."""
SizeOrZero = Annotated[int, Field(ge=0), BeforeValidator(_read_size), Unit(is_duration=False)]
Count = Annotated[int, Field(ge=1)]
CountOrZero = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
TimeOfDay = Annotated[str, Field(pattern=TIME_OF_DAY)]
Header = Annotated[str | None, AfterValidator(_check_header)]
Names = Annotated[tuple[str, ...], BeforeValidator(_split_list)]
Labels = Annotated[tuple[Annotated[str, Field(pattern=LABEL)], ...], BeforeValidator(_split_list)]
Ports = Annotated[tuple[int, ...], BeforeValidator(_split_list)]
Networks = Annotated[tuple[Annotated[str, AfterValidator(_check_network)], ...], BeforeValidator(_split_list)]
Keys = Annotated[tuple[str, ...], BeforeValidator(_split_list), AfterValidator(_check_keys)]
DatabaseUrl = Annotated[str | None, AfterValidator(Schemes(("postgresql://", "postgres://")))]
RedisUrl = Annotated[str | None, AfterValidator(Schemes(("redis://", "rediss://", "unix://")))]
BrokerUrl = Annotated[str, Field(min_length=1), AfterValidator(Schemes(("amqp://", "amqps://")))]
HttpUrl = Annotated[str | None, AfterValidator(Schemes(("https://", "http://")))]
PublicUrl = Annotated[HttpUrl, AfterValidator(_strip_slash)]
Bucket = Annotated[
    str | None,
    AfterValidator(Schemes(("s3://",), ", such as s3://bucket/folder")),
    AfterValidator(_strip_slash),
]


BodyPlace = Annotated[str | None, AfterValidator(_check_place)]
"""A bucket, or `SCHEME:TARGET` of a plug-in."""


def as_written(value: Any, metadata: list[Any]) -> Any:
    """Returns a value as it is written in a file: durations and sizes with their unit, paths as text."""
    if isinstance(value, tuple):
        return [as_written(each, []) for each in value]
    unit = next((each for each in metadata if isinstance(each, Unit)), None)
    if unit is not None:
        return format_duration(value) if unit.is_duration else format_size(value)
    return value if value is None or isinstance(value, bool | int | float) else str(value)
