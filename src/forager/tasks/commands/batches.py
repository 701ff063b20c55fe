"""`forager batches`: lists visits that were submitted together, shows their states, and restarts them."""

from functools import partial
from typing import Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home, Limit
from forager.cli.help import Command, Group
from forager.cli.start import begin, run_action, run_query, whoami
from forager.cli.table import number, wrap_column
from forager.errors import UsageError
from forager.tasks.commands.tasks import AtMost, DryRun, Reason, noted_many, tell_many

SUMMARY = "List batches of visits; visit one again as a whole."
COUNTS = ("pages", "completed", "failed", "cancelled", "open", "paused")


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=Group, rich_markup_mode=None, subcommand_metavar="[VERB]", help=SUMMARY)
    family.callback(invoke_without_command=True)(batches)
    family.command("restart", cls=Command)(restart)
    app.add_typer(family, name="batches", rich_help_panel="Look")


def batches(context: typer.Context, *, limit: Limit = 20, as_json: AsJson = False, home: Home = None) -> None:
    """List batches, newest first, with where their pages stand."""
    if context.invoked_subcommand is not None:
        if as_json or home:
            raise UsageError("Flags of `restart` stand behind it: forager batches restart NAME --json.")
        return None
    from forager.tasks import batches as control

    rows = run_query(begin(home=home), "batches", lambda connection: control.list_batches(connection, limit=limit))
    if as_json:
        return output.write_json_list(rows)
    now = clock.now()
    table.write(
        (number("batch"), wrap_column("name"), *(number(each) for each in COUNTS), "ordered", "by"),
        [
            (
                str(row["id"]),
                words.clean(row["name"]),
                *(words.count(row[each]) for each in COUNTS),
                words.format_relative(row["created_at"], now),
                words.clean(row["created_by"]),
            )
            for row in rows
        ],
    )
    return None if rows else output.say("No batch yet. Try: forager tasks submit -f urls.txt --batch NAME")


def restart(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name or ID of a batch.")],
    *,
    limit: AtMost = 10_000,
    dry_run: DryRun = False,
    reason: Reason = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Visit every page of a batch again that has no open task."""
    from forager.tasks import batches as control
    from forager.tasks.bulk import Many, restart_batch

    async def once(conn: Any) -> Many:
        found = await control.find_batch(conn, name)
        return await restart_batch(conn, found["id"], by=whoami(), reason=reason, limit=limit, dry_run=dry_run)

    tell_many(
        run_action(begin(home=home), "batches", once, noted=partial(noted_many, reason=reason, batch=name)), as_json
    )
