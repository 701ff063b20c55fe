"""Pages that were read since the last time become searchable, and find the pages that say nearly the same.

Recording a page pays nothing for its being found. A search does the last few pages itself, so this may come seldom.
"""

from typing import Any

from forager.parsing.keywords import CONFIGS
from forager.scheduler.config import SchedulerConfig
from forager.scheduler.text import things
from forager.search import index

NAME = "index"
EVERY_S = 300.0
MOST_PAGES = 200_000
"""In one round, so that other duties get their turn."""


async def run_once(conn: Any, order: SchedulerConfig) -> str:  # noqa: ARG001
    done = await index.index_many(conn, CONFIGS, most=MOST_PAGES)
    return f"{things(done.changed, 'page')} indexed"
