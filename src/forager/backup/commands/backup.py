"""`forager backup`, `backups`, `restore`: the whole instance saved in one command, and brought back in one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command
from forager.cli.start import Noted, begin, note
from forager.cli.table import Cell, number, text_column

if TYPE_CHECKING:
    from forager.backup.archive import Backup
    from forager.config.settings import Settings

DAMAGED = 1
BUCKET = "s3://"
Target = Annotated[
    str | None,
    typer.Argument(
        metavar="FOLDER",
        help="Destination, also s3://bucket/folder; by default a folder with the date in the backup folder.",
    ),
]
Where = Annotated[
    str | None,
    typer.Argument(
        metavar="FOLDER", help="Folder of the backups, also s3://bucket/folder; by default from the settings."
    ),
]
Copy = Annotated[bool, typer.Option("--copy", help="Copy stored files instead of hard-linking them.")]
Verify = Annotated[bool, typer.Option("--verify", help="Read each completely.")]


def register(app: typer.Typer) -> None:
    app.command("backup", cls=Command, rich_help_panel="Look after it")(back_up)
    app.command("backups", cls=Command, rich_help_panel="Look after it")(backups)


def back_up(target: Target = None, copy: Copy = False, as_json: AsJson = False, home: Home = None) -> None:
    """Back up the whole instance, also while a crawl runs."""
    import asyncio

    made, told = asyncio.run(_back_up(begin(home=home), target, may_link=not copy))
    if as_json:
        output.write_json(as_row(made))
        return
    output.console().print(made.where, soft_wrap=True)
    what = f"{words.things(made.tables, 'table')} ({words.size(made.database_bytes)} packed)"
    files = f"{words.things(made.file_count, 'file')} ({words.size(made.file_bytes)})"
    output.say(f"Saved and verified: {what}, {files}. `forager restore` restores it into an empty folder.")
    if told:
        output.say(told)


async def _back_up(settings: "Settings", target: str | None, *, may_link: bool) -> tuple["Backup", str]:
    from forager.backup.service import APPLICATION, back_up_to_bucket
    from forager.backup.service import back_up as make
    from forager.db.database import open_database

    async with open_database(settings, size=1, application=APPLICATION) as database:
        if target is not None and target.startswith(BUCKET):
            made, sent = await back_up_to_bucket(settings, database.dsn, target)
            await note(database, _noted(made))
            return made, f"{words.things(sent, 'file')} sent that the bucket did not have yet."
        path = None if target is None else Path(target)
        made, gone = await make(settings, database.dsn, path, may_link=may_link)
        await note(database, _noted(made))
        return made, f"{words.things(len(gone), 'old backup')} removed." if gone else ""


def _noted(made: "Backup") -> Noted:
    return Noted("backup.make", "backup", made.where, {"tables": made.tables, "files": made.file_count})


def backups(where: Where = None, verify: Verify = False, as_json: AsJson = False, home: Home = None) -> None:
    """List the backups in the backup folder and in the backup bucket."""
    import asyncio

    from forager.backup.service import backup_folder, find_backups, look_at

    settings = begin(home=home)
    places = [where] if where else [str(backup_folder(settings)), *filter(None, [settings.backup.bucket])]
    found = [each for place in places for each in find_backups(settings, place)]
    troubles = [asyncio.run(look_at(settings, each)) if verify else [] for each in found]
    if as_json:
        rows = [as_row(each) | ({"troubles": bad} if verify else {}) for each, bad in zip(found, troubles, strict=True)]
        output.write_json_list(rows)
    elif found:
        _show(found, troubles, verify=verify)
    else:
        output.say(f"There is no backup in {' or '.join(places)}. `forager backup` creates one.")
    if any(troubles):
        raise typer.Exit(DAMAGED)


def _show(found: list["Backup"], troubles: list[list[str]], *, verify: bool) -> None:
    now = clock.now()
    rows: list[table.Row] = [
        (
            each.path.name,
            words.format_relative(each.made_at, now),
            words.size(each.database_bytes),
            words.count(each.file_count),
            words.size(each.file_bytes),
            *([Cell("; ".join(bad), "red") if bad else Cell("sound")] if verify else []),
        )
        for each, bad in zip(found, troubles, strict=True)
    ]
    state = [text_column("state")] if verify else []
    table.write(("backup", "made", number("database"), number("files"), number("in files"), *state), rows)
    output.say(f"In {' and '.join(dict.fromkeys(each.where.rpartition('/')[0] for each in found))}.")


def as_row(made: "Backup") -> dict[str, object]:
    return {
        "path": made.where,
        "made_at": made.made_at,
        "forager": made.forager,
        "schema_revision": made.revision,
        "server_major": made.server_major,
        "tables": made.tables,
        "database_bytes": made.database_bytes,
        "file_count": made.file_count,
        "file_bytes": made.file_bytes,
    }
