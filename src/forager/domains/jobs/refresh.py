"""Exhausted domains wake when a revisit is due, or when it is time to visit all they have once more.

A refresh gives every page that was read a task before its domain moves: a kill between leaves the domain exhausted and
its time come, so the next round goes on. Pages that are gone, failed or blocked are left alone. A domain that has
nothing to do rests for another while.
"""

from collections.abc import Sequence
from typing import Any

from forager.domains import cooldown
from forager.domains.cooldown import DueDomain
from forager.domains.portions import portions
from forager.frontier import revisits
from forager.scheduler.config import BY, SchedulerConfig
from forager.scheduler.text import things

NAME = "refresh"
EVERY_S = 60.0
MOST_DOMAINS = 10_000
MOST_PAGES = 200_000
"""Looked at in one round; the rest waits for the next, so that other duties have their turn."""
PORTION_DOMAINS = 500
PORTION_PAGES = 10_000
"""Looked at in one transaction: about a quarter of a second."""


async def run_once(conn: Any, order: SchedulerConfig) -> str:
    woken = given = looked_at = 0
    rested = await cooldown.find_rested(conn, limit=MOST_DOMAINS, refresh_every_s=order.refresh_every_s)
    for portion in portions(rested, most_pages=PORTION_PAGES, most_domains=PORTION_DOMAINS):
        to_refresh = [domain for domain in portion if domain.is_refresh and order.is_refreshed]
        given += await _create_tasks(conn, [domain.id for domain in to_refresh])
        woken += await _wake(conn, portion, to_refresh, order)
        looked_at += sum(domain.pages for domain in to_refresh)
        if looked_at >= MOST_PAGES:
            break
    return f"{things(woken, 'domain')} woken, {things(given, 'page')} to refresh"


async def _create_tasks(conn: Any, domain_ids: Sequence[int]) -> int:
    """A huge domain is alone in its portion, and walked key by key; small ones are done at the first step."""
    given, key = 0, revisits.FIRST_KEY
    while domain_ids:
        count, last = await revisits.refresh_pages(conn, domain_ids, after=key, limit=PORTION_PAGES)
        given += count
        if last is None or len(domain_ids) > 1:
            break
        key = last
    return given


async def _wake(
    conn: Any, portion: Sequence[DueDomain], to_refresh: Sequence[DueDomain], order: SchedulerConfig
) -> int:
    refreshed = {domain.id for domain in to_refresh}
    woken = 0
    for code, ids in (
        ("refresh", sorted(refreshed)),
        ("revisit", [domain.id for domain in portion if domain.id not in refreshed]),
    ):
        async with conn.transaction():
            await cooldown.sign_moves(conn, by=BY, reason_code=code, reason=f"{code} due")
            woken += await cooldown.wake_rested(conn, ids, is_scored=order.is_scored)
    await cooldown.put_off(conn, [domain.id for domain in portion], refresh_every_s=order.refresh_every_s)
    return woken
