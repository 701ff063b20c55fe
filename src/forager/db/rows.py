"""Rows of the database as plain mappings; tables, JSON and the API show the names of their columns."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import ConfigDict

from forager.errors import NotFoundError

Row = dict[str, Any]
Key = Sequence[Any]
"""Key of the last row of a page of results, after which the next page begins."""


def _drop_defaults(schema: Row) -> None:
    for field in schema["properties"].values():
        field.pop("default", None)


RECORD = ConfigDict(
    extra="forbid",
    use_attribute_docstrings=True,
    json_schema_serialization_defaults_required=True,
    json_schema_extra=_drop_defaults,
)
"""Config of dataclasses that a route returns directly. The API document describes their fields by their docstrings and
declares each of them as required."""
START: Key = (None,)
"""Start key of a list with one key column."""


def as_dicts(records: Sequence[Any]) -> list[Row]:
    return [dict(record) for record in records]


def require_row(record: Any, kind: str, number: int) -> Row:
    if record is None:
        raise NotFoundError(f"There is no {kind} {number}.")
    return dict(record)


def parse_json(value: Any) -> Any:
    """Parses a JSON value: asyncpg returns JSON as text unless a codec is set."""
    return json.loads(value) if isinstance(value, str) else value
