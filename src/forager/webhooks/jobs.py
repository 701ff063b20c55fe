"""Calls webhooks about closed tasks and alerts, until the receiver accepts the call or a day is over.

A round takes a limited number of calls, few for any one URL, and makes them concurrently: a receiver that does not
respond does not delay the others, and other jobs only by seconds. After a kill, calls that were taken are repeated
after two minutes.
"""

from forager.plugins import registry
from forager.plugins import store as plugins
from forager.scheduler.job import Job, JobContext
from forager.scheduler.text import things
from forager.webhooks import store as webhooks
from forager.webhooks.delivery import call_webhooks

MOST = 64
MOST_PER_URL = 8
AGAIN_AFTER_S = 120.0
MOST_ROUNDS = 20
"""The remaining calls are made in the next run, so that other jobs can run."""


class WebhooksJob(Job):
    name = "webhooks"
    interval_s = 5.0

    async def run(self, context: JobContext) -> str:
        conn = context.connection
        delivered = missed = 0
        for _ in range(MOST_ROUNDS):
            async with conn.transaction():
                due = await webhooks.take_due(conn, most=MOST, most_per_url=MOST_PER_URL, again_after_s=AGAIN_AFTER_S)
            if not due:
                break
            heard = await call_webhooks(context.settings, due)
            async with conn.transaction():
                await webhooks.note(conn, heard)
                await plugins.add_errors(conn, registry.current().take_errors())
            delivered += sum(each.error is None for each in heard)
            missed += sum(each.error is not None for each in heard)
            if missed:
                break  # a receiver is slow or unavailable: the others are called in the next run
        return f"{things(delivered, 'call')} delivered, {missed:,} not accepted"
