"""Conditions on fields as a person writes them: `brand=Acme`, `price>100`, `title~cake`. Pure."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from forager.errors import UsageError

WRITTEN = re.compile(r"\s*([A-Za-z_@][\w@:.-]{0,99})\s*(!=|=|~|>|<)\s*(.*)", re.DOTALL)
MOST_CONDITIONS = 20
DEEPEST = 6


class Condition(NamedTuple):
    """One condition on one field."""

    name: str
    sign: str
    """`=`, `!=`, `~` (contains), `>` or `<`."""
    value: str


def parse_conditions(texts: Sequence[str]) -> list[Condition]:
    """Returns the conditions, of which all must hold; raises UsageError for one that is not understood."""
    if len(texts) > MOST_CONDITIONS:
        raise UsageError(f"At most {MOST_CONDITIONS} conditions.")
    found: list[Condition] = []
    for text in texts:
        match = WRITTEN.fullmatch(text[:2_000])
        if match is None or "\0" in text:
            raise UsageError(f"{text[:100]!r} is no condition; write it like brand=Acme, price>100 or title~cake.")
        found.append(Condition(*match.groups()))
    return found


def holds(condition: Condition, properties: Mapping[str, Any]) -> bool:
    """Returns whether a property, an element of it, or a property inside it compares as wanted: the same as `has_value`
    in the database, for items, whose properties nest."""
    return any(_compares(text, condition) for text in _texts(properties, condition.name, 0))


def _texts(value: Any, path: str, depth: int) -> list[str]:
    """Returns the texts at a name, or at a path such as `offers.price`."""
    if depth > DEEPEST:
        return []
    if isinstance(value, list):
        return [text for each in value for text in _texts(each, path, depth + 1)]
    if isinstance(value, Mapping):
        inner = value.get("properties") if path not in value and "properties" in value else value
        if not isinstance(inner, Mapping):
            return []
        if not path:
            return [
                text
                for name in ("name", "@id", "value", "url")
                if name in inner
                for text in _texts(inner[name], "", depth + 1)
            ]
        if path in inner:
            return _texts(inner[path], "", depth + 1)
        head, _, rest = path.partition(".")
        return _texts(inner[head], rest, depth + 1) if rest and head in inner else []
    if path or value is None:
        return []
    return [str(value).lower() if isinstance(value, bool) else str(value)]


def _compares(text: str, condition: Condition) -> bool:
    wanted = condition.value
    if condition.sign == "~":
        return wanted.lower() in text.lower()
    left, right = _number(text), _number(wanted)
    pair: tuple[Any, Any] = (left, right) if left is not None and right is not None else (text, wanted)
    match condition.sign:
        case "!=":
            return text != wanted
        case ">":
            return bool(pair[0] > pair[1])
        case "<":
            return bool(pair[0] < pair[1])
        case _:
            return bool(pair[0] == pair[1])


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
