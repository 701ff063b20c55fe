"""What an operator may look at: domains, pages, tasks, runs. Reads only; every door (CLI, API) calls these.

Rows come back as plain mappings whose names are the columns', so that a table, JSON and the API show the same words.
"""

import difflib
import json
from collections.abc import Sequence
from typing import Any

from forager.db import statements
from forager.errors import BadUrlError, NotFoundError, UsageError
from forager.stats.processes import is_gone
from forager.urls import domain_of, normalize, url_key

SQL = statements.load("forager.control")
Row = dict[str, Any]


async def list_domains(connection: Any, *, status: str | None = None, limit: int | None = None) -> list[Row]:
    return _rows(await connection.fetch(SQL["list_domains"], status, limit))


async def list_pages(
    connection: Any,
    *,
    domain: str | None = None,
    status: str | None = None,
    outcome: str | None = None,
    limit: int | None = None,
) -> list[Row]:
    name = await known_name(connection, domain)
    return _rows(await connection.fetch(SQL["list_pages"], name, status, outcome, limit))


async def list_tasks(
    connection: Any,
    *,
    domain: str | None = None,
    url: str | None = None,
    run: int | None = None,
    is_open: bool | None = None,
    status: str | None = None,
    batch: int | None = None,
    kind: str | None = None,
    error: str | None = None,
    limit: int | None = None,
) -> list[Row]:
    """Newest first. `kind` is `page` or `image`: what the visit is for."""
    name = await known_name(connection, domain)
    key = url_key(normalize(url)) if url is not None else None
    await check_run_exists(connection, run)
    is_image = None if kind is None else kind == "image"
    filters = (name, key, run, is_open, status, batch, is_image, error)
    return _rows(await connection.fetch(SQL["list_tasks"], *filters, limit))


async def list_runs(connection: Any, *, limit: int | None = None) -> list[Row]:
    rows = _rows(await connection.fetch(SQL["list_runs"], limit))
    return [_end_if_lost(row) | {"spec": _document(row["spec"])} for row in rows]


def _end_if_lost(row: Row) -> Row:
    """A run whose process was killed has stopped, also before anything recorded it."""
    keeper, kept_by, heard_at = row.pop("keeper"), row.pop("kept_by"), row.pop("heard_at")
    if row["status"] == "running" and keeper == "process" and kept_by is not None and is_gone(kept_by):
        return row | {"status": "stopped", "ended_at": heard_at}
    return row


async def top_domains(
    connection: Any,
    *,
    by: str = "yield",
    status: str | None = None,
    is_active: bool | None = None,
    parent: str | None = None,
    run: int | None = None,
    part: str | None = None,
    breaker: str | None = None,
    limit: int | None = None,
) -> list[Row]:
    """The first domains by `yield`, `score`, `pages`, `errors` or `change`, of those that the filters leave."""
    filters = (status, is_active, parent, run, part, breaker)
    return _rows(await connection.fetch(SQL["top_domains"], by, limit, *filters))


async def list_claims(connection: Any, *, dead_after_s: float) -> Row:
    """Who works on how many domains, which leases outlived their holder, and who waits to be claimed."""
    workers = _rows(await connection.fetch(SQL["claims_of_workers"], dead_after_s))
    return {
        "workers": workers,
        "held": sum(row["domains"] for row in workers),
        "expired": sum(row["expired"] for row in workers),
        "stuck": sum(row["domains"] for row in workers if row["is_lost"]),
        "waiting": _rows(await connection.fetch(SQL["waiting_domains"])),
    }


async def describe_domain(connection: Any, name: str, *, moves: int | None = 5) -> Row:
    """Everything about one domain: its row, its pages by state, how its visits ended, robots.txt, its last moves."""
    found = dict(await connection.fetchrow(SQL["find_domain"], await known_name(connection, name)))
    identity = found["id"]
    states = await connection.fetch(SQL["page_states_of_domain"], identity)
    return {
        **{column: value for column, value in found.items() if column != "id" and not column.startswith("score_")},
        "score_terms": {term.removeprefix("score_"): found[term] for term in found if term.startswith("score_")},
        "page_states": {row["status"]: row["pages"] for row in states},
        "changes": {what: sum(row[what] for row in states) for what in ("comparisons", "changes")},
        "revisits": dict(await connection.fetchrow(SQL["revisits_of_domain"], identity)),
        "outcomes": _rows(await connection.fetch(SQL["outcomes_of_domain"], identity)),
        "origins": _rows(await connection.fetch(SQL["origins_of_domain"], identity)),
        "history": _rows(await connection.fetch(SQL["history_of_domain"], identity, moves)),
    }


async def list_moves(connection: Any, name: str) -> list[Row]:
    """All that happened to one domain, newest first."""
    found = await connection.fetchrow(SQL["find_domain"], await known_name(connection, name))
    return _rows(await connection.fetch(SQL["history_of_domain"], found["id"], None))


async def find_page(connection: Any, url: str) -> Row:
    """One page by any spelling of its URL; refuses one that is not known."""
    try:
        spelling = normalize(url)
    except BadUrlError as error:
        raise UsageError(str(error)) from None
    found = await connection.fetchrow(SQL["find_page"], domain_of(spelling), url_key(spelling))
    if found is None:
        raise NotFoundError(f"There is no page {spelling}. `forager pages` lists those that are known.")
    return dict(found)


async def known_name(connection: Any, text: str | None) -> str | None:
    """The domain a person means by a name or a URL; refuses one that is not known, with those it could have been."""
    if text is None:
        return None
    for name in dict.fromkeys((text, canonical_name(text))):
        if await connection.fetchrow(SQL["find_domain"], name):
            return name
    near = [row["name"] for row in await connection.fetch(SQL["names_near"], canonical_name(text))]
    raise NotFoundError(f"There is no domain {text!r}." + suggestion(canonical_name(text), near))


async def check_run_exists(connection: Any, run: int | None) -> None:
    if run is not None and not await connection.fetchrow(SQL["find_run"], run):
        raise NotFoundError(f"There is no run {run}. `forager runs` lists them.")


def canonical_name(text: str) -> str:
    """`www.Example.com` and `https://example.com/x` name the domain `example.com`."""
    try:
        return domain_of(normalize(text if "://" in text else f"http://{text}"))
    except BadUrlError:
        return text.lower()


def suggestion(name: str, near: Sequence[str]) -> str:
    """A sentence with the closest names, or where to find them all."""
    close = difflib.get_close_matches(name, near, n=3, cutoff=0.5)
    if not close:
        return " `forager domains` lists them all."
    return f" Did you mean {' or '.join(close)}?"


def _rows(records: Sequence[Any]) -> list[Row]:
    return [dict(record) for record in records]


def _document(value: Any) -> Any:
    """asyncpg hands JSON over as text unless a codec was set."""
    return json.loads(value) if isinstance(value, str) else value
