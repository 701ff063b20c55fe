"""One short function per statement of `queries.sql`. Opens no transactions: the floor above does."""

from collections.abc import Sequence
from typing import Any

from forager.db import statements
from forager.frontier.rank import priority_of
from forager.records import Discovery, Lease, Outcome, Target

SQL = statements.load("forager.frontier")

ANCHORS_BETWEEN = "\x1f"
"""The unit separator counts as white space, of which reading leaves only single spaces: no anchor contains it."""


async def claim_domains(
    conn: Any, *, worker: int, run: int, limit: int, lease_s: float, workers: int, max_pages_per_domain: int | None
) -> list[Lease]:
    rows = await conn.fetch(SQL["claim_domains"], worker, run, limit, lease_s, float(workers), max_pages_per_domain)
    return [
        Lease(
            domain_id=row["id"],
            domain=row["name"],
            version=row["version"],
            delay_s=row["crawl_delay_s"],
            wait_s=row["wait_s"] or 0.0,
            max_concurrent_requests=row["max_concurrent_requests"],
            content_policy=row["content_policy"],
        )
        for row in rows
    ]


async def free_tasks(conn: Any, domain_ids: Sequence[int]) -> list[tuple[int, int, int]]:
    """What was given back: run, domain, how many pages."""
    return [tuple(row) for row in await conn.fetch(SQL["free_tasks"], domain_ids)]


async def claim_tasks(
    conn: Any,
    wants: Sequence[tuple[Lease, int]],
    *,
    worker: int,
    run: int,
    max_pages_per_domain: int | None,
    max_depth: int,
    patterns: tuple[list[str] | None, list[str] | None, list[str] | None],
) -> list[Target]:
    versions = {lease.domain_id: lease.version for lease, _ in wants}
    rows = await conn.fetch(
        SQL["claim_tasks"],
        list(versions),
        list(versions.values()),
        [want for _, want in wants],
        worker,
        run,
        max_pages_per_domain,
        max_depth,
        *patterns,
    )
    return [
        Target(task_id, page_id, domain_id, versions[domain_id], url, depth, redirects, retry_count)
        for task_id, page_id, domain_id, url, depth, redirects, retry_count in rows
    ]


async def add_pages(conn: Any, pages: Sequence[tuple[int, Discovery]], *, is_seed: bool = False) -> list[Any]:
    """Rows (id, domain_id, url_hash, depth) of the pages that are new."""
    found: list[Any] = await conn.fetch(
        SQL["add_pages"],
        [domain_id for domain_id, _ in pages],
        [page.url for _, page in pages],
        [page.key for _, page in pages],
        [page.depth for _, page in pages],
        [priority_of(page.url, page.depth, is_seed=is_seed) for _, page in pages],
        [page.redirects for _, page in pages],
        is_seed,
    )
    return found


async def find_pages(conn: Any, keys: Sequence[tuple[int, bytes]]) -> list[Any]:
    """Rows (id, url_hash, depth) of the pages that are known, by domain and key."""
    found: list[Any] = await conn.fetch(SQL["find_pages"], [domain for domain, _ in keys], [key for _, key in keys])
    return found


async def relax_depths(conn: Any, depths: dict[int, int]) -> set[int]:
    """Lower the depths of pages; answers the domains in which a page not yet visited came nearer."""
    rows = await conn.fetch(SQL["relax_depths"], list(depths), list(depths.values()))
    return {row["domain_id"] for row in rows if row["status"] in {"discovered", "queued"}}


async def close_tasks(conn: Any, outcomes: Sequence[Outcome]) -> set[int]:
    """The tasks that were still open and are closed now."""
    rows = await conn.fetch(
        SQL["close_tasks"],
        [outcome.target.task_id for outcome in outcomes],
        [outcome.kind.value for outcome in outcomes],
        [outcome.requested_at for outcome in outcomes],
        [outcome.status_code for outcome in outcomes],
        [outcome.error.code if outcome.error else None for outcome in outcomes],
        [str(outcome.error)[:2000] if outcome.error else None for outcome in outcomes],
        [outcome.error.blame.value if outcome.error else None for outcome in outcomes],
        [outcome.response_time_ms for outcome in outcomes],
        [outcome.wire_bytes for outcome in outcomes],
    )
    return {row["id"] for row in rows}


