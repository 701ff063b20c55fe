"""Types for request input: bounded, without values that the database cannot store, and strict."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core.core_schema import CoreSchema, no_info_after_validator_function

LARGEST_ID = 2**53 - 1
"""Ids are bigint, but most JSON parsers represent integers exactly only up to this value."""
MOST_ROWS = 1000
FIRST_YEAR = 1970


class _Clean:
    """Text that the database can store. The schema has a pattern for it too; the error message is a sentence."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(self._reject_null_char, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(core), "pattern": r"^[^\x00]*$"}

    @staticmethod
    def _reject_null_char(text: str) -> str:
        if "\x00" in text:
            raise ValueError("it contains a NUL character")
        return text


def _only_text(value: object) -> object:
    """Requires ISO 8601 for a time; a bare number could be seconds or milliseconds."""
    if not isinstance(value, str | datetime) or (isinstance(value, str) and "T" not in value.upper()):
        raise ValueError("write it like 2026-01-31T12:00:00Z")
    return value


def _check_date_range(value: datetime) -> datetime:
    """Limits the year: no data is older than the Web, and near the limits a time zone's offset would overflow."""
    if not FIRST_YEAR <= value.year < 9999:
        raise ValueError(f"its year lies before {FIRST_YEAR} or too far ahead")
    return value


def _float_to_int(value: Any) -> Any:
    """Converts 1.0 to 1: JSON has one kind of number."""
    match value:
        case float() if value.is_integer() and abs(value) <= LARGEST_ID:
            return int(value)
        case list():
            return [_float_to_int(each) for each in value]
        case dict():
            return {name: _float_to_int(each) for name, each in value.items()}
        case _:
            return value


Text = Annotated[str, _Clean()]
Name = Annotated[str, Field(min_length=1, max_length=260), _Clean()]
Url = Annotated[str, Field(min_length=1, max_length=4096), _Clean()]
Reason = Annotated[str, Field(max_length=500), _Clean()]
Moment = Annotated[
    AwareDatetime,
    BeforeValidator(_only_text),
    AfterValidator(_check_date_range),
    WithJsonSchema({"type": "string", "format": "date-time", "pattern": "^(19[7-9][0-9]|[2-9][0-9]{3})-"}),
]
Whole = Annotated[int, Strict()]
Flag = Annotated[bool, Strict()]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Id = Annotated[int, Strict(), Field(ge=1, le=LARGEST_ID)]
Priority = Annotated[int, Strict(), Field(ge=1, le=10, description="1 is the highest.")]
Country = Annotated[str, Field(pattern="^[A-Z]{2}$", examples=["DE"])]

PathId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
PathName = Annotated[str, Path(min_length=1, max_length=260), _Clean()]
Limit = Annotated[int, Query(ge=1, le=MOST_ROWS, description="Rows at most.")]
After = Annotated[
    str | None,
    Query(max_length=1000, pattern="^[A-Za-z0-9_-]+$", description="`next` of the page before, with the same filters."),
]
DryRun = Annotated[bool, Query(description="Only say what would be done.")]


class Body(BaseModel):
    """Base of request bodies. Rejects unknown fields, so that a misspelled name is not silently ignored."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _read_numbers(cls, content: Any) -> Any:
        return _float_to_int(content)


class ReasonBody(Body):
    reason: Reason | None = Field(default=None, examples=["the owner asked for it"])


def reason_of(body: ReasonBody | None) -> str | None:
    return body.reason if body else None


NOT_GIVEN: Any = None
"""The default of fields that a change omits. It is never read, as only the fields sent count, and the OpenAPI document
omits it: a generated client would send it."""


class Changes(Body):
    """Base of partial updates: only the given fields change, and at least one is required."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})


class Row(BaseModel):
    """Base of response rows."""

    model_config = ConfigDict(extra="forbid")
