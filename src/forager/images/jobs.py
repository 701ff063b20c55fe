"""Images that were found before anybody wanted their files, and are wanted now, get their places in the frontier.

Commands that change what is wanted do it at once; this is for changes by the API, and for what a kill left over.
"""

from typing import Any

from forager.scheduler.config import SchedulerConfig
from forager.scheduler.text import things

NAME = "images"
EVERY_S = 60.0


async def run_once(conn: Any, order: SchedulerConfig) -> str:  # noqa: ARG001
    return f"{things(await order.queue_images(), 'image')} queued that nobody had asked for"
