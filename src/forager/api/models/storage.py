"""Room, cold files, backups and purges, as answers show them."""

from datetime import date, datetime

from pydantic import Field

from forager.api.types import Row


class States(Row):
    pending: int
    completed: int
    failed: int


class Table(Row):
    name: str
    size_bytes: int
    index_bytes: int
    rows: int
    dead_rows: int
    vacuumed_at: datetime | None
    analysed_at: datetime | None
    changed_rows: int
    growth_bytes: float | None
    states: States | None


class Folder(Row):
    name: str
    path: str
    files: int
    size_bytes: int


class RetentionRule(Row):
    """How long something stays, and what becomes of it then."""

    table: str = Field(examples=["robots_requests"])
    what: str = Field(examples=["requests for robots.txt"])
    kept_s: float
    then: str = Field(examples=["deleted"])
    setting: str = Field(examples=["retention.robots_requests"])
    due: int | None = Field(description="Rows whose time has come; null where nobody counted them.")


class Storage(Row):
    database_bytes: int
    growth_bytes_per_day: float | None
    free_bytes: int | None
    cold_rows: int
    tables: list[Table]
    folders: list[Folder]
    advice: list[str]
    rules: list[RetentionRule]


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


class Planned(Row):
    """What may leave now, of one kind and month."""

    kind: str
    month: date
    row_count: int
    size_bytes: int
    domains: int
    first_at: datetime
    last_at: datetime


class Backup(Row):
    name: str
    made_at: datetime
    forager: str
    revision: str
    server_major: int
    tables: int
    database_bytes: int
    file_count: int
    file_bytes: int


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
