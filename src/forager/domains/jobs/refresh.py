"""Wakes exhausted domains when a revisit is due, or when all their pages are to be visited again.

A refresh gives every page that was read a task before its domain moves: after a kill in between the domain is still
exhausted and due, so the next run resumes. Pages that are gone, failed or blocked are skipped. A domain without work
waits for another period.
"""

from collections.abc import Sequence

from forager.config.settings import Settings
from forager.db.types import Connection
from forager.domains import cooldown
from forager.domains.cooldown import DueDomain
from forager.domains.page_batches import batch_by_pages
from forager.frontier import revisit_store as revisits
from forager.scheduler.job import ACTOR, Job, JobContext, Loop
from forager.scheduler.text import things

MOST_DOMAINS = 10_000
MOST_PAGES = 200_000
"""Pages read in one run; the rest is left to the next run, so that other jobs can run."""
PORTION_DOMAINS = 500
PORTION_PAGES = 10_000
"""Pages read in one transaction: about a quarter of a second."""


class RefreshJob(Job):
    name = "refresh"
    interval_s = 60.0
    loop = Loop.SLOW

    async def run(self, context: JobContext) -> str:
        conn, settings = context.connection, context.settings
        woken = given = looked_at = 0
        rested = await cooldown.find_due_exhausted(conn, limit=MOST_DOMAINS, refresh_every_s=settings.refresh.interval)
        for portion in batch_by_pages(rested, most_pages=PORTION_PAGES, most_domains=PORTION_DOMAINS):
            to_refresh = [domain for domain in portion if domain.is_refresh and settings.refresh.enabled]
            given += await _create_tasks(conn, [domain.id for domain in to_refresh])
            woken += await _wake(conn, portion, to_refresh, settings)
            looked_at += sum(domain.pages for domain in to_refresh)
            if looked_at >= MOST_PAGES:
                break
        return f"{things(woken, 'domain')} woken, {things(given, 'page')} to refresh"


async def _create_tasks(conn: Connection, domain_ids: Sequence[int]) -> int:
    """Creates tasks. A huge domain is a batch of its own and is read by key ranges; small ones are complete after
    one step."""
    given, key = 0, revisits.FIRST_KEY
    while domain_ids:
        count, last = await revisits.refresh_pages(conn, domain_ids, after=key, limit=PORTION_PAGES)
        given += count
        if last is None or len(domain_ids) > 1:
            break
        key = last
    return given


async def _wake(
    conn: Connection, portion: Sequence[DueDomain], to_refresh: Sequence[DueDomain], settings: Settings
) -> int:
    refreshed = {domain.id for domain in to_refresh}
    woken = 0
    for code, ids in (
        ("refresh", sorted(refreshed)),
        ("revisit", [domain.id for domain in portion if domain.id not in refreshed]),
    ):
        async with conn.transaction():
            await cooldown.sign_moves(conn, by=ACTOR, reason_code=code, reason=f"{code} due")
            woken += await cooldown.wake_exhausted(conn, ids, is_scored=settings.crawl.domain_order == "smart")
    await cooldown.put_off(conn, [domain.id for domain in portion], refresh_every_s=settings.refresh.interval)
    return woken
