"""Records of stored versions of pages."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

KINDS = {"warc": "archive", "snapshot": "snapshot", "text": "text"}
"""How a reference begins → the kind of body it leads to."""


class MatchType(StrEnum):
    """Which URLs a look-up matches, as in the API of CDX servers."""

    EXACT = "exact"
    PREFIX = "prefix"
    HOST = "host"
    DOMAIN = "domain"


class BodyState(StrEnum):
    STORED = "stored"
    PRUNED = "pruned"
    """Retention deleted it."""
    MISSING = "missing"
    """It is recorded, and its file is not there."""
    DAMAGED = "damaged"
    UNKNOWN = "unknown"
    """The store could not be asked."""


class Change(StrEnum):
    """A version compared with the one before it."""

    FIRST = "first"
    SAME = "same"
    CHANGED = "changed"


class Capture(NamedTuple):
    """A visit whose body was kept, as the database has it."""

    task_id: int
    page_id: int
    domain_id: int
    url: str
    fetched_at: datetime
    status_code: int | None
    is_changed: bool | None
    body_ref: str
    is_pruned: bool
    is_archived: bool
    """The visit has left the history for archive files, and was read back."""

    @property
    def kind(self) -> str:
        return KINDS.get(self.body_ref.partition(":")[0], "unknown")


@dataclass(frozen=True, slots=True)
class Version:
    """One stored version of a page, with what its body says."""

    task_id: int
    fetched_at: datetime
    kind: str
    state: BodyState
    status_code: int | None
    content_type: str | None
    content_hash: str | None
    size_bytes: int | None
    stored_bytes: int | None
    change: Change | None
    is_archived: bool
