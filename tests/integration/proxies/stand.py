"""Proxies and pools in a database, for tests that are about their rows."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.ground import Ground

from forager.proxies import store
from forager.proxies.models import ProxyResult, ProxyUse
from forager.proxies.store import ProxyStateRow

AT = datetime(2026, 1, 1, tzinfo=UTC)
THROUGH, NOT_THROUGH, BROKEN = ProxyResult.THROUGH, ProxyResult.NOT_THROUGH, ProxyResult.BROKEN


class Stand:
    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.conn = ground.conn
        self._moment = AT

    async def a_proxy(self, number: int = 1, **columns: Any) -> int:
        identity: int = await self.conn.fetchval(
            "INSERT INTO proxies (host, port) VALUES ($1, 3128) RETURNING id", f"10.0.0.{number}"
        )
        await self._set("proxies", "id = $1", [identity], columns)
        return identity

    async def a_pool(self, domain: int, *proxies: int, **columns: Any) -> None:
        for proxy in proxies:
            await self.conn.execute("INSERT INTO domain_proxies (domain_id, proxy_id) VALUES ($1, $2)", domain, proxy)
            await self._set("domain_proxies", "domain_id = $1 AND proxy_id = $2", [domain, proxy], columns)

    async def use(
        self, domain: int, proxy: int, *passages: ProxyResult, ms: int | None = None, error: str = "it broke"
    ) -> list[ProxyStateRow]:
        """In one batch, a second apart."""
        uses = []
        for passage in passages:
            self._moment += timedelta(seconds=1)
            is_good = passage is THROUGH
            uses.append(
                ProxyUse(domain, proxy, self._moment, passage, ms if is_good else None, None if is_good else error)
            )
        return await store.count_uses(self.conn, uses)

    async def proxy(self, identity: int) -> Any:
        return await self.conn.fetchrow("SELECT * FROM proxies WHERE id = $1", identity)

    async def pair(self, domain: int, proxy: int) -> Any:
        return await self.conn.fetchrow(
            "SELECT * FROM domain_proxies WHERE domain_id = $1 AND proxy_id = $2", domain, proxy
        )

    async def _set(self, table: str, where: str, key: list[int], columns: dict[str, Any]) -> None:
        for column, value in columns.items():
            place = f"${len(key) + 1}"
            await self.conn.execute(f"UPDATE {table} SET {column} = {place} WHERE {where}", *key, value)


@pytest.fixture
async def stand(ground: Ground) -> Stand:
    await ground.conn.execute("DELETE FROM proxies")
    return Stand(ground)
