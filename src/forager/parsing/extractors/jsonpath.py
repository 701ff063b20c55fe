"""A small JSONPath: `$.offers[0].price`, `$..name`, `$.image[*].url`, `$['@type']`, `$.graph[?(@.type == 'Recipe')]`.

Paths are parsed once and visit a limited number of values, whatever a page's JSON contains.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

MOST_VISITED = 100_000
MOST_FOUND = 2_000
DEEPEST = 60
STEP = re.compile(
    r"""(?P<deep>\.\.)?(?:
        (?:(?<=\.\.)|\.)(?P<name>[^\W\d][\w@-]*|@[\w-]+|\*)
      | \[\s*(?:(?P<quoted>'[^']*'|"[^"]*")|(?P<index>-?\d{1,9})|(?P<all>\*)|(?P<start>-?\d{0,9}):(?P<end>-?\d{0,9})
            |\?\(?\s*@(?:\.(?P<key>[@\w-]+)|\[(?P<key_quoted>'[^']*'|"[^"]*")\])\s*
              (?:(?P<sign>==|!=|=~)\s*(?P<value>'[^']*'|"[^"]*"|-?\d+(?:\.\d+)?|true|false|null))?\s*\)?)\s*\]
    )""",
    re.VERBOSE,
)
CONSTANTS = {"true": True, "false": False, "null": None}


class Step(NamedTuple):
    """One step of a path."""

    is_deep: bool
    kind: str
    """`name`, `index`, `all`, `slice` or `filter`."""
    argument: Any


class _Budget:
    """How many values may still be visited."""

    def __init__(self) -> None:
        self.left = MOST_VISITED

    def is_spent(self) -> bool:
        self.left -= 1
        return self.left < 0


@lru_cache(1024)
def parse(path: str) -> tuple[Step, ...]:
    """Returns the steps of a path; raises ValueError for one that is not understood."""
    if not path.startswith("$"):
        raise ValueError("a path begins with $")
    steps: list[Step] = []
    at = 1
    while at < len(path):
        found = STEP.match(path, at)
        if found is None:
            raise ValueError(f"it is not understood from {path[at:][:30]!r} on")
        steps.append(_step(found))
        at = found.end()
    return tuple(steps)


def _step(found: re.Match[str]) -> Step:
    deep = found["deep"] is not None
    if found["name"] == "*" or found["all"]:
        return Step(deep, "all", None)
    if found["name"] is not None:
        return Step(deep, "name", found["name"])
    if found["quoted"] is not None:
        return Step(deep, "name", found["quoted"][1:-1])
    if found["index"] is not None:
        return Step(deep, "index", int(found["index"]))
    if found["start"] is not None:
        ends = [int(found[name]) if found[name] not in {"", "-"} else None for name in ("start", "end")]
        return Step(deep, "slice", slice(*ends))
    key = found["key"] if found["key"] is not None else found["key_quoted"][1:-1]
    return Step(deep, "filter", (key, found["sign"], _constant(found["value"])))


def _constant(text: str | None) -> Any:
    if text is None:
        return None
    if text[0] in "'\"":
        return text[1:-1]
    return CONSTANTS[text] if text in CONSTANTS else float(text)


def find(path: str, document: Any) -> list[Any]:
    """Returns the values that a path leads to, in their order; at most `MOST_FOUND`."""
    values: list[Any] = [document]
    budget = _Budget()
    for step in parse(path):
        values = _apply(step, values, budget)
        if not values:
            return []
    return values


def _apply(step: Step, values: list[Any], budget: _Budget) -> list[Any]:
    found: list[Any] = []
    for value in values:
        for each in _descend(value, budget, 0) if step.is_deep else (value,):
            if budget.is_spent() or len(found) >= MOST_FOUND:
                return found[:MOST_FOUND]
            found += _select(step, each)
    return found[:MOST_FOUND]


def _descend(value: Any, budget: _Budget, depth: int) -> Iterator[Any]:
    yield value
    if depth < DEEPEST:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        for each in inner:
            if isinstance(each, dict | list):
                if budget.is_spent():
                    return
                yield from _descend(each, budget, depth + 1)


def _select(step: Step, value: Any) -> list[Any]:
    match step.kind:
        case "name":
            if isinstance(value, dict):
                return [value[step.argument]] if step.argument in value else []
            # Structured data may hold one item or a list of them where a path names one.
            if isinstance(value, list) and not step.is_deep:
                return [each[step.argument] for each in value if isinstance(each, dict) and step.argument in each]
            return []
        case "all":
            return list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, list) else []
        case "index":
            return value[step.argument :][:1] if isinstance(value, list) and -len(value) <= step.argument else []
        case "slice":
            return value[step.argument] if isinstance(value, list) else []
        case _:
            inner = value if isinstance(value, list) else [value]
            return [each for each in inner if isinstance(each, dict) and _passes(step.argument, each)]


def _passes(condition: tuple[str, str | None, Any], value: dict[str, Any]) -> bool:
    key, sign, wanted = condition
    if sign is None:
        return key in value
    given = value.get(key)
    if sign == "=~":
        return isinstance(given, str) and isinstance(wanted, str) and wanted.lower() in given.lower()
    is_equal = given == wanted or (isinstance(given, list) and wanted in given)
    return is_equal == (sign == "==")
