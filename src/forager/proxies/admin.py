"""Operator actions on proxies, one short function per statement of `admin.sql`. Opens no transactions."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from forager.config.cipher import PasswordCipher
from forager.db import statements
from forager.db.query import fetch_one
from forager.db.types import Connection
from forager.proxies.address import ProxyAddress
from forager.proxies.models import Proxy
from forager.proxies.rotation import MOST_FAILURES_TOGETHER

SQL = statements.load("forager.proxies", "admin.sql")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ProxyInfo:
    """Details of a proxy besides its address; None: not given."""

    country: str | None = None
    city: str | None = None
    provider: str | None = None
    monthly_cost: Decimal | None = None
    max_requests_per_hour: int | None = None
    is_forwarding: bool | None = None


async def add_proxy(
    conn: Connection, address: ProxyAddress, facts: ProxyInfo, sealed_password: str | None
) -> tuple[int, bool]:
    """Returns the proxy's id, and whether it is new."""
    row = await fetch_one(
        conn,
        SQL["add_proxy"],
        address.protocol,
        address.host,
        address.port,
        address.username,
        sealed_password,
        facts.is_forwarding,
        facts.country,
        facts.city,
        facts.provider,
        facts.monthly_cost,
        facts.max_requests_per_hour,
    )
    return row["id"], row["is_new"]


async def list_proxies(conn: Connection, *, country: str | None, provider: str | None) -> list[Row]:
    return [dict(row) for row in await conn.fetch(SQL["list_proxies"], country, provider)]


async def list_pool(conn: Connection, domain_id: int) -> list[Row]:
    return [dict(row) for row in await conn.fetch(SQL["list_pool"], domain_id)]


async def find_ids(
    conn: Connection, ids: Sequence[int] | None, *, country: str | None = None, provider: str | None = None
) -> list[int]:
    return [row["id"] for row in await conn.fetch(SQL["find_ids"], ids, country, provider)]


async def only_ones_of(conn: Connection, ids: Sequence[int]) -> list[str]:
    return [row["name"] for row in await conn.fetch(SQL["only_ones_of"], ids)]


async def remove_proxies(conn: Connection, ids: Sequence[int]) -> list[int]:
    return sorted(row["id"] for row in await conn.fetch(SQL["remove_proxies"], ids))


async def assign(conn: Connection, domain_id: int, ids: Sequence[int], *, priority: int | None) -> list[int]:
    """Adds proxies to a domain's pool; returns those that are new in it."""
    rows = await conn.fetch(SQL["assign"], domain_id, ids, priority)
    return sorted(row["proxy_id"] for row in rows if row["is_new"])


async def unassign(conn: Connection, domain_id: int, ids: Sequence[int] | None) -> list[int]:
    return sorted(row["proxy_id"] for row in await conn.fetch(SQL["unassign"], domain_id, ids))


async def move_pools(conn: Connection, domain_id: int, others: Sequence[int]) -> None:
    await conn.execute(SQL["move_pools"], domain_id, others)


async def switch_proxies(conn: Connection, ids: Sequence[int], is_active: bool) -> list[int]:
    return sorted(row["id"] for row in await conn.fetch(SQL["switch_proxies"], ids, is_active))


async def switch_members(conn: Connection, domain_id: int, ids: Sequence[int], is_active: bool) -> list[int]:
    return sorted(row["id"] for row in await conn.fetch(SQL["switch_members"], domain_id, ids, is_active))


async def rotate_secret(conn: Connection, vault: PasswordCipher) -> int:
    """Encrypts all passwords with the first key; returns how many there were."""
    rows = await conn.fetch(SQL["sealed_passwords"])
    sealed = [
        vault.rotate_secret(row["sealed_password"], Proxy(row["id"], row["protocol"], row["host"], row["port"]).name)
        for row in rows
    ]
    await conn.execute(SQL["replace_sealed"], [row["id"] for row in rows], sealed)
    return len(rows)


async def pool_health(conn: Connection, domain_id: int | None) -> list[Row]:
    return [dict(row) for row in await conn.fetch(SQL["pool_health"], domain_id, MOST_FAILURES_TOGETHER)]


async def costs(conn: Connection, *, idle_s: float) -> Row:
    return dict(await fetch_one(conn, SQL["costs"], idle_s))
