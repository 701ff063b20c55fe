"""Who does the searching: PostgreSQL, or by the settings a search server. Nobody else asks which it is."""

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
"""For one run of the job, so that others have their turn."""


@contextlib.asynccontextmanager
async def open_searching(settings: Settings) -> AsyncIterator[ExternalSearch | None]:
    """None: PostgreSQL. Dials when it is first asked."""
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
    """Sends the search server what changed, and returns a summary in one line."""
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
