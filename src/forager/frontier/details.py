"""Stores what pages say beyond the signals in `pages`: headline, site, tags, rating, dates, structured data.

Separate from `pages`, whose rows are rewritten with every visit and read by every list. Structured data is compressed
here: 21 µs for a page with 3 KB of it, where jsonb takes 80. Opens no transactions: the caller does.
"""

import hashlib
import zlib
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

import orjson
from isal import isal_zlib

from forager.db import statements
from forager.db.query import BulkCommand
from forager.db.types import Connection
from forager.frontier.models import Outcome
from forager.frontier.rows import DetailColumns
from forager.parsing.models import Reading
from forager.parsing.structured.items import plain_name

SQL = statements.load("forager.frontier", "details.sql")
RECORD_DETAILS = BulkCommand(SQL["record_details"], DetailColumns)
MOST_BYTES = 65_536
"""Limit of a page's structured data before compression. Of 1,449 real pages none has more; the mean is 4 KB."""
MOST_CUT_BYTES = 1_000_000
"""Structured data above this size is dropped: parsing a megabyte takes 5 ms."""
ITEMS_CUT = "items_cut"
"""Flag of a page with more than MOST_BYTES: the items that fit are kept."""
LONGEST_TEXT = 1000
MOST_TAGS = 100
MOST_RATINGS = 2**31 - 1
TAGS_BETWEEN = TYPES_BETWEEN = "\x1f"
MOST_TYPES = 100
CENT = Decimal("0.01")


class Details(NamedTuple):
    """The columns of one row."""

    headline: str | None
    site_name: str | None
    section: str | None
    tags: str | None
    rating: Decimal | None
    rating_count: int | None
    published_on: date | None
    modified_on: date | None
    structured_data: bytes | None
    item_types: str | None = None
    """The types of its items, which follow from `structured_data`."""

    @property
    def content_hash(self) -> bytes:
        """Hashes the columns as PostgreSQL formats them, so that `forager check --deep` can compare."""
        texts = TAGS_BETWEEN.join(["" if value is None else str(value) for value in self[:-2]])
        return hashlib.sha256(texts.encode() + (self.structured_data or b"")).digest()[:16]


EMPTY = Details(None, None, None, None, None, None, None, None, None)


def details_of(reading: Reading) -> Details:
    """Returns the columns to store for a reading. Omits what a column cannot hold: one page must not fail a batch."""
    packed = pack_items(reading.structured_data)
    return Details(
        _truncate(reading.headline),
        _truncate(reading.site_name),
        _truncate(reading.section),
        TAGS_BETWEEN.join(_tags(reading.tags)) or None,
        _clean_rating(reading.rating),
        reading.rating_count if reading.rating_count is None or 0 <= reading.rating_count <= MOST_RATINGS else None,
        _day(reading.published_on),
        _day(reading.modified_on),
        packed,
        TYPES_BETWEEN.join(_item_types(packed)) or None,
    )


def _truncate(text: str | None) -> str | None:
    return text[:LONGEST_TEXT] or None if text else None


def _tags(tags: Iterable[str]) -> list[str]:
    return [tag[:LONGEST_TEXT].replace(TAGS_BETWEEN, " ") for tag in list(tags)[:MOST_TAGS] if tag]


def _clean_rating(rating: Decimal | None) -> Decimal | None:
    return rating.quantize(CENT) if rating is not None and rating.is_finite() and 0 <= rating <= 5 else None


def _day(day: date | None) -> date | None:
    """Returns None for days of the first and the last year: the driver treats Python's first and last day as
    infinite."""
    return day if day is not None and 1 < day.year < 9999 else None


def pack_items(structured_data: bytes) -> bytes | None:
    """Returns the compressed items; None if there are none, or so many that parsing them would delay the worker."""
    if len(structured_data) > MOST_BYTES:
        structured_data = _truncate_items(structured_data) if len(structured_data) <= MOST_CUT_BYTES else b""
    return isal_zlib.compress(structured_data, 0) if structured_data else None


def unpack_items(packed: bytes | None) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = orjson.loads(zlib.decompress(packed)) if packed else []
    return items


def _item_types(packed: bytes | None) -> list[str]:
    """Returns the types of the items in lower case, each once."""
    types = (kind for item in unpack_items(packed) for kind in item["types"])
    names = dict.fromkeys(item_type(kind) for kind in types if isinstance(kind, str))
    return [name for name in names if name][:MOST_TYPES]


def item_type(name: str) -> str:
    """Returns a type as it is stored and looked for: `https://schema.org/Recipe` is `recipe`."""
    return plain_name(name).replace(TYPES_BETWEEN, "")


def _truncate_items(structured_data: bytes) -> bytes:
    """Returns the first items that fit, in their order."""
    kept: list[bytes] = []
    left = MOST_BYTES - 2
    for item in orjson.loads(structured_data):
        written = orjson.dumps(item)
        if len(written) < left:
            kept.append(written)
            left -= len(written) + 1
    return b"[" + b",".join(kept) + b"]" if kept else b""


async def record_details(conn: Connection, outcomes: Sequence[Outcome]) -> None:
    """Saves the details of pages that were read, in one statement; deletes the old details of pages that have none
    now."""
    rows: list[tuple[int, Details]] = []
    emptied: list[int] = []
    for outcome in outcomes:
        if outcome.reading is None:
            continue
        details = details_of(outcome.reading)
        if details != EMPTY:
            rows.append((outcome.target.page_id, details))
        else:
            emptied.append(outcome.target.page_id)
    if rows or emptied:
        columns = DetailColumns(
            page_id=[page_id for page_id, _ in rows],
            headline=[details.headline for _, details in rows],
            site_name=[details.site_name for _, details in rows],
            section=[details.section for _, details in rows],
            tags=[details.tags for _, details in rows],
            rating=[details.rating for _, details in rows],
            rating_count=[details.rating_count for _, details in rows],
            published_on=[details.published_on for _, details in rows],
            modified_on=[details.modified_on for _, details in rows],
            structured_data=[details.structured_data for _, details in rows],
            content_hash=[details.content_hash for _, details in rows],
            item_types=[details.item_types for _, details in rows],
            emptied=emptied,
        )
        await RECORD_DETAILS.execute(conn, columns)


async def get_structured_data(conn: Connection, page_id: int) -> list[dict[str, Any]]:
    """Returns all items of a page; none if it has none, or is unknown."""
    return unpack_items(await conn.fetchval(SQL["find_structured_data"], page_id))
