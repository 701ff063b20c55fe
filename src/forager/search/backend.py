"""Selects the search backend by the settings: PostgreSQL or a search server. No other module makes this choice."""

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from forager.config.settings import Settings
from forager.db.types import Connection
from forager.scheduler.text import things
from forager.search.service import ExternalSearch

if TYPE_CHECKING:
    from forager.search.sync import SyncResult, SyncStatus

ROUND_S = 20.0
"""Time limit for one run of the job, so that other jobs can run."""


@contextlib.asynccontextmanager
async def open_searching(settings: Settings) -> AsyncIterator[ExternalSearch | None]:
    """Yields the search server, or None for PostgreSQL. Connects on the first request."""
    if settings.search.backend == "postgres":
        yield None
        return
    from forager.errors import ConfigurationError
    from forager.search.names import Names
    from forager.search.server import open_server

    if settings.search.url is None:
        raise ConfigurationError(
            "search.backend is opensearch, and search.url is not set: write it like https://user:password@host:9200."
        )
    async with open_server(settings.search.url, ca_file=settings.search.ca_file) as server:
        yield ExternalSearch(server, Names(settings.search.index_prefix))


async def sync_server(conn: Connection, settings: Settings, *, within_s: float = ROUND_S) -> str:
    """Sends changes to the search server, and returns a one-line summary."""
    from forager.search.sync import read_sync_status, sync

    async with open_searching(settings) as elsewhere:
        assert elsewhere is not None
        done = await sync(conn, elsewhere.server, elsewhere.names, within_s=within_s)
        return say(done, await read_sync_status(conn))


def say(done: "SyncResult", standing: "SyncStatus") -> str:
    parts = [f"{things(done.changes, 'change')} sent"]
    if done.filled or done.is_building:
        parts.append(f"{things(done.filled, 'document')} put into a new index")
    if standing.waiting:
        parts.append(f"{standing.waiting:,} wait")
    if standing.refused:
        parts.append(f"{standing.refused:,} refused")
    if done.is_busy:
        parts.append("the server takes no more now")
    return "; ".join(parts)
