"""Blocks claims of the domains that a purge works on, and only of them, while a crawl continues.

A block is a cooldown of seconds, renewed with each batch: a worker that holds such a domain finishes what is under way,
records it and releases the domain. One that does not within a few seconds loses its lease by the version. The block of
a killed purge expires by itself.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection

from forager import clock
from forager.db.types import Connection
from forager.domains import admin as domains
from forager.domains.admin import LockedDomain
from forager.domains.service import release_tasks
from forager.errors import NotFoundError
from forager.frontier import cache_namespace

FENCE_S = 30.0
PATIENCE_S = 8.0
"""A worker checks every second, and then finishes its open requests."""
HUSH_S = 10.0
"""How long no request is sent to a site whose lost worker did not report back: one of its requests may still be
open."""
LOOK_EVERY_S = 0.1


@contextlib.asynccontextmanager
async def fenced(conn: Connection, domain_ids: Collection[int]) -> AsyncIterator[None]:
    """Ensures that no worker holds or claims these domains until this ends. Opens its own transactions."""
    before = await domains.block_claims(conn, domain_ids, seconds=FENCE_S)
    try:
        await clear_out(conn, domain_ids)
        yield
    finally:
        await domains.allow_claims(conn, before, seconds=FENCE_S)


async def clear_out(conn: Connection, domain_ids: Collection[int]) -> None:
    """Waits until no worker holds them; a worker that takes too long loses the lease."""
    until = clock.monotonic() + PATIENCE_S
    while holders := await domains.holders(conn, domain_ids):
        if clock.monotonic() > until or all(is_lost for _, is_lost in holders):
            async with conn.transaction():
                for domain in await domains.revoke(conn, domain_ids, hush_s=HUSH_S):
                    await release_tasks(conn, domain)
            return
        await asyncio.sleep(LOOK_EVERY_S)


@contextlib.asynccontextmanager
async def purge_transaction(conn: Connection, name: str) -> AsyncIterator[LockedDomain]:
    """Opens a transaction that may delete pages of a blocked domain: no worker holds it or writes to it meanwhile."""
    while True:
        async with conn.transaction():
            await cache_namespace.own(conn)
            held = await domains.hold(conn, name)
            if held is None:
                raise NotFoundError(f"{name} is gone: somebody else purged it.")
            if held.claimed_by is None:
                await domains.renew_claim_block(conn, held.id, seconds=FENCE_S)
                yield held
                return
        await clear_out(conn, [held.id])
