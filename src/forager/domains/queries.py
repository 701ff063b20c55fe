"""Reads domains for commands and routes: lists, one domain in full, its history."""

from collections.abc import Sequence

from forager.config.crawl_layers import defaults_of
from forager.config.crawl_settings import show_settings
from forager.config.keys import get_cipher
from forager.config.settings import Settings
from forager.db import statements
from forager.db.query import fetch_one
from forager.db.rows import START, Key, Row, as_dicts
from forager.db.types import Connection
from forager.domains.lookup import canonical_name, known_name
from forager.domains.score_terms import explain_terms
from forager.domains.settings import Layers, read_future_layers, read_layers
from forager.errors import NotFoundError

SQL = statements.load("forager.domains", "list.sql")
NOT_SHOWN = {"idle_since", "asked_at"}


async def top_domains(
    connection: Connection,
    *,
    by: str = "yield",
    status: str | None = None,
    is_active: bool | None = None,
    parent: str | None = None,
    run: int | None = None,
    part: str | None = None,
    breaker: str | None = None,
    source: str | None = None,
    parser: str | None = None,
    label: str | None = None,
    limit: int | None = None,
) -> list[Row]:
    """Returns the top domains by `yield`, `score`, `pages`, `errors` or `change` among those that match the filters."""
    filters = (status, is_active, parent, run, part, breaker, source, parser, label)
    return as_dicts(await connection.fetch(SQL["top_domains"], by, limit, *filters))


async def group_domains(connection: Connection, *, by: str, limit: int | None = None) -> list[Row]:
    """Returns domains added up by `parent`, `status`, `source` or `parser`."""
    return as_dicts(await connection.fetch(SQL["domain_groups"], by, limit))


async def best_scores(connection: Connection, *, limit: int) -> list[Row]:
    """Returns the domains with the highest scores, each with the terms of its score."""
    return [
        {
            "domain": row["name"],
            "priority_score": row["priority_score"],
            "score_explained": [term._asdict() for term in explain_terms(dict(row), row["asked_at"])],
        }
        for row in await connection.fetch(SQL["best_scores"], limit)
    ]


async def count_waiting_images(connection: Connection, names: Sequence[str]) -> dict[str, int]:
    """Returns the number of images waiting for their first visit, by domain; domains without any are left out."""
    return {row["name"]: row["images"] for row in await connection.fetch(SQL["images_waiting"], names)}


async def describe_domain(connection: Connection, name: str, *, moves: int | None = 5) -> Row:
    """Returns everything about one domain: its row, pages by status, visits by outcome, robots.txt, latest history."""
    found = dict(await fetch_one(connection, SQL["find_domain"], await known_name(connection, name)))
    identity = found["id"]
    terms = explain_terms(found, found["asked_at"])
    states = await connection.fetch(SQL["page_states_of_domain"], identity)
    return {
        **{column: value for column, value in found.items() if column not in NOT_SHOWN and column[:6] != "score_"},
        "score_terms": {term.name: term.points for term in terms},
        "score_explained": [term._asdict() for term in terms],
        "page_states": {row["status"]: row["pages"] for row in states},
        "changes": {what: sum(row[what] for row in states) for what in ("comparisons", "changes")},
        "revisits": dict(await fetch_one(connection, SQL["revisits_of_domain"], identity)),
        "outcomes": as_dicts(await connection.fetch(SQL["outcomes_of_domain"], identity)),
        "origins": as_dicts(await connection.fetch(SQL["origins_of_domain"], identity)),
        "history": [without_id(move) for move in await list_moves(connection, found["name"], limit=moves)],
    }


async def list_domains(
    conn: Connection,
    after: Key = START,
    *,
    by_name: bool = False,
    status: str | None = None,
    is_active: bool | None = None,
    parent: str | None = None,
    run: int | None = None,
    part: str | None = None,
    breaker: str | None = None,
    source: str | None = None,
    parser: str | None = None,
    label: str | None = None,
    limit: int | None = None,
) -> list[Row]:
    """Returns domains by id or by name; `after` is the id or the name of the last one returned."""
    statement = SQL["domains_by_name" if by_name else "domains_by_id"]
    filters = (status, is_active, parent, run, part, breaker, source, parser, label)
    return as_dicts(await conn.fetch(statement, *after, *filters, limit))


async def name_of_domain(conn: Connection, domain_id: int) -> str:
    name: str | None = await conn.fetchval(SQL["name_of_domain"], domain_id)
    if name is None:
        raise NotFoundError(f"There is no domain {domain_id}.")
    return name


async def list_moves(conn: Connection, name: str, after: Key = START, *, limit: int | None = None) -> list[Row]:
    """Returns the history of one domain, newest first."""
    return as_dicts(await conn.fetch(SQL["moves_of_domain"], *after, await known_name(conn, name), limit))


def without_id(row: Row) -> Row:
    return {column: value for column, value in row.items() if column != "id"}


async def list_days(conn: Connection, name: str, after: Key = START, *, limit: int | None = None) -> list[Row]:
    return as_dicts(await conn.fetch(SQL["days_of_domain"], *after, await known_name(conn, name), limit))


async def list_robots(conn: Connection, name: str) -> list[Row]:
    return as_dicts(await conn.fetch(SQL["robots_of_domain"], await known_name(conn, name)))


async def effective_settings(connection: Connection, name: str, settings: Settings) -> Row:
    """Returns every crawl setting that is in force for a domain, each with its origin; secrets are hidden. A domain
    that is not known yet has those of the profile that names it."""
    layers = await _read_layers(connection, name, settings)
    shown = show_settings(layers.resolve(defaults_of(settings)))
    return {"name": layers.name, "profile": layers.profile, "settings": shown}


async def _read_layers(connection: Connection, name: str, settings: Settings) -> Layers:
    cipher = get_cipher(settings)
    try:
        known = await known_name(connection, name)
    except NotFoundError:
        if layers := await read_future_layers(connection, canonical_name(name), cipher):
            return layers
        raise
    assert known is not None
    return await read_layers(connection, known, cipher)


async def find_names(
    connection: Connection, *, source: str | None = None, parent: str | None = None, status: str | None = None
) -> list[str]:
    """Returns the names of domains that match all given filters, in name order."""
    return [row["name"] for row in await connection.fetch(SQL["find_names"], source, parent, status)]
