"""Parameters and rows of the record statements."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple


class SeenColumns(NamedTuple):
    """One element per record of a visit: enough to recognise one that is as it was."""

    domain_id: Sequence[int]
    page_id: Sequence[int]
    task_id: Sequence[int]
    seen_at: Sequence[datetime | None]
    extractor: Sequence[str]
    key_hash: Sequence[bytes]
    content_hash: Sequence[bytes]


class RecordColumns(NamedTuple):
    """One element per record that is new, changed or back. `fields` is JSON."""

    domain_id: Sequence[int]
    page_id: Sequence[int]
    task_id: Sequence[int]
    seen_at: Sequence[datetime | None]
    extractor: Sequence[str]
    kind: Sequence[str]
    key: Sequence[str | None]
    key_hash: Sequence[bytes]
    fields: Sequence[str]
    evidence: Sequence[bytes | None]
    problems: Sequence[str]
    content_hash: Sequence[bytes]


class LostRecord(NamedTuple):
    """A record that its page no longer has."""

    domain_id: int
    page_id: int
    extractor: str
    fields: list[str]


class DayColumns(NamedTuple):
    """One element per extractor and field."""

    domain_id: Sequence[int]
    extractor: Sequence[str]
    field: Sequence[str]
    found: Sequence[int]
    valid: Sequence[int]
    missing: Sequence[int]
    failed: Sequence[int]
    last_error: Sequence[str | None]
