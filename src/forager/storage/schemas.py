"""Sizes of tables and folders, as responses show them."""

from forager.api.types import Row
from forager.retention.schemas import RetentionRule
from forager.storage.usage import Table


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
