"""Sizes of tables and folders, as responses show them."""

from datetime import datetime

from forager.api.types import Row
from forager.retention.schemas import RetentionRule


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


class Storage(Row):
    database_bytes: int
    growth_bytes_per_day: float | None
    free_bytes: int | None
    cold_rows: int
    tables: list[Table]
    folders: list[Folder]
    advice: list[str]
    rules: list[RetentionRule]
