"""Compares the `lastmod` values in the sitemaps of a batch with the visits of recurring pages.

Runs after the batch is recorded, in a separate transaction: a value that is lost in a crash is found again the next
time the sitemap is read.
"""

import asyncio
import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from forager.db.database import Database
from forager.db.types import Connection
from forager.domains import store as domains
from forager.engine.domain_queues import DomainQueues
from forager.engine.transaction_retry import in_transaction
from forager.frontier import lastmod
from forager.frontier.models import Outcome
from forager.logs import log
from forager.parsing.dates import parse_lastmod

SITEMAPS = frozenset({"sitemap", "index"})
AT_ONCE = 1000
"""Dates parsed before other work of the event loop has its turn."""
MOST_SENT = 5000
"""Newest dates of a sitemap that are compared with visits; far fewer visits are ever brought forward."""


async def collect_lastmods(
    outcomes: Sequence[Outcome], queues: DomainQueues, page_ids: Mapping[bytes, int]
) -> dict[tuple[int, int], list[tuple[int, datetime]]]:
    """Returns lease → pages and sitemaps of its own domain with their last modification times, the newest ones of each
    sitemap."""
    found: dict[tuple[int, int], list[tuple[int, datetime]]] = defaultdict(list)
    for outcome in outcomes:
        listing = outcome.reading.listing if outcome.reading is not None else None
        queue = queues.get(outcome.target.domain_id)
        if listing is None or listing.format not in SITEMAPS or queue is None:
            continue
        dated: list[tuple[datetime, int]] = []
        for number, link in enumerate(outcome.selection.links):
            if number % AT_ONCE == AT_ONCE - 1:
                await asyncio.sleep(0)
            if link.anchor and link.domain == queue.lease.domain and link.key in page_ids:
                at = parse_lastmod(link.anchor)
                if at is not None:
                    dated.append((at, page_ids[link.key]))
        if dated:
            found[outcome.target.token] += [(page, at) for at, page in heapq.nlargest(MOST_SENT, dated)]
    return found


async def apply_lastmods(
    database: Database, claims: Mapping[tuple[int, int], Sequence[tuple[int, datetime]]], *, worker: int
) -> None:
    """Applies the values one domain after the other, each under its lease."""
    for token, claimed in claims.items():

        async def once(conn: Connection, token: tuple[int, int] = token, claimed: Any = claimed) -> int:
            if token not in await domains.hold_leases(conn, {token}, worker=worker):
                return 0
            made, true = await domains.lastmods_of(conn, token[0])
            return await lastmod.note_claims(conn, token[0], claimed, claims=made, truths=true)

        nearer = await in_transaction(database, once)
        if nearer:
            log().info("sitemap brings visits nearer", action="lastmod.nearer", domain_id=token[0], pages=nearer)


def tested(done: Sequence[Outcome]) -> dict[int, tuple[int, int]]:
    """Returns domain → how many `lastmod` values these visits tested, and how many of them were correct."""
    made, true = Counter[int](), Counter[int]()
    for outcome in done:
        past = outcome.target.past
        if past is not None and past.is_claimed and outcome.is_changed is not None:
            made[outcome.target.domain_id] += 1
            true[outcome.target.domain_id] += outcome.is_changed
    return {domain: (count, true[domain]) for domain, count in sorted(made.items())}