async def record_readings(conn: Any, outcomes: Sequence[tuple[Outcome, str | None]]) -> None:
    """Signals of pages that were read, each with the text-search configuration for its keywords (None: no keywords)."""
    readings = [(outcome, outcome.reading, config) for outcome, config in outcomes if outcome.reading is not None]
    if not readings:
        return
    await conn.execute(
        SQL["record_readings"],
        [outcome.target.page_id for outcome, _, _ in readings],
        [reading.title for _, reading, _ in readings],
        [reading.description for _, reading, _ in readings],
        [reading.language for _, reading, _ in readings],
        [reading.content_hash for _, reading, _ in readings],
        [outcome.content_type for outcome, _, _ in readings],
        [len(outcome.selection.links) for outcome, _, _ in readings],
        [outcome.etag for outcome, _, _ in readings],
        [outcome.last_modified for outcome, _, _ in readings],
        [config for _, _, config in readings],
        [reading.headings for _, reading, _ in readings],
        [reading.text for _, reading, _ in readings],
    )


async def record_states(conn: Any, states: Sequence[tuple[Outcome, str]]) -> None:
    """Where pages without a reading stand now."""
    if not states:
        return
    await conn.execute(
        SQL["record_states"],
        [outcome.target.page_id for outcome, _ in states],
        [status for _, status in states],
        [outcome.content_type for outcome, _ in states],
        [len(outcome.selection.links) if status == "fetched" else None for outcome, status in states],
    )


async def replace_links(conn: Any, outcomes: Sequence[Outcome], page_ids: dict[bytes, int]) -> None:
    """The edges of these pages, as their newest reading has them."""
    await conn.execute(SQL["forget_links"], [outcome.target.page_id for outcome in outcomes])
    linking = [outcome for outcome in outcomes if outcome.selection.links]
    if not linking:
        return
    await conn.execute(
        SQL["add_links"],
        [outcome.target.domain_id for outcome in linking],
        [outcome.target.page_id for outcome in linking],
        [",".join([str(page_ids[link.key]) for link in outcome.selection.links]) for outcome in linking],
        [",".join([link.rel for link in outcome.selection.links]) for outcome in linking],
        [ANCHORS_BETWEEN.join([link.anchor for link in outcome.selection.links]) for outcome in linking],
    )


async def add_retries(conn: Any, outcomes: Sequence[Outcome]) -> None:
    if outcomes:
        await conn.execute(
            SQL["add_retries"],
            [outcome.target.task_id for outcome in outcomes],
            [outcome.retry_in_s for outcome in outcomes],
        )


async def add_errors(conn: Any, outcomes: Sequence[Outcome]) -> None:
    broken = [(outcome, outcome.error) for outcome in outcomes if outcome.stack and outcome.error]
    if broken:
        await conn.execute(
            SQL["add_errors"],
            [outcome.target.task_id for outcome, _ in broken],
            [error.code for _, error in broken],
            [str(error)[:2000] for _, error in broken],
            [outcome.stack for outcome, _ in broken],
        )


async def mark_seeds(conn: Any, page_ids: Sequence[int]) -> None:
    await conn.execute(SQL["mark_seeds"], page_ids)


async def hurry_tasks(conn: Any, page_ids: Sequence[int]) -> None:
    await conn.execute(SQL["hurry_tasks"], page_ids)


async def reopen_pages(conn: Any, page_ids: Sequence[int], *, by: str) -> dict[int, int]:
    """Domain → how many of its pages got a new task."""
    return {row["domain_id"]: row["pages"] for row in await conn.fetch(SQL["reopen_pages"], page_ids, by)}
