"""Operator actions on proxies, one short function per statement of `admin.sql`. Opens no transactions."""

import json
from collections.abc import Mapping, Sequence
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
    is_default: bool | None = None


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
        facts.is_default,
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


async def change_proxies(
    conn: Connection, ids: Sequence[int], changes: Mapping[str, Any], sealed_password: str | None = None
) -> list[int]:
    """Changes the named details; None clears one."""
    named = {name: str(value) if isinstance(value, Decimal) else value for name, value in changes.items()}
    rows = await conn.fetch(SQL["change_proxies"], ids, json.dumps(named), sealed_password)
    return sorted(row["id"] for row in rows)


async def match_domains(
    conn: Connection, patterns: Sequence[str] | None = None, *, profile: str | None = None
) -> dict[str, int]:
    return {row["name"]: row["id"] for row in await conn.fetch(SQL["match_domains"], patterns, profile)}


async def remove_proxies(conn: Connection, ids: Sequence[int]) -> list[int]:
    await conn.execute(SQL["note_emptied"], None, ids)
    return sorted(row["id"] for row in await conn.fetch(SQL["remove_proxies"], ids))


async def assign(
    conn: Connection, domain_ids: Sequence[int], ids: Sequence[int], *, priority: int | None
) -> dict[int, list[int]]:
    """Adds proxies to the pools of domains; returns those that are new, by domain."""
    await conn.execute(SQL["delete_emptied"], domain_ids)
    new: dict[int, list[int]] = {}
    for row in await conn.fetch(SQL["assign"], domain_ids, ids, priority):
        new.setdefault(row["domain_id"], []).append(row["proxy_id"])
    return {domain: sorted(proxies) for domain, proxies in new.items()}


async def unassign(conn: Connection, domain_id: int, ids: Sequence[int] | None) -> list[int]:
    await conn.execute(SQL["note_emptied"], domain_id, ids)
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
