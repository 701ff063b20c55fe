"""Captures in the fields of the CDX server API, which tools for web archives read. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from forager.captures.service import Described
from forager.errors import StoreError
from forager.storage.cdxj import surt
from forager.storage.refs import WarcRef, parse

REVISIT = "warc/revisit"
UNKNOWN = "unk"
NONE = "-"
ONE_DAY, ONE_SECOND = timedelta(days=1), timedelta(seconds=1)
DIGITS = {4: timedelta(), 6: timedelta(), 8: ONE_DAY, 10: timedelta(hours=1), 12: timedelta(minutes=1), 14: ONE_SECOND}
"""Digits of a timestamp → the span it stands for; years and months vary."""
LENGTH_OF_DAY = len("2026-01-31")


class CdxRow(NamedTuple):
    """One line of a CDX index."""

    urlkey: str
    timestamp: str
    original: str
    mimetype: str
    statuscode: int | None
    digest: str | None
    length: int | None
    """Bytes of the compressed record or file."""
    filename: str | None
    """The WARC file; None for a snapshot, which is a file of its own."""
    offset: int | None

    def cells(self) -> list[str]:
        return [NONE if value is None else str(value) for value in self]

    def line(self) -> str:
        return " ".join(self.cells())

    def document(self) -> Mapping[str, str | int | None]:
        return self._asdict()


FIELDS = CdxRow._fields


def to_row(each: Described) -> CdxRow:
    capture, info = each.capture, each.info
    try:
        found = parse(capture.body_ref)
    except StoreError:
        found = None
    warc = found if isinstance(found, WarcRef) else None
    kind = info.content_type.partition(";")[0].strip().lower().replace(" ", "") if info else ""
    return CdxRow(
        surt(capture.url),
        f"{capture.fetched_at.astimezone(UTC):%Y%m%d%H%M%S}",
        capture.url,
        REVISIT if info and info.is_revisit else kind or UNKNOWN,
        capture.status_code,
        info.digest if info else None,
        warc.length if warc else info.stored_bytes if info else None,
        warc.name if warc else None,
        warc.offset if warc else None,
    )


def parse_time(text: str, *, is_end: bool = False) -> datetime:
    """Parses 4 to 14 digits, as CDX servers take them, or a moment (UTC unless it says otherwise). The end of a span
    that is less exact is its last second. Raises ValueError."""
    if not text.isdigit():
        moment = datetime.fromisoformat(text)
        is_day = len(text) == LENGTH_OF_DAY
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment + ONE_DAY - ONE_SECOND if is_day and is_end else moment
    if len(text) not in DIGITS:
        raise ValueError(text)
    filled = text + "00000101000000"[len(text) :]
    moment = datetime.strptime(filled, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return _end_of(moment, len(text)) if is_end else moment


def _end_of(moment: datetime, digits: int) -> datetime:
    if digits == 4:
        return moment.replace(year=moment.year + 1) - ONE_SECOND
    if digits == 6:
        return (moment + timedelta(days=32)).replace(day=1) - ONE_SECOND
    return moment + DIGITS[digits] - ONE_SECOND
