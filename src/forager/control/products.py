"""What an operator may look at of products: facts, evidence, prices, changes, how parsers do. Reads only."""

import json
from typing import Any

from forager.control.look import Row, known_name
from forager.db import statements
from forager.errors import BadUrlError, NotFoundError, UsageError
from forager.urls import domain_of, normalize, url_key

SQL = statements.load("forager.control", "products.sql")
DROP = 0.2
"""A success rate that fell by so much is worth a look."""
WORTH_A_LOOK = 5
"""Pages tried; a rate over fewer says nothing."""


async def list_products(
    connection: Any,
    *,
    domain: str | None = None,
    availability: str | None = None,
    brand: str | None = None,
    change: str | None = None,
    has_problems: bool | None = None,
    limit: int | None = None,
) -> list[Row]:
    """`change`: `up`, `down` or `any`, by the last change of the price."""
    name = await known_name(connection, domain)
    rows = await connection.fetch(SQL["list_products"], name, availability, brand, change, has_problems, limit)
    return [dict(row) for row in rows]


async def find_product(connection: Any, which: str) -> Row:
    """By its number or any spelling of its page's URL."""
    number, name, key = _read_name(which)
    found = await connection.fetchrow(SQL["find_product"], number, name, key)
    if found is None:
        raise NotFoundError(f"There is no product {which}. `forager products` lists those that are known.")
    return dict(found) | {name: json.loads(found[name]) for name in ("variants", "evidence", "attributes")}


async def list_prices(connection: Any, which: str) -> tuple[Row, list[Row]]:
    """The product, and its prices from the oldest on."""
    product = await find_product(connection, which)
    rows = await connection.fetch(SQL["prices_of"], product["domain_id"], product["id"])
    return product, [dict(row) for row in rows]


async def list_changes(
    connection: Any,
    *,
    domain: str | None = None,
    of: str | None = None,
    since_s: float | None = None,
    limit: int | None = None,
) -> list[Row]:
    """`of`: only changes of the `price`, or of the `availability`."""
    name = await known_name(connection, domain)
    return [dict(row) for row in await connection.fetch(SQL["list_changes"], name, of, since_s, limit)]


async def list_parsers(connection: Any, *, domain: str | None = None, limit: int | None = None) -> list[Row]:
    """How well parsers do, the largest drop first."""
    name = await known_name(connection, domain)
    rows = [dict(row) for row in await connection.fetch(SQL["parser_rates"], name, limit)]
    return [row | {"has_dropped": has_dropped(row)} for row in rows]


async def list_without_products(connection: Any, *, domain: str | None = None, limit: int) -> list[Row]:
    """Domains whose pages were read and gave nothing like a product, those with most pages first."""
    name = await known_name(connection, domain)
    return [dict(row) for row in await connection.fetch(SQL["without_products"], name, limit)]


async def list_dropped(connection: Any, *, domain: str | None = None, limit: int | None = None) -> list[Row]:
    """Parsers that read less than in the week before, the largest drop first. Only the last days are looked at."""
    name = await known_name(connection, domain)
    rows = await connection.fetch(SQL["dropped_parsers"], WORTH_A_LOOK, DROP, name, limit)
    return [dict(row) | {"has_dropped": True} for row in rows]


def has_dropped(row: Row) -> bool:
    """Whether a success rate fell by more than chance explains."""
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
