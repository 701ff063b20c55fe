"""Sends single requests to a site: through its domain's proxies where it has some, and never around them.

A crawl opens its pools with its leases; this client is for commands that make requests without a lease. Their results
count for a proxy's health.
"""

import contextlib
import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

from forager import clock
from forager.config.cipher import PasswordCipher
from forager.config.crawl_settings import DEFAULT_SETTINGS, PROXIES, group_of, resolve
from forager.config.keys import get_cipher
from forager.config.settings import Settings
from forager.db.database import Database, open_database
from forager.db.embedded.paths import Place
from forager.db.types import Connection
from forager.engine.transaction_retry import in_transaction
from forager.errors import ProxyError, VisitError
from forager.fetch.client import Client
from forager.fetch.models import Fetched
from forager.proxies import store
from forager.proxies.models import Proxy
from forager.proxies.pool import PoolRules, ProxyPool
from forager.proxies.registry import ProxyRegistry
from forager.urls.domain import domain_of

PATIENCE_S = 10.0
UNKNOWN = 0
"""The id of a domain that is not in the database; it is requested through the default pool."""


class ProxiedClient:
    def __init__(self, client: Client, database: Database | None, vault: PasswordCipher) -> None:
        """Without a database there are no proxies."""
        self._client = client
        self._database = database
        self._roster = ProxyRegistry(vault)
        self._pools: dict[str, ProxyPool | None] = {}
        self.via: Proxy | None = None
        """The proxy of the last request; None: it went directly."""

    async def get(
        self,
        url: str,
        *,
        read_body: Callable[[str], bool],
        on_sent: Callable[[], None],
        cut_at: int | None = None,
        **how: Any,
    ) -> Fetched:
        """Fetches a URL; `how` is what the client takes besides. Raises ProxyError where the domain has a pool and no
        proxy of it can be used."""
        ask = partial(self._client.get, url, read_body=read_body, cut_at=cut_at, on_sent=on_sent, **how)
        domain = domain_of(url)
        pool = await self._pool_of(domain)
        self.via = None
        if pool is None:
            return await ask()
        return await self._go_through(pool, domain, ask)

    async def _go_through(self, pool: ProxyPool, domain: str, ask: Callable[..., Any]) -> Fetched:
        """Tries one proxy after the other until one works; any response of the site ends the attempts."""
        for _ in range(pool.size):
            via = pool.take(clock.monotonic())
            if via is None:
                break
            self.via = via
            error: VisitError | None = None
            try:
                found: Fetched = await ask(via=via)
            except ProxyError as trouble:
                error = trouble
            except VisitError as trouble:
                error = trouble
                raise
            else:
                return found
            finally:
                pool.record(via, error, at=clock.now())
                await self._write_down(pool)
        spent = pool.wait_s(clock.monotonic())
        why = pool.wait_reason() if spent else pool.exhausted_reason()
        raise ProxyError(f"{domain} is asked through its proxies only, and {why}; see `forager proxies`")

    async def _pool_of(self, domain: str) -> ProxyPool | None:
        if self._database is None:
            return None
        if domain not in self._pools:
            rules, rows, defaults = await in_transaction(
                self._database, partial(_find_pool, domain), give_up_after_s=PATIENCE_S
            )
            pools = self._roster.open_pools(rules, rows, clock.monotonic(), defaults)
            self._pools[domain] = next(iter(pools.values()), None)
        return self._pools[domain]

    async def _write_down(self, pool: ProxyPool) -> None:
        assert self._database is not None
        record = partial(store.count_uses, uses=pool.take_pending())
        await in_transaction(self._database, record, give_up_after_s=PATIENCE_S)


@contextlib.asynccontextmanager
async def open_proxied_client(settings: Settings, client: Client, command: str) -> AsyncIterator[ProxiedClient]:
    """Yields a client. A home that never had a database has no proxies, and no database is created for a single
    request."""
    vault = get_cipher(settings)
    if settings.database.url is None and not Place.of(settings.home).data.exists():
        yield ProxiedClient(client, None, vault)
        return
    async with open_database(settings, size=1, application=f"forager {command}") as database:
        yield ProxiedClient(client, database, vault)


async def _find_pool(
    domain: str, conn: Connection
) -> tuple[dict[int, PoolRules], list[store.PoolRow], list[store.DefaultRow]]:
    route = await store.find_route(conn, domain)
    chosen = {name: value for name, value in json.loads(route.chosen or "{}").items() if group_of(name) == PROXIES}
    rules = PoolRules.of(resolve(DEFAULT_SETTINGS, domain=chosen).settings)
    domain_id = UNKNOWN if route.domain_id is None else route.domain_id
    return {domain_id: rules}, await store.find_pools(conn, [domain_id]), await store.find_defaults(conn)
