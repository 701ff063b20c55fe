"""`forager restore`: a backup becomes an instance in an empty folder, and its promises are checked at once."""

from pathlib import Path
from typing import Annotated

import typer

from forager.backup.commands.backup import BUCKET
from forager.cli import format as words
from forager.cli import output
from forager.cli.flags import AsJson
from forager.cli.help import Command
from forager.cli.start import begin, whoami
from forager.errors import UsageError
from forager.explain.commands.check import BROKEN, write_check_results

Source = Annotated[
    str | None,
    typer.Argument(
        metavar="BACKUP",
        help="The folder that `forager backup` created, or its s3:// address; with --drill by default the newest.",
        show_default=False,
    ),
]
Into = Annotated[
    Path | None,
    typer.Option(
        "--into",
        "--home",
        metavar="FOLDER",
        help="An empty data folder, or one that does not exist yet; with --drill the one whose backup is tried.",
    ),
]
Drill = Annotated[
    bool, typer.Option("--drill", help="Restore into a temporary folder, check and compare the copy, and remove it.")
]


NEW_KEY = (
    "Webhooks will be signed with another key than the original's: set its secret_key, or copy its webhook.key into "
    "{home}, before anything is sent; else give receivers the new key (`forager webhooks key`)."
)


def register(app: typer.Typer) -> None:
    app.command("restore", cls=Command, rich_help_panel="Look after it")(restore)


def restore(source: Source = None, into: Into = None, drill: Drill = False, as_json: AsJson = False) -> None:
    """Restore a backup into an empty folder, and check it."""
    import asyncio

    from forager.backup.commands.drill import run_drill
    from forager.backup.service import restore as bring_back

    settings = begin(home=into)
    place = source if source is None or source.startswith(BUCKET) else Path(source).expanduser().absolute()
    if drill:
        return run_drill(settings, place, as_json=as_json)
    if place is None:
        raise UsageError("Which backup? `forager backups` lists them; `forager restore --drill` takes the newest.")
    restored = asyncio.run(bring_back(settings, place, by=whoami()))
    broken = [verdict for verdict in restored.verdicts if verdict.broken]
    if as_json:
        output.write_json(
            {
                "home": str(settings.home),
                "freed": restored.freed,
                "is_clean": not broken,
                "has_new_key": restored.has_new_key,
            }
        )
    else:
        write_check_results(restored.verdicts)
    made = restored.backup
    what = f"{words.things(made.tables, 'table')} and {words.things(made.file_count, 'file')}"
    freed = f"{words.things(restored.freed, 'domain')} freed of their workers"
    output.say(f"Restored into {settings.home}: {what}, as of {made.made_at:%Y-%m-%d %H:%M} UTC; {freed}.")
    output.say(f"Its settings are in {made.where}/forager.toml; secrets are not, and have to be set again.")
    if restored.has_new_key:
        output.say(NEW_KEY.format(home=settings.home))
    if broken:
        raise typer.Exit(BROKEN)
    return None
