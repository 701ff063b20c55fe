"""Backups, as responses show them."""

from datetime import datetime

from forager.api.types import Row


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
