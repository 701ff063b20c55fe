"""Sizes of tables and folders, as responses show them."""

from pydantic import Field

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
    month_growth_bytes: int | None = Field(description="In the last 30 days; null: nothing was measured about then.")
    free_bytes: int | None
    cold_rows: int
    tables: list[Table]
    folders: list[Folder]
    advice: list[str]
    rules: list[RetentionRule]
