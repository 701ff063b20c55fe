"""Domains leased by workers that died or fell silent become claimable again. The crawl knows how: it is handed in."""

from typing import Any

from forager.scheduler.config import SchedulerConfig
from forager.scheduler.text import things

NAME = "takeover"
EVERY_S = 30.0


async def run_once(conn: Any, order: SchedulerConfig) -> str:
    async with conn.transaction():
        freed = await order.take_over(conn)
    return f"{things(len(freed), 'domain')} taken over"
