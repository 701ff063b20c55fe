"""Statements with types: records for the rows they return, and named columns for the arrays they take.

    class PageDepth(NamedTuple):
        id: int
        depth: int

    FIND_DEPTHS = Query(SQL["find_depths"], PageDepth)
    depths = await FIND_DEPTHS.fetch(conn, page_ids)

The fields are the statement's columns, in its order. A test has PostgreSQL prepare each statement that is declared so
and compares names and types; without a server, at import, the names of arrays are compared with the statement's text.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from enum import Enum
from operator import itemgetter
from types import NoneType
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from forager.db.types import Connection, Executor, Row

R = TypeVar("R")
C = TypeVar("C", bound=tuple[Any, ...])
_UNNEST = re.compile(r"unnest\(((?:\s*\$\d+(?:::\w+\[\])?\s*,?)+)\)\s+AS\s+\w+\s*\(([^)]*)\)")
_PARAMETER = re.compile(r"\$(\d+)")


class Query(Generic[R]):
    """A statement that returns rows of type `row`: a NamedTuple, a dataclass, or the type of its only column."""

    def __init__(self, sql: str, row: type[R]) -> None:
        self.sql, self.row = sql, row
        self._make = _maker(row)

    async def fetch(self, conn: Executor, *args: object) -> list[R]:
        return list(map(self._make, await conn.fetch(self.sql, *args)))

    async def first(self, conn: Executor, *args: object) -> R | None:
        """Returns the first row; None if there is none."""
        row = await conn.fetchrow(self.sql, *args)
        return None if row is None else self._make(row)

    async def one(self, conn: Executor, *args: object) -> R:
        """Returns the row of a statement that always has one."""
        return self._make(await fetch_one(conn, self.sql, *args))


class BulkCommand(Generic[C]):
    """A statement that takes one array per column of many rows. `columns` is a NamedTuple with a field for each
    parameter: built with keywords, it rules out arguments in the wrong order, at the cost of a plain tuple."""

    def __init__(self, sql: str, columns: type[C]) -> None:
        self.sql, self.columns = sql, columns
        check_columns(sql, columns)

    async def execute(self, conn: Connection, columns: C) -> None:
        await conn.execute(self.sql, *columns)


class BulkQuery(BulkCommand[C], Generic[C, R]):
    """A bulk statement that returns rows."""

    def __init__(self, sql: str, columns: type[C], row: type[R]) -> None:
        super().__init__(sql, columns)
        self.row = row
        self._make = _maker(row)

    async def fetch(self, conn: Connection, columns: C) -> list[R]:
        return list(map(self._make, await conn.fetch(self.sql, *columns)))


async def fetch_one(conn: Executor, sql: str, *args: object) -> Row:
    """Returns the row of a statement that always has one."""
    row = await conn.fetchrow(sql, *args)
    assert row is not None, "the statement returned no row"
    return row


def check_columns(sql: str, columns: type[tuple[Any, ...]]) -> None:
    """Raises if a field is not named as the statement names the array at its position, or if the number of fields
    differs from the number of parameters."""
    fields: Sequence[str] = columns._fields  # type: ignore[attr-defined]
    count = max(map(int, _PARAMETER.findall(sql)), default=0)
    if count != len(fields):
        raise ValueError(f"{columns.__name__} has {len(fields)} fields for a statement with {count} parameters")
    for number, name in array_names(sql):
        if fields[number - 1] != name:
            raise ValueError(f"${number} is {name!r} in the statement and {fields[number - 1]!r} in {columns.__name__}")


def array_names(sql: str) -> list[tuple[int, str]]:
    """Returns the number of each parameter that is unnested, with the name of its values in the statement."""
    found: list[tuple[int, str]] = []
    for parameters, names in _UNNEST.findall(sql):
        numbers = map(int, _PARAMETER.findall(parameters))
        found += zip(numbers, (name.strip() for name in names.split(",")), strict=True)
    return found


def _maker(row: type[R]) -> Callable[[Row], R]:
    """Returns a function that builds a record from the driver's row."""
    is_named = hasattr(row, "_make")
    if not is_named and not is_dataclass(row):
        return itemgetter(0)
    make: Callable[[Any], R] = row._make if is_named else lambda values: row(*values)  # type: ignore[attr-defined]
    converters = [(at, found) for at, hint in enumerate(get_type_hints(row).values()) if (found := _converter(hint))]
    if not converters:
        return make

    def make_converted(values: Row) -> R:
        found = list(values)
        for at, convert in converters:
            if at < len(found) and found[at] is not None:
                found[at] = convert(found[at])
        return make(found)

    return make_converted


def _converter(hint: Any) -> Callable[[Any], Any] | None:
    """Returns a converter from arrays to tuples or from text to enumerations, as the record declares; the driver does
    neither."""
    hint = next((each for each in get_args(hint) if each is not NoneType), hint) if NoneType in get_args(hint) else hint
    if get_origin(hint) is tuple:
        return tuple
    return hint if isinstance(hint, type) and issubclass(hint, Enum) else None
