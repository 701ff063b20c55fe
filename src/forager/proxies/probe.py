"""Probes proxies: connects to each under the address rule for proxies and, where a domain uses it, to that site
through it."""

import asyncio
from collections.abc import Sequence

from forager.config.cipher import PasswordCipher
from forager.config.keys import get_cipher
from forager.config.settings import Settings
from forager.errors import ConfigurationError, ProxyError, VisitError
from forager.fetch.client import Client, open_client
from forager.politeness.guard import AddressGuard
from forager.politeness.proxy_rule import proxy_rule
from forager.proxies.models import Proxy
from forager.proxies.store import ProbeResult, ProbeRow

MOST_AT_ONCE = 32


async def probe(settings: Settings, rows: Sequence[ProbeRow]) -> list[ProbeResult]:
    """Returns the error of each proxy, or None. Never raises for errors of a proxy."""
    guard = AddressGuard(
        settings.fetch.allow_networks, settings.fetch.allow_ports, is_anonymous=settings.contact is None
    )
    vault, slots = get_cipher(settings), asyncio.Semaphore(MOST_AT_ONCE)
    async with open_client(
        user_agent=settings.agent_header,
        check_address=guard.check_ip,
        check_proxy=proxy_rule(settings.fetch.allow_networks),
        timeout_s=settings.fetch.timeout,
        connect_timeout_s=settings.fetch.connect_timeout,
        max_bytes=1,
    ) as client:

        async def one(row: ProbeRow) -> ProbeResult:
            async with slots:
                return ProbeResult(row, await _find_error(client, vault, row))

        return await asyncio.gather(*map(one, rows))


async def _find_error(client: Client, vault: PasswordCipher, row: ProbeRow) -> str | None:
    try:
        await _probe_proxy(client, row.proxy.open(vault), row)
    except (VisitError, ConfigurationError) as error:
        return str(error)
    return None


async def _probe_proxy(client: Client, proxy: Proxy, row: ProbeRow) -> None:
    try:
        await client.check_proxy(proxy, row.url)
    except ProxyError:
        raise
    except VisitError:
        if row.domain_id is not None:
            raise
        await client.check_proxy(proxy)  # the site is at fault, which does not concern the proxy
