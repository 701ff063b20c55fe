"""Every night: visits that are old enough leave for cold files, files of images go whose time is over or that nobody
refers to, and the size of everything is written down.

Killed in between, the next night goes on where it was stopped. Bodies have a duty of their own, and so have series.
"""

from typing import Any

from forager.scheduler.config import SchedulerConfig
from forager.stats import storage

NAME = "retain"
EVERY_S = 86_400.0


async def run_once(conn: Any, order: SchedulerConfig) -> str:
    await storage.note_sizes(conn)
    if order.move_old is None:
        return "switched off by the setting archive.schedule"
    told = await order.move_old(conn)
    return f"{told}; {await order.sweep_images(conn)}" if order.sweep_images is not None else told
