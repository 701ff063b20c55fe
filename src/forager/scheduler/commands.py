"""`forager schedule`: the timetable of periodic duties, and keeping it. A crawl keeps it too, as long as it runs."""

import signal
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command, Group
from forager.cli.start import Noted, ask, begin, note
from forager.cli.table import Cell, number, prose
from forager.errors import UsageError

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.scheduler.scheduler import Done

Row = dict[str, Any]
Names = Annotated[list[str] | None, typer.Argument(metavar="DUTY", help="Only these; all without.")]
Once = Annotated[bool, typer.Option("--once", help="What is due, or the named ones at once; then end.")]


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=Group, rich_markup_mode=None, help="Show the timetable of duties, or keep it.")
    family.callback(invoke_without_command=True)(schedule)
    family.command("run", cls=Command)(run)
    app.add_typer(family, name="schedule", rich_help_panel="Look after it")


def schedule(context: typer.Context, as_json: AsJson = False, home: Home = None) -> None:
    """Show the timetable of duties, or keep it."""
    if context.invoked_subcommand is not None:
        if as_json or home:
            raise UsageError("Flags of `run` stand behind it: forager schedule run --home FOLDER.")
        return
    rows = read(begin(home=home))
    if as_json:
        output.write_json_list(rows)
        return
    now = clock.now()
    table.write(
        ("duty", number("every"), "last run", number("took"), prose("result"), "next"),
        [
            (
                row["name"],
                words.duration(row["every_s"]),
                words.age(row["started_at"], now),
                "–" if row["took_s"] is None else words.duration(row["took_s"]),
                _result(row),
                words.age(row["next_at"], now) if row["next_at"] and row["next_at"] > now else "due",
            )
            for row in rows
        ],
    )
    if all(row["started_at"] is None for row in rows):
        output.say("Nobody has kept it yet: a crawl does, and so does `forager schedule run`.")


def read(settings: "Settings") -> list[Row]:
    """Every duty, also those that were never done."""
    from forager.runtime.schedule import DUTIES, is_kept
    from forager.scheduler.scheduler import read_duties

    found = {row["name"]: row for row in ask(settings, "schedule", read_duties)}
    unknown = dict.fromkeys(("started_at", "ended_at", "took_s", "result", "error", "next_at")) | {"times": 0}
    return [
        found.get(name, {"name": name, "every_s": duty.EVERY_S, **unknown})
        for name, duty in sorted(DUTIES.items())
        if name in found or is_kept(name, settings)
    ]


def run(names: Names = None, once: Once = False, home: Home = None) -> None:
    """Keep the timetable until Ctrl-C, or do once what is due."""
    import asyncio

    settings = begin(home=home)
    from forager.runtime.schedule import find_jobs

    find_jobs(names or [])
    if not once:
        return asyncio.run(_keep_time(settings, names or []))
    done = asyncio.run(_do_once(settings, names or []))
    _write(done, names or [])
    if any(each.error for each in done):
        raise typer.Exit(1)
    return None


async def _keep_time(settings: "Settings", names: list[str]) -> None:
    import asyncio

    from forager.engine.stop import StopRequest
    from forager.instance import open_forager
    from forager.runtime.crawl import FOR_DUTIES
    from forager.runtime.schedule import keep_time

    stop = StopRequest()
    loop = asyncio.get_running_loop()
    for number_of_signal in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number_of_signal, stop.ask)
    async with open_forager(settings, application="forager schedule", connections=FOR_DUTIES) as forager:
        output.say(f"Keeping the timetable in {forager.database.description}; Ctrl-C ends it.")
        await keep_time(forager, stop, names)


async def _do_once(settings: "Settings", names: list[str]) -> list["Done"]:
    from forager.instance import open_forager
    from forager.runtime.schedule import do_once

    async with open_forager(settings, application="forager schedule") as forager:
        done = await do_once(forager, names)
        for each in done if names else ():  # what was due would have been done anyway
            told = {"result": each.result, "error": each.error}
            await note(forager.database, Noted("schedule.run", "duty", each.name, told))
        return done


def _write(done: list["Done"], names: list[str]) -> None:
    for name in sorted(set(names) - {each.name for each in done}):
        output.say(f"{name} is being done by another scheduler right now.")
    if done:
        rows = [(each.name, words.duration(each.took_s), words.clean(each.result or each.error)) for each in done]
        table.write(("duty", number("took"), prose("result")), rows)
    elif not names:
        output.say("Nothing is due; `forager schedule` says when, and a duty that is named is done at once.")
    sys.stdout.flush()


def _result(row: Row) -> Cell:
    return Cell(words.clean(row["error"]), "red") if row["error"] else Cell(words.clean(row["result"]) or "–")
