"""Exports row by row through a server-side cursor: memory stays the same for ten pages or ten million.

The caller's transaction decides what is visible; with one snapshot, an export during a crawl never shows half of a
batch.
"""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple, assert_never

from forager.db import statements
from forager.db.rows import Row
from forager.db.types import Connection
from forager.domains.lookup import known_name
from forager.errors import UsageError
from forager.frontier.details import unpack_items
from forager.links.scope import CrawlScope
from forager.runs.models import RunSpec, Scope
from forager.runs.queries import check_run_exists
from forager.urls.domain import domain_of, registrable

Kind = Literal["pages", "structured-data", "links", "products", "prices", "images", "tasks", "records", "items"]
SQL = statements.load("forager.export", "rows.sql")
PREFETCH_ROWS = 500

COLUMNS: dict[Kind, tuple[str, ...]] = {
    "pages": (
        *("url", "domain", "status", "status_code", "outcome", "depth", "priority", "is_seed", "title", "description"),
        *("language", "canonical_url", "author", "published_at", "modified_at", "content_hash", "simhash"),
        *("content_type", "links_count", "flags", "etag", "last_modified", "discovered_at", "fetched_at", "changed_at"),
        *("completed_at", "error_code", "error_message", "response_time_ms", "bytes", "body_ref", "run_id"),
        *("headline", "site_name", "section", "tags", "rating", "rating_count", "published_on", "modified_on"),
    ),
    "structured-data": ("url", "domain", "fetched_at", "structured_data"),
    "links": ("from_url", "to_url", "anchor", "rel", "position", "domain", "to_status"),
    "products": (
        *("id", "url", "domain", "product_name", "description", "price", "currency", "availability", "rating"),
        *("review_count", "brand", "category", "sku", "gtin", "image_urls", "variants", "content_hash"),
        *("parser_name", "parser_version", "confidence", "evidence", "problems", "is_valid", "page_status"),
        *("created_at", "updated_at", "last_seen_at", "is_price_current", "price_seen_at"),
        *("mpn", "regular_price", "unit_price", "unit", "seller", "condition", "shipping", "attributes"),
    ),
    "prices": (
        *("id", "product_id", "url", "domain", "product_name", "sku", "gtin", "seen_at", "price", "currency"),
        *("availability", "old_price", "old_currency", "old_availability", "is_first", "is_correction"),
        *("is_backfill", "task_id"),
    ),
    "images": (
        *("id", "url", "status", "reason", "format", "width", "height", "frames", "file_size", "content_hash"),
        *("perceptual_hash", "body_ref", "thumbnail_ref", "moved_to", "checked_at", "stored_at", "page_url", "domain"),
        *("position", "discovery_type", "image_type", "alt_text", "declared_width", "declared_height"),
        *("first_seen_at", "last_seen_at", "is_shown"),
    ),
    "records": (
        *("id", "url", "domain", "extractor", "kind", "key", "fields", "problems", "is_complete"),
        *("first_seen_at", "last_seen_at", "changed_at", "gone_at", "task_id"),
    ),
    "items": ("url", "domain", "fetched_at", "position", "syntax", "types", "properties"),
    "tasks": (
        *("id", "url", "domain", "run_id", "status", "outcome", "status_code", "error_code", "error_message", "blame"),
        *("retry_count", "parent_task_id", "priority", "created_by", "created_at", "scheduled_for", "requested_at"),
        *("completed_at", "response_time_ms", "bytes", "is_changed", "pace_ms", "proxy_id", "body_ref", "is_image"),
    ),
}
"""The order of a CSV file's columns; a test compares them with the statements."""
DOCUMENTS: dict[Kind, tuple[str, ...]] = {
    "products": ("variants", "evidence", "attributes"),
    "records": ("fields",),
}
"""Columns of JSON."""
PACKED: dict[Kind, str] = {"structured-data": "structured_data", "items": "properties"}
"""Columns of compressed JSON."""


class ChangedRows(NamedTuple):
    """Rows written by transactions of some ages, as PostgreSQL counts them; see `increments.py`."""

    newest: int
    """They are older than this."""
    oldest: int | None
    """Up to this age; None: all."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which rows; None is all."""

    domain: str | None = None
    status: str | None = None
    run: int | None = None
    since: datetime | None = None
    changed: ChangedRows | None = None


