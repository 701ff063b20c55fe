"""Archive files, retention rules and purges, as responses show them."""

from datetime import date, datetime

from pydantic import Field

from forager.api.types import Row


class RetentionRule(Row):
    """How long something stays, and what becomes of it then."""

    table: str = Field(examples=["robots_requests"])
    what: str = Field(examples=["requests for robots.txt"])
    kept_s: float
    then: str = Field(examples=["deleted"])
    setting: str = Field(examples=["retention.robots_requests"])
    due: int | None = Field(description="Rows whose time has come; null where nobody counted them.")


class ColdFile(Row):
    id: int
    kind: str
    month: date
    status: str
    file: str
    row_count: int
    moved: int
    first_id: int
    last_id: int
    size_bytes: int
    stored_bytes: int
    sha256: str | None
    revision: str
    created_by: str
    created_at: datetime
    moved_at: datetime | None
    restored: int


class PurgeRow(Row):
    id: int
    purged_at: datetime
    ended_at: datetime | None = Field(description="None: it goes on, or was stopped before its end.")
    purged_by: str
    reason: str
    what: str
    subject: str
    counts: dict[str, int]
    tasks: int


class Purged(Row):
    subject: str = Field(examples=["shop.example"])
    counts: dict[str, int] = Field(description="What was deleted, or would be.", examples=[{"pages": 3}])
    dry_run: bool
