"""`forager schedule`: the periodic jobs, and running them. A crawl runs them too while it lasts."""

import signal
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command, Group
from forager.cli.start import Noted, begin, note, run_query
from forager.cli.table import Cell, number, text_column
from forager.errors import UsageError

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.scheduler.scheduler import JobRun

Row = dict[str, Any]
Names = Annotated[list[str] | None, typer.Argument(metavar="JOB", help="Only these jobs; all by default.")]
Once = Annotated[bool, typer.Option("--once", help="Run what is due, or the named jobs now; then exit.")]


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=Group, rich_markup_mode=None, help="Show the periodic jobs, or run them.")
    family.callback(invoke_without_command=True)(schedule)
    family.command("run", cls=Command)(run)
    app.add_typer(family, name="schedule", rich_help_panel="Look after it")


def schedule(context: typer.Context, as_json: AsJson = False, home: Home = None) -> None:
    """Show the periodic jobs, or run them."""
    if context.invoked_subcommand is not None:
        if as_json or home:
            raise UsageError("Flags of `run` come after it: forager schedule run --home FOLDER.")
        return
    rows = read(begin(home=home))
    if as_json:
        output.write_json_list(rows)
        return
    now = clock.now()
    table.write(
        ("job", number("every"), "last run", number("took"), text_column("result"), "next"),
        [
            (
                row["name"],
                words.duration(row["every_s"]),
                words.format_relative(row["started_at"], now),
                "–" if row["took_s"] is None else words.duration(row["took_s"]),
                _result(row),
                words.format_relative(row["next_at"], now) if row["next_at"] and row["next_at"] > now else "due",
            )
            for row in rows
        ],
    )
    if all(row["started_at"] is None for row in rows):
        output.say("No scheduler has run yet: a crawl runs one, and so does `forager schedule run`.")


def read(settings: "Settings") -> list[Row]:
    """Returns every job, also those that never ran."""
    from forager.runtime.schedule import all_jobs, enabled_jobs
    from forager.scheduler.store import list_jobs, with_unregistered

    names = {job.name for job in all_jobs()}
    rows = [row for row in run_query(settings, "schedule", list_jobs) if row["name"] in names]
    return with_unregistered(rows, enabled_jobs(settings))


def run(names: Names = None, once: Once = False, home: Home = None) -> None:
    """Run jobs when they are due, until Ctrl-C, or once."""
    import asyncio

    settings = begin(home=home)
    from forager.runtime.schedule import find_jobs

    find_jobs(names or [])
    if not once:
        return asyncio.run(_run_scheduler(settings, names or []))
    runs = asyncio.run(_run_once(settings, names or []))
    _write(runs, names or [])
    if any(run.error for run in runs):
        raise typer.Exit(1)
    return None


async def _run_scheduler(settings: "Settings", names: list[str]) -> None:
    import asyncio

    from forager.engine.stop import StopRequest
    from forager.instance import open_forager
    from forager.runtime.crawl import SCHEDULER_CONNECTIONS
    from forager.runtime.schedule import run_scheduler

    stop = StopRequest()
    loop = asyncio.get_running_loop()
    for number_of_signal in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number_of_signal, stop.ask)
    async with open_forager(settings, application="forager schedule", connections=SCHEDULER_CONNECTIONS) as forager:
        output.say(f"Running the jobs of {forager.database.description}; Ctrl-C stops it.")
        await run_scheduler(forager, stop, names)


async def _run_once(settings: "Settings", names: list[str]) -> list["JobRun"]:
    from forager.instance import open_forager
    from forager.runtime.schedule import run_jobs_once

    async with open_forager(settings, application="forager schedule") as forager:
        runs = await run_jobs_once(forager, names)
        for run in runs if names else ():  # jobs that were due would have run anyway
            details = {"result": run.result, "error": run.error}
            await note(forager.database, Noted("schedule.run", "job", run.name, details))
        return runs


def _write(runs: list["JobRun"], names: list[str]) -> None:
    for name in sorted(set(names) - {run.name for run in runs}):
        output.say(f"Another scheduler is running {name} now.")
    if runs:
        rows = [(run.name, words.duration(run.took_s), words.clean(run.result or run.error)) for run in runs]
        table.write(("job", number("took"), text_column("result")), rows)
    elif not names:
        output.say("Nothing is due. `forager schedule` shows when; a job that is named runs now.")
    sys.stdout.flush()


def _result(row: Row) -> Cell:
    return Cell(words.clean(row["error"]), "red") if row["error"] else Cell(words.clean(row["result"]) or "–")
