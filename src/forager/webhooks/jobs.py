"""Whoever wants to hear of closed tasks and of alerts is called, until it was heard or a day is over.

A round takes some calls, few to any one URL, and makes them all at once: a receiver that does not answer costs the
others nothing, and other duties some seconds. Killed in the middle, what was taken is called again after two minutes.
"""

from typing import Any

from forager.scheduler.config import SchedulerConfig
from forager.scheduler.text import things
from forager.webhooks import store as webhooks

NAME = "webhooks"
EVERY_S = 5.0
MOST = 64
MOST_PER_URL = 8
AGAIN_AFTER_S = 120.0
MOST_ROUNDS = 20
"""The rest waits for the next time, so that other duties have their turn."""


async def run_once(conn: Any, order: SchedulerConfig) -> str:
    delivered = missed = 0
    for _ in range(MOST_ROUNDS):
        async with conn.transaction():
            due = await webhooks.take_due(conn, most=MOST, most_per_url=MOST_PER_URL, again_after_s=AGAIN_AFTER_S)
        if not due:
            break
        heard = await order.call_webhooks(due)
        async with conn.transaction():
            await webhooks.note(conn, heard)
        delivered += sum(each.error is None for each in heard)
        missed += sum(each.error is not None for each in heard)
        if missed:
            break  # somebody is slow, or away: the others are called next time
    return f"{things(delivered, 'call')} delivered, {missed:,} not taken"
