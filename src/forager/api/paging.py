"""Keyset pagination: pages continue after the key of the last row, so rows added or removed meanwhile shift nothing.

A cursor is opaque: the key, and a checksum of the list and filters it belongs to, so that it is not used with others.
It is neither secret nor a permission: its values are validated like any other input.
"""

import base64
import binascii
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Generic, TypeVar

import orjson
from fastapi import Request, Response
from pydantic import BaseModel, Field

from forager.api.reply import reply
from forager.api.types import LARGEST_ID
from forager.errors import NotFoundError

T = TypeVar("T")
Key = tuple[Any, ...]
BAD = "There is no such page of this list with these filters; leave `after` out to begin anew."
NOT_FILTERS = frozenset({"after", "limit"})


Next = Annotated[
    str | None, Field(description="The `after` of the next page; null: this is the last.", examples=["WzEsNDJd"])
]


class Paged(BaseModel, Generic[T]):
    """Some rows of a list, and where to go on."""

    items: list[T]
    next: Next

    @classmethod
    def model_parametrized_name(cls, params: tuple[Any, ...]) -> str:
        return f"{params[0].__name__}Page"


class Listed(BaseModel, Generic[T]):
    """A list that is short by nature."""

    items: list[T]

    @classmethod
    def model_parametrized_name(cls, params: tuple[Any, ...]) -> str:
        return f"{params[0].__name__}List"


@dataclass(frozen=True, slots=True)
class Order:
    """The columns a list is sorted by, and the type of each: `int`, `text`, `time`, `day` or `bytes`."""

    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    """Columns that are used only for sorting."""


BY_ID = Order(("id",), ("int",))


def mark_of(request: Request, order: Order) -> int:
    """Returns a checksum of the list and its filters; the page size may change."""
    filters = sorted((name, value) for name, value in request.query_params.multi_items() if name not in NOT_FILTERS)
    return zlib.crc32(orjson.dumps([request.scope["path"], filters, order.columns]))


def read(request: Request, after: str | None, order: Order) -> Key:
    """Returns the key to continue after; a tuple of None at the start of the list."""
    if after is None:
        return (None,) * len(order.columns)
    try:
        mark, *values = orjson.loads(base64.urlsafe_b64decode(after + "=" * (-len(after) % 4)))
        if mark != mark_of(request, order):
            raise NotFoundError(BAD)
        return tuple(_READ[kind](value) for kind, value in zip(order.kinds, values, strict=True))
    except (ValueError, TypeError, binascii.Error):
        raise NotFoundError(BAD) from None


def write(request: Request, row: Mapping[str, Any], order: Order) -> str:
    values = [_WRITE[kind](row[column]) for column, kind in zip(order.columns, order.kinds, strict=True)]
    return base64.urlsafe_b64encode(orjson.dumps([mark_of(request, order), *values])).rstrip(b"=").decode()


def page(
    request: Request,
    rows: Sequence[Any],
    limit: int,
    order: Order = BY_ID,
    resume_at: Mapping[str, Any] | None = None,
) -> Response:
    """Returns a page of `limit` rows. Expects up to `limit` + 1 rows: the extra row shows that there is a next page.
    `resume_at`: the key where reading stopped before there were so many; the next page continues there."""
    shown = rows[:limit]
    following = write(request, shown[-1], order) if len(rows) > limit else None
    if following is None and resume_at is not None:
        following = write(request, resume_at, order)
    if order.hidden:
        shown = [{name: value for name, value in row.items() if name not in order.hidden} for row in shown]
    return reply({"items": shown, "next": following})


def truncate_lists(
    request: Request, lists: Sequence[list[Any]], limit: int, order: Order, ends: Sequence[int]
) -> str | None:
    """Truncates several lists of one response to `limit` rows and returns their common `next` cursor. Each list has one
    column of the order and up to `limit` + 1 rows. A list that is complete gets its key from `ends`, after which no row
    follows."""
    if all(len(rows) <= limit for rows in lists):
        return None
    last = dict(zip(order.columns, ends, strict=True))
    for column, rows in zip(order.columns, lists, strict=True):
        if len(rows) > limit:
            del rows[limit:]
            last[column] = rows[-1][column]
    return write(request, last, order)


def _validate_id(value: Any) -> int:
    if type(value) is not int or not -LARGEST_ID <= value <= LARGEST_ID:
        raise ValueError
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or "\x00" in value:
        raise ValueError
    return value


def _parse_datetime(value: Any) -> datetime:
    moment = datetime.fromisoformat(_text(value))
    if moment.tzinfo is None or not 1970 <= moment.year < 9999:  # stored times are not older; leaves margin at the end
        raise ValueError
    return moment


_READ: Mapping[str, Callable[[Any], Any]] = {
    "int": _validate_id,
    "text": _text,
    "time": _parse_datetime,
    "day": lambda value: date.fromisoformat(_text(value)),
    "bytes": lambda value: bytes.fromhex(_text(value)),
}
_WRITE: Mapping[str, Callable[[Any], Any]] = {
    "int": int,
    "text": str,
    "time": lambda value: value.isoformat(),
    "day": lambda value: value.isoformat(),
    "bytes": lambda value: value.hex(),
}
