"""Every night a backup of the whole instance; those that are too old go once the new one is whole."""

from typing import Any

from forager.scheduler.config import SchedulerConfig

NAME = "backup"
EVERY_S = 86_400.0


async def run_once(conn: Any, order: SchedulerConfig) -> str:  # noqa: ARG001
    if order.back_up is None:
        return "switched off by the setting backup.schedule"
    return await order.back_up()
