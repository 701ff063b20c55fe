"""Builds what retention needs from Settings: where cold files are, how long visits stay, and the roll-up before."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from forager.control import cold, cold_file
from forager.control.cold import Moved, OnMoved
from forager.frontier.history import Retention
from forager.schedule import rollup
from forager.schedule.order import BY
from forager.schedule.words import things
from forager.settings import Settings

if TYPE_CHECKING:
    from forager.schedule.order import ScheduleOrder


def cold_folder(settings: Settings) -> Path:
    return settings.cold_folder or settings.home / cold_file.FOLDER


def retention_of(settings: Settings) -> Retention:
    return Retention(settings.visit_retention_s, settings.failure_retention_s, settings.page_retention_s)


async def archive(
    conn: Any, settings: Settings, order: "ScheduleOrder", *, by: str, on_moved: OnMoved = lambda _moved: None
) -> Moved:
    """Days are rolled up first: what was not leaves later."""
    await rollup.run_once(conn, order)
    return await cold.move(conn, cold_folder(settings), retention_of(settings), by=by, on_moved=on_moved)


async def move_old(conn: Any, settings: Settings, order: "ScheduleOrder") -> str:
    """The duty: in one line what was done."""
    moved = await archive(conn, settings, order, by=BY)
    finished = f"; {things(moved.finished, 'slice')} of an earlier night finished" if moved.finished else ""
    return f"{things(moved.rows, 'row')} moved to {things(moved.slices, 'cold file')}{finished}"
