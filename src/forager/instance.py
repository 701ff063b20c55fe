"""An open Forager instance: its settings and its database. It is passed to commands, routes and jobs."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from forager.config.settings import Settings
from forager.db.database import Database, open_database


@dataclass(frozen=True, slots=True)
class Forager:
    settings: Settings
    database: Database

    @property
    def pool(self) -> Any:
        return self.database.pool


@contextlib.asynccontextmanager
async def open_forager(
    settings: Settings,
    *,
    application: str,
    connections: int = 4,
    idle_limit_s: float | None = None,
    statement_limit_s: float | None = None,
) -> AsyncIterator[Forager]:
    async with open_database(
        settings,
        size=connections,
        application=application,
        idle_limit_s=idle_limit_s,
        statement_limit_s=statement_limit_s,
    ) as database:
        yield Forager(settings, database)