EVERYTHING = Filters()


async def stream(connection: Connection, kind: Kind, filters: Filters = EVERYTHING) -> AsyncIterator[Row]:
    """Yields all rows of one kind that match the filters. Needs an open transaction, as every cursor does."""
    arguments = await _arguments(connection, kind, filters)
    await prefer_first_rows(connection, filters)
    documents, packed = DOCUMENTS.get(kind, ()), PACKED.get(kind)
    async for record in connection.cursor(statement_of(kind), *arguments, prefetch=PREFETCH_ROWS):
        row = dict(record)
        for column in documents:
            row[column] = json.loads(row[column])
        if packed is not None:
            row[packed] = unpack_items(row[packed])
        if kind != "items":
            yield row
            continue
        for position, item in enumerate(row["properties"]):
            yield row | {"position": position, **item}


async def prefer_first_rows(connection: Connection, filters: Filters) -> None:
    """Chooses the plan: rows of a whole table are read in index order; for a part of it, finding and sorting is
    faster."""
    if filters == EVERYTHING:
        await connection.execute(SQL["stream_plans"])


async def estimate(connection: Connection, kind: Kind, filters: Filters = EVERYTHING) -> int:
    """Estimates the number of rows from the query plan, which costs nothing."""
    arguments = await _arguments(connection, kind, filters)
    plan = await connection.fetchval("EXPLAIN (FORMAT JSON) " + statement_of(kind), *arguments)
    return int(json.loads(plan)[0]["Plan"]["Plan Rows"])


async def column_types(connection: Connection, kind: Kind) -> Mapping[str, str]:
    """Returns column → its PostgreSQL type, in column order."""
    prepared = await connection.prepare(statement_of(kind))
    types = {attribute.name: attribute.type.name for attribute in prepared.get_attributes()}
    return types | {packed: "jsonb" for packed in [PACKED.get(kind)] if packed is not None}


async def stream_crawl(connection: Connection, spec: RunSpec) -> AsyncIterator[Row]:
    """Yields the visited pages of one crawl: all in its scope, also those that an interrupted run visited before."""
    everywhere = spec.scope is Scope.ANY or spec.is_long
    names = {domain_of(seed) for seed in spec.seeds}
    reach = CrawlScope.of(replace(spec, scope=Scope.ANY) if everywhere else spec)
    arguments = (
        None if everywhere else sorted(names),
        sorted(map(registrable, names)) if spec.scope is Scope.DOMAIN else [],
        None,
        await _runs_of(connection, spec) if everywhere else None,
        True,
        *(None, None, None),
    )
    async for record in connection.cursor(SQL["export_pages"], *arguments, prefetch=PREFETCH_ROWS):
        if record["depth"] <= spec.max_depth and reach.refusal(record["url"], record["domain"]) is None:
            yield dict(record)


async def _arguments(connection: Connection, kind: Kind, filters: Filters) -> tuple[Any, ...]:
    name = await known_name(connection, filters.domain)
    await check_run_exists(connection, filters.run)
    status, run, since = filters.status, filters.run, filters.since
    changed = filters.changed or (None, None)
    match kind:
        case "pages":
            return _one(name), [], status, _one(run), False, since, *changed
        case "tasks" | "images":
            return name, status, run, since, *changed
        case "links" | "products" | "prices" | "structured-data" | "records" | "items":
            if status is not None:
                raise UsageError(f"{kind.capitalize()} have no status; filter them with --domain, --run or --since.")
            return name, run, since, *changed
        case _:
            assert_never(kind)


async def _runs_of(connection: Connection, spec: RunSpec) -> list[int]:
    """Returns the runs with the same seeds, which are one crawl that was interrupted; the scope of `any`, and of a list
    that is too long to be stored in the config, follows from its visits only."""
    rows = await connection.fetch(SQL["runs_with_seeds"], json.dumps(list(spec.seeds)), spec.seeds_digest)
    return [row["id"] for row in rows]


def statement_of(kind: Kind) -> str:
    return SQL[f"export_{kind.replace('-', '_')}"]


def _one(value: Any) -> list[Any] | None:
    return None if value is None else [value]
