"""Sessions, one-time links and wrong passwords that are over are cleared out. They were worth nothing before:
nobody looks at one whose time is up.
"""

from typing import Any

from forager.accounts import store
from forager.scheduler.config import SchedulerConfig
from forager.scheduler.text import things

NAME = "sessions"
EVERY_S = 900.0


async def run_once(conn: Any, order: SchedulerConfig) -> str:  # noqa: ARG001
    gone = await store.clear_out(conn)
    tries = things(gone["attempts"], "login try", "login tries")
    return f"{things(gone['sessions'], 'session')}, {things(gone['invites'], 'link')}, {tries} cleared out"
