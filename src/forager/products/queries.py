"""Read-only queries on products for operators: facts, evidence, prices, changes, parser success rates."""

import json
from datetime import datetime

from forager.db import statements
from forager.db.rows import START, Key, Row, as_dicts
from forager.db.types import Connection
from forager.domains.lookup import known_name
from forager.errors import BadUrlError, NotFoundError, UsageError
from forager.urls.domain import domain_of
from forager.urls.normalize import normalize, url_key

SQL = statements.load("forager.products", "list.sql")
DROP = 0.2
"""A success rate that fell by this much is reported."""
WORTH_A_LOOK = 5
"""Pages attempted; a rate over fewer is not meaningful."""


async def list_seen_products(
    connection: Connection,
    *,
    domain: str | None = None,
    availability: str | None = None,
    brand: str | None = None,
    change: str | None = None,
    has_problems: bool | None = None,
    limit: int | None = None,
) -> list[Row]:
    """Returns products with their last price change, most recently seen first. `change`: `up`, `down` or `any`."""
    name = await known_name(connection, domain)
    rows = await connection.fetch(SQL["products_by_seen"], name, availability, brand, change, has_problems, limit)
    return [dict(row) for row in rows]


async def find_product(connection: Connection, which: str) -> Row:
    """Finds a product by its id or any spelling of its page's URL."""
    number, name, key = _read_name(which)
    found = await connection.fetchrow(SQL["find_product"], number, name, key)
    if found is None:
        raise NotFoundError(f"There is no product {which}. `forager products` lists those that are known.")
    return dict(found) | {name: json.loads(found[name]) for name in ("variants", "evidence", "attributes")}


async def list_prices(connection: Connection, which: str) -> tuple[Row, list[Row]]:
    """Returns the product and its prices, oldest first."""
    product = await find_product(connection, which)
    rows = await connection.fetch(SQL["prices_of"], product["domain_id"], product["id"])
    return product, [dict(row) for row in rows]


async def list_parsers(connection: Connection, *, domain: str | None = None, limit: int | None = None) -> list[Row]:
    """Returns the success rates of parsers, largest drop first."""
    name = await known_name(connection, domain)
    rows = [dict(row) for row in await connection.fetch(SQL["parser_rates"], name, limit)]
    return [row | {"has_dropped": has_dropped(row)} for row in rows]


async def list_without_products(connection: Connection, *, domain: str | None = None, limit: int) -> list[Row]:
    """Returns domains whose pages were parsed without finding a product, those with most pages first."""
    name = await known_name(connection, domain)
    return [dict(row) for row in await connection.fetch(SQL["without_products"], name, limit)]


async def list_dropped(connection: Connection, *, domain: str | None = None, limit: int | None = None) -> list[Row]:
    """Returns parsers that succeed less often than in the week before, largest drop first. Reads only the last days."""
    name = await known_name(connection, domain)
    rows = await connection.fetch(SQL["dropped_parsers"], WORTH_A_LOOK, DROP, name, limit)
    return [dict(row) | {"has_dropped": True} for row in rows]


def has_dropped(row: Row) -> bool:
    """Whether the success rate fell by more than chance explains."""
    rate, before = row["rate"], row["rate_before"]
    return rate is not None and before is not None and row["attempts"] >= WORTH_A_LOOK and before - rate > DROP


def _read_name(which: str) -> tuple[int | None, str | None, bytes | None]:
    if which.isascii() and which.isdigit() and len(which) < 19:
        return int(which), None, None
    try:
        url = normalize(which)
    except BadUrlError as error:
        raise UsageError(str(error)) from None
    return None, domain_of(url), url_key(url)


async def list_products(
    conn: Connection,
    after: Key = (None, None),
    *,
    domain: str | None = None,
    availability: str | None = None,
    brand: str | None = None,
    category: str | None = None,
    currency: str | None = None,
    lowest: float | None = None,
    highest: float | None = None,
    is_valid: bool | None = None,
    limit: int | None = None,
) -> list[Row]:
    """Returns products, most recently found first."""
    name = await known_name(conn, domain)
    filters = (name, availability, brand, category, currency, lowest, highest, is_valid)
    return as_dicts(await conn.fetch(SQL["products_by_created"], *after, *filters, limit))


async def list_changes(
    conn: Connection,
    after: Key = START,
    *,
    domain: str | None = None,
    of: str | None = None,
    since: datetime | None = None,
    limit: int | None = None,
) -> list[Row]:
    """Returns changes of prices and availability, newest first. `of`: only changes of the `price` or the
    `availability`."""
    name = await known_name(conn, domain)
    return as_dicts(await conn.fetch(SQL["changes_by_id"], *after, name, of, since, limit))
