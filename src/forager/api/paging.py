"""Pages of long lists by the key of their last row: what is added or removed meanwhile moves nothing.

A cursor is opaque: the key, and a mark of the list and filters it belongs to, so that it is not used with others. It is
no secret and no permission: what it says is checked like any other value that comes in.
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
    """By which columns a list is sorted, and of which type each is: `int`, `text`, `time`, `day` or `bytes`."""

    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    """Columns that only serve the order."""


BY_ID = Order(("id",), ("int",))


def mark_of(request: Request, order: Order) -> int:
    """The list and its filters; the size of a page may change."""
    filters = sorted((name, value) for name, value in request.query_params.multi_items() if name not in NOT_FILTERS)
    return zlib.crc32(orjson.dumps([request.scope["path"], filters, order.columns]))


def read(request: Request, after: str | None, order: Order) -> Key:
    """The key to go on from; a row of nothing where the list begins."""
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


def page(request: Request, rows: Sequence[Any], limit: int, order: Order = BY_ID) -> Response:
    """Of `limit` + 1 rows, which were asked for, the last one says that there is more."""
    shown = rows[:limit]
    following = write(request, shown[-1], order) if len(rows) > limit else None
    if order.hidden:
        shown = [{name: value for name, value in row.items() if name not in order.hidden} for row in shown]
    return reply({"items": shown, "next": following})


def truncate_lists(
    request: Request, lists: Sequence[list[Any]], limit: int, order: Order, ends: Sequence[int]
) -> str | None:
    """Several lists of one answer, each with one column of the order and asked for as above: they are cut here, and
    what is answered is their `next`. The key of one that is at its end is that of `ends`, which nothing comes behind.
    """
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
    if moment.tzinfo is None or not 1970 <= moment.year < 9999:  # ours are not so old, and there is room before them
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
