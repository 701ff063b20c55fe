"""Everything out again, row by row through a server-side cursor: memory stays the same for ten pages or ten million.

The caller's transaction decides what is seen; with one snapshot, an export during a crawl never shows half of a batch.
"""

import json
from collections.abc import AsyncIterator
from typing import Any, Literal

from forager.control.look import SQL, Row, known_name, refuse_unknown_run
from forager.errors import UsageError
from forager.ingest import Reach
from forager.records import RunSpec, Scope

Kind = Literal["pages", "links", "tasks"]
PREFETCH_ROWS = 500

COLUMNS: dict[Kind, tuple[str, ...]] = {
    "pages": (
        *("url", "domain", "status", "status_code", "outcome", "depth", "priority", "is_seed", "title", "description"),
        *("language", "content_hash", "content_type", "links_count", "discovered_at", "fetched_at", "error_code"),
        *("error_message", "response_time_ms", "bytes", "run_id"),
    ),
    "links": ("from_url", "to_url", "anchor", "rel", "position", "domain"),
    "tasks": (
        *("id", "url", "domain", "run_id", "status", "outcome", "status_code", "error_code", "error_message"),
        *("retry_count", "parent_task_id", "priority", "created_by", "created_at", "scheduled_for", "requested_at"),
        *("completed_at", "response_time_ms", "bytes"),
    ),
}
"""The order of a CSV file's columns; a test holds them to the statements."""


async def stream(
    connection: Any, kind: Kind, *, domain: str | None = None, status: str | None = None, run: int | None = None
) -> AsyncIterator[Row]:
    """All rows of one kind that pass the filters. Needs an open transaction, as every cursor does."""
    name = await known_name(connection, domain)
    await refuse_unknown_run(connection, run)
    arguments: tuple[Any, ...]
    match kind:
        case "pages":
            arguments = (_one(name), [], status, _one(run), False)
        case "tasks":
            arguments = (name, status, run)
        case "links":
            if status is not None or run is not None:
                raise UsageError("Links have no status and no run; filter them with --domain.")
            arguments = (name,)
    async for record in connection.cursor(SQL[f"export_{kind}"], *arguments, prefetch=PREFETCH_ROWS):
        yield dict(record)


async def stream_crawl(connection: Any, spec: RunSpec) -> AsyncIterator[Row]:
    """The visited pages of one crawl: all that its order reaches, also those an interrupted run visited before."""
    reach = Reach.of(spec)
    everywhere = spec.scope is Scope.ANY
    arguments = (
        None if everywhere else sorted(reach.domains),
        sorted(reach.parents) if spec.scope is Scope.DOMAIN else [],
        None,
        await _runs_of(connection, spec) if everywhere else None,
        True,
    )
    async for record in connection.cursor(SQL["export_pages"], *arguments, prefetch=PREFETCH_ROWS):
        if record["depth"] <= spec.max_depth and reach.refusal(record["url"], record["domain"]) is None:
            yield dict(record)


async def _runs_of(connection: Any, spec: RunSpec) -> list[int]:
    """Runs with the same seeds are one crawl that was interrupted; the reach of `any` shows in its visits only."""
    return [row["id"] for row in await connection.fetch(SQL["runs_with_seeds"], json.dumps(list(spec.seeds)))]


def _one(value: Any) -> list[Any] | None:
    return None if value is None else [value]
